/**
 * The operator's HTTP proxy. It resolves names itself, so behind it only literal addresses are checked here, and the
 * proxy must keep names out of the private network. The proxy's own address is trusted, and its password appears in no
 * error.
 */
import { request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import type { Socket } from 'node:net'
import type { ConnectionOptions } from 'node:tls'
import { HostError } from '../../../errors.ts'
import { networkError } from '../client/network-errors.ts'
import { hostOf, parseAddress, readAllowed } from './address-guard.ts'

export interface ProxySettings {
  /** `http(s)://[user:password@]host:port` */
  url: string
  /**
   * Same format as NO_PROXY: names (with subdomains), `*`, addresses and CIDRs, each with an optional port, separated
   * by commas.
   */
  noProxy?: string
}

export interface ProxyServer {
  secure: boolean
  host: string
  port: number
  /** Value of the `proxy-authorization` header. */
  authorization: string | undefined
  /** Whether requests for this URL use the proxy. */
  serves(url: URL): boolean
}

export function readProxy({ url: text, noProxy = '' }: ProxySettings): ProxyServer {
  const url = URL.parse(text)
  if (!url || (url.protocol !== 'http:' && url.protocol !== 'https:'))
    throw new HostError('config-invalid', { detail: 'The URL of the proxy is not a http or https one.' })
  const secure = url.protocol === 'https:'
  const login = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`
  const bypasses = readNoProxy(noProxy)
  return {
    secure,
    host: hostOf(url),
    port: Number(url.port) || (secure ? 443 : 80),
    authorization: login === ':' ? undefined : `Basic ${Buffer.from(login).toString('base64')}`,
    serves: (target) => !bypasses(target),
  }
}

function readNoProxy(text: string): (url: URL) => boolean {
  const entries = text
    .toLowerCase()
    .split(/[\s,]+/)
    .filter(Boolean)
  if (entries.includes('*')) return () => true
  const rules = entries.map(readRule)
  return (url) => {
    const port = Number(url.port) || (url.protocol === 'https:' ? 443 : 80)
    return rules.some((rule) => (rule.port === undefined || rule.port === port) && rule.matches(hostOf(url)))
  }
}

function readRule(entry: string): { port: number | undefined; matches: (host: string) => boolean } {
  // Only a name, an IPv4 address or a bracketed host can have a port.
  const [, host = entry, port] = /^(\[.*\]|[^:]*):(\d+)$/.exec(entry) ?? []
  const bare = host.replace(/^\[|\]$/g, '').replace(/\.$/, '')
  const matches = bare.includes('/') || parseAddress(bare) ? addressRule(bare) : nameRule(bare)
  return { port: port === undefined ? undefined : Number(port), matches }
}

function addressRule(range: string): (host: string) => boolean {
  const { hasAddress } = readAllowed([range])
  return (host) => {
    const address = parseAddress(host)
    return address !== undefined && hasAddress(address)
  }
}

function nameRule(name: string): (host: string) => boolean {
  const base = name.replace(/^\*?\./, '')
  return (host) => host === base || host.endsWith(`.${base}`)
}

export interface TunnelTarget {
  host: string
  port: number
  timeoutMs: number
  /** TLS options for a proxy with an https URL. */
  tls: ConnectionOptions
}

/** Opens a connection to `target` through the proxy, by CONNECT. */
export function openTunnel(proxy: ProxyServer, target: TunnelTarget): Promise<Socket> {
  const authority = `${target.host.includes(':') ? `[${target.host}]` : target.host}:${target.port}`
  const send = proxy.secure ? httpsRequest : httpRequest
  return new Promise((resolve, reject) => {
    const headers: Record<string, string> = { host: authority }
    if (proxy.authorization) headers['proxy-authorization'] = proxy.authorization
    const { host, port } = proxy
    const request = send({ ...target.tls, method: 'CONNECT', host, port, path: authority, headers, agent: false })
    const timer = setTimeout(() => {
      request.destroy(new HostError('server-timeout', { detail: 'The proxy opened no connection in time.' }))
    }, target.timeoutMs)
    request.on('error', (error) => reject(networkError(error, 'The proxy')))
    request.on('close', () => clearTimeout(timer))
    request.on('connect', (response, socket: Socket) => {
      clearTimeout(timer)
      if (response.statusCode === 200) return resolve(socket)
      socket.destroy()
      reject(refusal(response.statusCode))
    })
    request.on('response', (response) => {
      response.destroy()
      reject(refusal(response.statusCode))
    })
    request.end()
  })
}

function refusal(status: number | undefined): HostError {
  return new HostError('server-unreachable', { detail: `The proxy refused the connection (HTTP ${status}).` })
}
