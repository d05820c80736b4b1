/** Remote servers: Streamable HTTP, and the old HTTP+SSE where a server speaks only that. */
import {
  type FetchLike,
  isJSONRPCRequest,
  type JSONRPCMessage,
  SSEClientTransport,
  StreamableHTTPClientTransport,
  type TransportSendOptions,
} from '@modelcontextprotocol/client'
import { HostError } from '../errors.ts'
import type { RemoteServer } from '../schema/server.ts'
import type { Connection, ConnectionHooks, ConnectionTarget, OpenConnection } from './connection.ts'
import { STREAM_ENDED } from './failures.ts'
import type { GuardedInit } from './guarded-init.ts'
import { withOriginHeaders } from './origin-headers.ts'
import { tellRateLimits } from './rate-limit.ts'
import { openSession } from './session.ts'

export interface HttpOptions {
  /** Everything that leaves goes through it. */
  fetch: FetchLike
  clientVersion: string
}

const FIRST_RECONNECTS = 3
const CALM_RECONNECT_MS = 1000
const MAX_RECONNECT_MS = 30_000

export function httpConnections(options: HttpOptions): OpenConnection {
  return async (target, hooks) => {
    const server = target.server as RemoteServer
    const sse = server.type === 'sse' || (target.verdict?.era === 'legacy' && target.verdict.transport === 'sse')
    if (sse) return openSse({ target, hooks, options })
    try {
      return await openStreamable({ target, hooks, options })
    } catch (error) {
      if (!mayBeOldServer(error)) throw error
      // Where the old way fails too, the first failure is the one that explains.
      return openSse({ target: { ...target, verdict: { era: 'legacy' } }, hooks, options }).catch(() => {
        throw error
      })
    }
  }
}

interface Opening {
  target: ConnectionTarget
  hooks: ConnectionHooks
  options: HttpOptions
}

async function openStreamable({ target, hooks, options }: Opening): Promise<Connection> {
  const server = target.server as RemoteServer
  const fetch = tellRateLimits(withSecrets(options.fetch, server))
  const broken: BrokenBodies = new Map()
  const transport = new EndingTransport(new URL(server.url), {
    fetch: noteBroken(fetch, broken),
    reconnectionOptions: {
      initialReconnectionDelay: 1000,
      maxReconnectionDelay: MAX_RECONNECT_MS,
      reconnectionDelayGrowFactor: 2,
      maxRetries: 2,
    },
    reconnectionScheduler: calmReconnects(),
  })
  transport.broken = broken
  return openSession({ transport, kind: 'http', target, hooks, clientVersion: options.clientVersion })
}

async function openSse({ target, hooks, options }: Opening): Promise<Connection> {
  const server = target.server as RemoteServer
  const fetch = tellRateLimits(withSecrets(options.fetch, server))
  const transport: SSEClientTransport = new SSEClientTransport(new URL(server.url), {
    // A new stream would be a new session that nobody shook hands with: the end of the first is the end.
    fetch: onceOnly(fetch, () => void transport.close().catch(() => {})),
  })
  const legacy = { ...target, verdict: { era: 'legacy' as const, transport: 'sse' as const } }
  return openSession({ transport, kind: 'sse', target: legacy, hooks, clientVersion: options.clientVersion })
}

/** Secrets are added here and only for their own origin: the SDK also asks other hosts, for metadata of sign-in. */
function withSecrets(fetch: FetchLike, server: RemoteServer): FetchLike {
  const secrets = { ...server.headers, ...authHeaders(server) }
  return Object.keys(secrets).length === 0 ? fetch : withOriginHeaders(fetch, server.url, secrets)
}

function authHeaders({ auth }: RemoteServer): Record<string, string> {
  if (auth.type === 'bearer') return { Authorization: `Bearer ${auth.token}` }
  return auth.type === 'headers' ? auth.headers : {}
}

// An old server answers a POST to its stream's address with 400, 404 or 405 (the protocol says so).
function mayBeOldServer(error: unknown): boolean {
  return HostError.is(error) && (error.code === 'protocol-error' || error.code === 'session-lost')
}

