/**
 * Pools of kept-alive connections. The guard resolves every connection, and its peer is checked again before a byte is
 * written. Idle connections close after `IDLE_MS`, before common servers close them (5 s): a request on a closing
 * connection fails, and nobody knows whether it arrived.
 */
import { type Agent, type ClientRequest, Agent as HttpAgent, request as httpRequest } from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest, type RequestOptions } from 'node:https'
import { Socket } from 'node:net'
import { type ConnectionOptions, createSecureContext, getCACertificates } from 'node:tls'
import { HostError } from '../../../errors.ts'
import { type AddressGuard, hostOf } from './address-guard.ts'
import { openTunnel, type ProxyServer } from './proxy.ts'

const IDLE_MS = 4000

export interface AgentSettings {
  guard: AddressGuard
  connectTimeoutMs: number
  maxSocketsPerHost: number
  proxy: ProxyServer | undefined
  ca: string | undefined
}

/** Route for requests to a URL. */
export interface Route {
  send: (options: RequestOptions) => ClientRequest
  /** `fresh` uses a new connection and closes it afterwards. */
  agent: (fresh: boolean) => Agent
  /** Host and port to connect to, and the path of the request line. */
  target: { host: string; port: string | number; path: string }
  /** Headers for the proxy, if any; names and values alternate. */
  headers: string[]
}

export interface Routes {
  to(url: URL): Route
  close(): void
}

export function createRoutes(settings: AgentSettings): Routes {
  const { proxy } = settings
  const pools = createPools(settings)
  return {
    to: (url) => (proxy?.serves(url) ? proxied(url, proxy, pools) : direct(url, pools)),
    close: pools.close,
  }
}

type Pools = ReturnType<typeof createPools>

function direct(url: URL, pools: Pools): Route {
  const secure = url.protocol === 'https:'
  return {
    send: secure ? httpsRequest : httpRequest,
    agent: secure ? pools.https : pools.http,
    target: { host: hostOf(url), port: url.port || (secure ? 443 : 80), path: url.pathname + url.search },
    headers: [],
  }
}

function proxied(url: URL, proxy: ProxyServer, pools: Pools): Route {
  if (url.protocol === 'https:') return { ...direct(url, pools), agent: pools.tunnel }
  return {
    send: proxy.secure ? httpsRequest : httpRequest,
    agent: pools.proxy,
    target: { host: proxy.host, port: proxy.port, path: `${url.origin}${url.pathname}${url.search}` },
    headers: proxy.authorization ? ['proxy-authorization', proxy.authorization] : [],
  }
}

/** Creates each pool on first use. */
function createPools(settings: AgentSettings) {
  const { guard, maxSocketsPerHost: maxSockets, proxy } = settings
  const agents = new Map<string, Agent>()
  const pool = (name: string, make: (common: Common) => Agent) => (fresh: boolean) => {
    const key = fresh ? `${name}, fresh` : name
    const agent = agents.get(key) ?? make({ keepAlive: !fresh, maxSockets, timeout: IDLE_MS })
    agents.set(key, agent)
    return agent
  }
  const tls = tlsSettings(settings.ca)
  const { lookup } = guard
  return {
    http: pool('http', (common) => withPeerCheck(new HttpAgent({ ...common, lookup }), settings)),
    https: pool('https', (common) => withPeerCheck(new HttpsAgent({ ...common, ...tls(), lookup }), settings)),
    tunnel: pool('tunnel', (common) => withTunnel(new HttpsAgent({ ...common, ...tls() }), settings, tls())),
    proxy: pool('proxy', (common) => (proxy?.secure ? new HttpsAgent({ ...common, ...tls() }) : new HttpAgent(common))),
    close: () => {
      for (const agent of agents.values()) agent.destroy()
    },
  }
}

interface Common {
  keepAlive: boolean
  maxSockets: number
  timeout: number
}

/** Reading the root certificates takes tens of milliseconds, so it happens once and only if `ca` is set. */
function tlsSettings(ca: string | undefined): () => ConnectionOptions {
  let settings: ConnectionOptions | undefined
  return () => {
    settings ??= ca ? { secureContext: createSecureContext({ ca: [...getCACertificates('default'), ca] }) } : {}
    return settings
  }
}

/** Checks the peer of each new connection and limits the connect time. */
function withPeerCheck(agent: HttpAgent, { guard, connectTimeoutMs: timeoutMs }: AgentSettings): HttpAgent {
  const connect = agent.createConnection.bind(agent)
  agent.createConnection = (options, created) => {
    const socket = connect(options, created)
    if (!(socket instanceof Socket)) return socket
    const host = options.host ?? ''
    // Runs before the listener that writes pending data.
    socket.prependOnceListener('connect', () => {
      try {
        guard.checkAddress(socket.remoteAddress ?? '', host)
      } catch (error) {
        socket.destroy(error as Error)
      }
    })
    return withConnectTimeout(socket, {
      host,
      ready: agent instanceof HttpsAgent ? 'secureConnect' : 'connect',
      timeoutMs,
    })
  }
  return agent
}

/** TLS to the server through a proxy connection. */
function withTunnel(agent: HttpsAgent, settings: AgentSettings, tls: ConnectionOptions): HttpsAgent {
  const { proxy, connectTimeoutMs: timeoutMs } = settings
  if (!proxy) return agent
  const connect = agent.createConnection.bind(agent)
  agent.createConnection = (options, created) => {
    const { host = '', port } = options
    openTunnel(proxy, { host: host ?? '', port: Number(port), timeoutMs, tls }).then(
      (tunnel) => {
        const within = { ...options, socket: tunnel }
        const socket = connect(within) as Socket
        created?.(null, withConnectTimeout(socket, { host: host ?? '', ready: 'secureConnect', timeoutMs }))
      },
      (error) => created?.(error, new Socket()),
    )
    return undefined
  }
  return agent
}

interface ConnectLimit {
  host: string
  ready: 'connect' | 'secureConnect'
  timeoutMs: number
}

function withConnectTimeout(socket: Socket, { host, ready, timeoutMs }: ConnectLimit): Socket {
  const timer = setTimeout(() => {
    socket.destroy(new HostError('server-timeout', { detail: `${host}: no connection within ${timeoutMs} ms.` }))
  }, timeoutMs)
  const stop = () => clearTimeout(timer)
  socket.once(ready, stop)
  socket.once('close', stop)
  return socket
}
