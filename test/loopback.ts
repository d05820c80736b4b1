/** Loopback servers for outbound tests: plain HTTP, TLS with a test authority, and names that resolve only here. */
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type RequestListener, type Server } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import {
  type AddressInfo,
  createServer as createTcpServer,
  type Socket as NetSocket,
  Socket,
  type Server as TcpServer,
} from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface Loopback {
  port: number
  server: Server
  /** One line per request: method, path and headers as they arrived. */
  requests: { method: string; url: string; headers: NodeJS.Dict<string | string[]> }[]
  /** All connections that were ever made, in order. */
  sockets: NetSocket[]
  [Symbol.asyncDispose](): Promise<void>
}

export interface Certificates {
  /** PEM of the authority. */
  ca: string
  key: string
  cert: string
}

export async function listen(listener: RequestListener, tls?: Certificates): Promise<Loopback> {
  const requests: Loopback['requests'] = []
  const sockets: NetSocket[] = []
  const recording: RequestListener = (request, response) => {
    requests.push({ method: request.method ?? '', url: request.url ?? '', headers: request.headers })
    listener(request, response)
  }
  const server = tls ? createTlsServer(tls, recording) : createServer(recording)
  server.on('connection', (socket) => sockets.push(socket))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    server,
    requests,
    sockets,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** A lookup that knows only these names, and what it was asked. */
export function names(known: Record<string, string | string[] | (() => string[])>) {
  const asked: string[] = []
  const lookup = async (hostname: string) => {
    asked.push(hostname)
    const answer = Object.hasOwn(known, hostname) ? known[hostname] : undefined
    if (answer === undefined) throw Object.assign(new Error(`ENOTFOUND ${hostname}`), { code: 'ENOTFOUND' })
    const addresses = typeof answer === 'function' ? answer() : [answer].flat()
    return addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
  }
  return { lookup, asked }
}

/** Every address that a socket of this process tries to reach, until it is stopped; other than 127.0.0.1 none is let out. */
export function watchConnects() {
  const attempts: string[] = []
  const original = Socket.prototype.connect
  const watched = function (this: NetSocket, ...args: unknown[]) {
    this.on('connectionAttempt', (address: string) => {
      attempts.push(address)
      if (address !== '127.0.0.1') this.destroy(new Error(`The test does not connect to ${address}.`))
    })
    return Reflect.apply(original, this, args)
  }
  Socket.prototype.connect = watched as typeof original
  return {
    attempts,
    stop: () => {
      Socket.prototype.connect = original
    },
  }
}

/** A certificate for the names (and 127.0.0.1) under an authority that no system knows. */
export function makeCertificates(dnsNames: string[]): Certificates {
  const folder = mkdtempSync(join(tmpdir(), 'loadout-tls-'))
  const at = (name: string) => join(folder, name)
  const openssl = (...args: string[]) => execFileSync('openssl', args, { stdio: 'pipe' })
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  try {
    openssl('req', '-x509', ...key, '-keyout', at('ca.key'), '-out', at('ca.pem'), '-days', '2', '-subj', '/CN=Test CA')
    openssl('req', ...key, '-keyout', at('key.pem'), '-out', at('csr.pem'), '-subj', '/CN=test')
    const san = [...dnsNames.map((name) => `DNS:${name}`), 'IP:127.0.0.1'].join(',')
    writeFileSync(at('ext'), `subjectAltName=${san}`)
    const sign = ['-CA', at('ca.pem'), '-CAkey', at('ca.key'), '-CAcreateserial', '-extfile', at('ext'), '-days', '2']
    openssl('x509', '-req', '-in', at('csr.pem'), ...sign, '-out', at('cert.pem'))
    const read = (name: string) => readFileSync(at(name), 'utf8')
    return { ca: read('ca.pem'), key: read('key.pem'), cert: read('cert.pem') }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** The code of what a promise rejects with. */
export async function codeOf(promise: Promise<unknown>): Promise<string> {
  try {
    await promise
    return 'nothing was thrown'
  } catch (error) {
    return String((error as { code?: unknown }).code ?? error)
  }
}

/** A server that answers each connection as the test says. */
export async function raw(onSocket: (socket: Socket, index: number) => void) {
  let count = 0
  const server: TcpServer = createTcpServer((socket) => {
    socket.on('error', () => {})
    onSocket(socket, count++)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : 0
  return { url: `http://127.0.0.1:${port}/`, connections: () => count, [Symbol.dispose]: () => server.close() }
}

export async function chunksOf<T>(stream: ReadableStream<T> | null | undefined): Promise<T[]> {
  const chunks: T[] = []
  for await (const chunk of stream ?? []) chunks.push(chunk)
  return chunks
}