/** Why the answer to a request broke off, by the request's id. */
type BrokenBodies = Map<string, HostError>

/** Carries the id of a request to the fetch; it goes no further. */
const REQUEST_HEADER = 'x-loadout-request'

/** The SDK only says that a stream ended; the fetch knows why. */
function noteBroken(fetch: FetchLike, broken: BrokenBodies): FetchLike {
  return (input, init) => {
    // The SDK makes the headers for this one request; copying them would cost more than the rest of this.
    const headers = init?.headers instanceof Headers ? init.headers : new Headers(init?.headers)
    const id = headers.get(REQUEST_HEADER)
    if (id === null) return fetch(input, init)
    headers.delete(REQUEST_HEADER)
    const onBodyFailure = (error: HostError) => void broken.set(id, error)
    return fetch(input, { ...init, headers, onBodyFailure } as GuardedInit)
  }
}

/** Tells when the stream of events ends, and opens no second one. */
function onceOnly(fetch: FetchLike, onEnd: () => void): FetchLike {
  let opened = false
  return async (input, init) => {
    if ((init?.method ?? 'GET') !== 'GET') return fetch(input, init)
    if (opened) {
      onEnd()
      throw new HostError('session-lost', { detail: 'The stream of the server ended.' })
    }
    const response = await fetch(input, init)
    if (!response.ok || response.body === null) return response
    opened = true
    const watched = response.body.pipeThrough(new TransformStream({ flush: onEnd }))
    return new Response(watched, { status: response.status, headers: response.headers })
  }
}

const MAX_CONTROLLERS = 1000

/**
 * Streamable HTTP where a request whose stream ends without its answer fails at once, and not at its timeout, and where a
 * request that was given up is given up on the wire too.
 */
class EndingTransport extends StreamableHTTPClientTransport {
  broken: BrokenBodies = new Map()
  readonly #controllers = new Map<string, AbortController>()

  override send(message: JSONRPCMessage | JSONRPCMessage[], options?: TransportSendOptions): Promise<void> {
    const single = Array.isArray(message) ? undefined : message
    if (single && 'method' in single && single.method === 'notifications/cancelled')
      this.#giveUp(single.params?.requestId)
    const id = single && isJSONRPCRequest(single) ? single.id : undefined
    if (id === undefined) return super.send(message as JSONRPCMessage, options)
    const onRequestStreamEnd = () => {
      options?.onRequestStreamEnd?.()
      this.#controllers.delete(String(id))
      const data = this.broken.get(String(id))
      this.broken.delete(String(id))
      this.onmessage?.({ jsonrpc: '2.0', id, error: { code: STREAM_ENDED, message: 'The stream ended.', data } })
    }
    const headers = { ...options?.headers, [REQUEST_HEADER]: String(id) }
    const requestSignal = options?.requestSignal ?? this.#control(String(id))
    return super.send(message as JSONRPCMessage, { ...options, headers, requestSignal, onRequestStreamEnd })
  }

  #control(id: string): AbortSignal {
    if (this.#controllers.size >= MAX_CONTROLLERS) {
      const [oldest = ''] = this.#controllers.keys()
      this.#controllers.delete(oldest)
    }
    const controller = new AbortController()
    this.#controllers.set(id, controller)
    return controller.signal
  }

  #giveUp(id: unknown): void {
    this.#controllers.get(String(id))?.abort()
    this.#controllers.delete(String(id))
  }
}

/** A server may ask to be reconnected at once, for ever; after a few times it is asked less and less often. */
function calmReconnects() {
  let recent = 0
  return (reconnect: () => void, delay: number) => {
    recent++
    const calm =
      recent <= FIRST_RECONNECTS
        ? delay
        : Math.max(delay, Math.min(CALM_RECONNECT_MS * 2 ** (recent - FIRST_RECONNECTS - 1), MAX_RECONNECT_MS))
    const timer = setTimeout(reconnect, calm)
    return () => clearTimeout(timer)
  }
}
