/**
 * The only way from a sandbox to the network: a proxy on a Unix socket that connects to the declared hosts, if the
 * address guard allows them, and never to this machine. It resolves names itself, once, and checks the peer again;
 * addresses from the sandbox are not trusted.
 */

import { chown, mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http'
import { connect, type LookupFunction, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Duplex } from 'node:stream'
import { HostError } from '../../../errors.ts'
import { matchesHost } from '../../../schema/host-pattern.ts'
import { type AddressGuard, createAddressGuard, hostOf } from '../../http/guard/address-guard.ts'
import type { GuardOptions } from '../../http/guard/guarded-fetch.ts'
import { openTunnel, type ProxyServer, readProxy } from '../../http/guard/proxy.ts'
import { createLocalAddressGuard, type LocalAddressGuard } from './local-addresses.ts'

export interface Egress {
  /** Folder with the socket, to be mounted into the sandbox. */
  dir: string
  close(): Promise<void>
}

export interface EgressOptions {
  hosts: readonly string[]
  guard: GuardOptions
  /** Owner of the socket, if it is another user. */
  uid: number | undefined
}

const CONNECT_TIMEOUT_MS = 10_000
const MAX_CONNECTIONS = 128
const IDLE_MS = 300_000
/** Hop-by-hop headers, which are not forwarded. */
const HOP_HEADERS = new Set(['connection', 'keep-alive', 'proxy-authorization', 'proxy-connection', 'te', 'upgrade'])

export async function openEgress({ hosts, guard, uid }: EgressOptions): Promise<Egress> {
  const dir = await mkdtemp(join(tmpdir(), EGRESS_PREFIX))
  const dial = createDial(guard, (host, port) => matchesHost(hosts, { host, port }))
  const open = new Set<Duplex>()
  const server = createServer((request, response) => void forward(request, response, dial))
  server.maxConnections = MAX_CONNECTIONS
  server.on('connection', (socket) => {
    open.add(socket)
    socket.once('close', () => open.delete(socket))
  })
  server.on('connect', (request, near: Duplex, head: Buffer) => void tunnel(request, { near, head, dial }))
  try {
    const path = join(dir, SOCKET)
    await new Promise<void>((resolve, reject) => server.once('error', reject).listen(path, resolve))
    server.unref()
    if (uid !== undefined) for (const owned of [path, dir]) await chown(owned, uid, uid)
  } catch (error) {
    await rm(dir, { recursive: true, force: true })
    throw error
  }
  return {
    dir,
    async close() {
      server.close()
      for (const socket of open) socket.destroy()
      await rm(dir, { recursive: true, force: true })
    },
  }
}

type Dial = (host: string, port: number) => Promise<Socket>

function createDial(options: GuardOptions, isDeclared: (host: string, port: number) => boolean): Dial {
  const guard = createAddressGuard(options)
  const local = createLocalAddressGuard(options)
  const proxy = options.proxy && readProxy(options.proxy)
  const timeoutMs = options.connectTimeoutMs ?? CONNECT_TIMEOUT_MS
  return async (host, port) => {
    const url = URL.parse(`http://${host.includes(':') ? `[${host}]` : host}:${port}`)
    const name = url ? hostOf(url) : ''
    if (!url || !isDeclared(name, port))
      throw new HostError('address-blocked', { detail: `${name}:${port} is not among the \`hosts\` of the toolkit.` })
    guard.checkUrl(url)
    local.checkHost(name)
    if (proxy?.serves(url)) return throughProxy(proxy, { host: name, port, timeoutMs })
    return connected({ guard, local }, { host: name, port, timeoutMs })
  }
}

interface Peer {
  host: string
  port: number
  timeoutMs: number
}

const throughProxy = (proxy: ProxyServer, peer: Peer) => openTunnel(proxy, { ...peer, tls: {} })

interface AddressGuards {
  guard: AddressGuard
  local: LocalAddressGuard
}

/** Applies both guards to resolved addresses. */
function guardedLookup({ guard, local }: AddressGuards): LookupFunction {
  return (hostname, options, callback) =>
    guard.lookup(hostname, options, (error, found, family) => {
      if (error) return callback(error, found, family)
      try {
        for (const address of typeof found === 'string' ? [found] : found.map(({ address }) => address))
          local.checkAddress(address, hostname)
      } catch (refused) {
        return callback(refused as Error, [])
      }
      callback(null, found, family)
    })
}

function connected({ guard, local }: AddressGuards, { host, port, timeoutMs }: Peer): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, lookup: guardedLookup({ guard, local }) })
    const timer = setTimeout(() => socket.destroy(new HostError('server-timeout')), timeoutMs)
    socket.once('error', reject)
    socket.once('close', () => clearTimeout(timer))
    socket.once('connect', () => {
      clearTimeout(timer)
      try {
        guard.checkAddress(socket.remoteAddress ?? '', host)
        local.checkAddress(socket.remoteAddress ?? '', host)
        resolve(socket)
      } catch (error) {
        socket.destroy()
        reject(error)
      }
    })
  })
}

