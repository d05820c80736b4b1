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
  const broken: BrokenBody = { reason: undefined }
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
  const transport = new SSEClientTransport(new URL(server.url), { fetch })
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

interface BrokenBody {
  /** Why the last body that broke off did. */
  reason: HostError | undefined
}

/** The SDK only says that a stream ended; the fetch knows why. */
function noteBroken(fetch: FetchLike, broken: BrokenBody): FetchLike {
  const onBodyFailure = (error: HostError) => {
    broken.reason = error
  }
  return (input, init) => fetch(input, { ...init, onBodyFailure } as GuardedInit)
}

/** Streamable HTTP where a request whose stream ends without its answer fails at once, and not at its timeout. */
class EndingTransport extends StreamableHTTPClientTransport {
  broken: BrokenBody | undefined

  override send(message: JSONRPCMessage | JSONRPCMessage[], options?: TransportSendOptions): Promise<void> {
    const single = Array.isArray(message) ? undefined : message
    const id = single && isJSONRPCRequest(single) ? single.id : undefined
    if (id === undefined) return super.send(message as JSONRPCMessage, options)
    const onRequestStreamEnd = () => {
      options?.onRequestStreamEnd?.()
      this.onmessage?.({
        jsonrpc: '2.0',
        id,
        error: { code: STREAM_ENDED, message: 'The stream ended.', data: this.#takeReason() },
      })
    }
    return super.send(message as JSONRPCMessage, { ...options, onRequestStreamEnd })
  }

  #takeReason(): HostError | undefined {
    const reason = this.broken?.reason
    if (this.broken) this.broken.reason = undefined
    return reason
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