interface Tunnel {
  near: Duplex
  head: Buffer
  dial: Dial
}

async function tunnel(request: IncomingMessage, { near, head, dial }: Tunnel): Promise<void> {
  near.on('error', () => {})
  const [, host = '', port = ''] = /^(.*):(\d{1,5})$/.exec(request.url ?? '') ?? []
  try {
    const far = await dial(host.replace(/^\[|\]$/g, ''), Number(port))
    near.write('HTTP/1.1 200 Connection established\r\n\r\n')
    far.write(head)
    splice(near, far)
  } catch (error) {
    const { status, message } = explain(error)
    near.end(`HTTP/1.1 ${status} Refused\r\ncontent-type: text/plain\r\nconnection: close\r\n\r\n${message}\n`)
  }
}

function splice(near: Duplex, far: Socket): void {
  far.setTimeout(IDLE_MS, () => far.destroy())
  for (const [one, other] of [
    [near, far],
    [far, near],
  ] as const) {
    one.on('error', () => other.destroy())
    one.on('close', () => other.destroy())
    one.pipe(other)
  }
}

/** Forwards a plain `http://` request with an absolute URL. */
async function forward(request: IncomingMessage, response: ServerResponse, dial: Dial): Promise<void> {
  response.on('error', () => {})
  try {
    const url = URL.parse(request.url ?? '')
    if (url?.protocol !== 'http:') throw new HostError('address-blocked', { detail: 'This is a proxy for http URLs.' })
    const socket = await dial(hostOf(url), Number(url.port) || 80)
    response.once('close', () => socket.destroy())
    const forwarded = Object.entries(request.headers).filter(([name]) => !HOP_HEADERS.has(name))
    const headers = { ...Object.fromEntries(forwarded), host: url.host, connection: 'close' }
    const onward = httpRequest({
      createConnection: () => socket,
      method: request.method,
      path: url.pathname + url.search,
      headers,
    })
    onward.on('error', () => (response.headersSent ? response.destroy() : refuse(response, 502, 'The host broke off.')))
    onward.on('response', (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(response)
    })
    request.pipe(onward)
  } catch (error) {
    const { status, message } = explain(error)
    refuse(response, status, message)
  }
}

function refuse(response: ServerResponse, status: number, message: string): void {
  response.writeHead(status, { 'content-type': 'text/plain', connection: 'close' }).end(`${message}\n`)
}

function explain(error: unknown): { status: number; message: string } {
  if (HostError.is(error)) return { status: error.status === 403 ? 403 : 502, message: error.message }
  return { status: 502, message: 'The host cannot be reached.' }
}

/** `kill -9` leaves socket folders behind, on which nobody listens. */
export const EGRESS_PREFIX = 'loadout-egress-'
export const SOCKET = 'proxy.sock'
/** A newer folder without a socket may still be in setup. */
const YOUNG_MS = 60_000

export async function sweepSockets(folder = tmpdir()): Promise<void> {
  for (const name of await readdir(folder).catch(() => []))
    if (name.startsWith(EGRESS_PREFIX) && (await isStale(join(folder, name))))
      await rm(join(folder, name), { recursive: true, force: true }).catch(() => {})
}

async function isStale(dir: string): Promise<boolean> {
  const code = await new Promise<string | undefined>((resolve) => {
    const socket = connect(join(dir, SOCKET))
    socket.once('connect', () => {
      socket.destroy()
      resolve(undefined)
    })
    socket.once('error', (error: NodeJS.ErrnoException) => resolve(error.code))
  })
  if (code === 'ECONNREFUSED') return true
  const found = code === 'ENOENT' ? await stat(dir).catch(() => undefined) : undefined
  return found !== undefined && Date.now() - found.mtimeMs > YOUNG_MS
}
