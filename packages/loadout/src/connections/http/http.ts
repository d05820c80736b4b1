/** Connects to remote servers over Streamable HTTP, or over HTTP+SSE if the server supports only that. */
import { type FetchLike, SSEClientTransport } from '@modelcontextprotocol/client'
import { HostError } from '../../errors.ts'
import type { RemoteServer } from '../../schema/toolkit/server.ts'
import type { Connection, ConnectionHooks, ConnectionTarget, OpenConnection, RequestAuth } from '../connection.ts'
import { otherEraOnly } from '../session/eras.ts'
import { openSession } from '../session/session.ts'
import type { PreparePost } from './fast-call/contract.ts'
import { rejectCrossOriginRedirects } from './guard/redirects.ts'
import { withOriginHeaders } from './origin-headers.ts'
import { StreamableTransport, throwRateLimits } from './streamable-transport.ts'

export interface HttpOptions {
  /** Used for all requests. */
  fetch: FetchLike
  /** Fast path for `tools/call`; same SSRF guard as `fetch`. */
  preparePost?: PreparePost
  clientVersion: string
}

const FIRST_RECONNECTS = 3
const RECONNECT_BACKOFF_MS = 1000
const MAX_RECONNECT_MS = 30_000

export function httpConnections(options: HttpOptions): OpenConnection {
  return async (target, hooks) => {
    target.onProgress?.({ phase: 'probing' })
    const server = target.server as RemoteServer
    const sse = server.type === 'sse' || (target.verdict?.era === 'legacy' && target.verdict.transport === 'sse')
    if (sse) return openSse({ target, hooks, options })
    try {
      return await openStreamable({ target, hooks, options })
    } catch (error) {
      if (target.only === 'modern') throw otherEraOnly(error, target.only)
      if (!mayBeOldServer(error)) throw error
      // If SSE fails too, the first error explains more.
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
  const secrets = secretHeaders(server)
  const unsigned = withSecrets(options.fetch, server.url, secrets)
  const transport = new StreamableTransport(new URL(server.url), {
    fetch: withAuth(unsigned, target.auth),
    unsigned,
    preparePost: options.preparePost,
    secrets,
    auth: target.auth,
    reconnectionOptions: {
      initialReconnectionDelay: 1000,
      maxReconnectionDelay: MAX_RECONNECT_MS,
      reconnectionDelayGrowFactor: 2,
      maxRetries: 2,
    },
    reconnectionScheduler: createReconnectBackoff(),
  })
  const endSession = () => transport.endSession()
  return openSession({ transport, kind: 'http', target, hooks, endSession, clientVersion: options.clientVersion })
}

async function openSse({ target, hooks, options }: Opening): Promise<Connection> {
  const server = target.server as RemoteServer
  const signed = withAuth(withSecrets(options.fetch, server.url, secretHeaders(server)), target.auth)
  const fetch = throwRateLimits(rejectCrossOriginRedirects(signed))
  const transport: SSEClientTransport = new SSEClientTransport(new URL(server.url), {
    // A second stream would be a new session without a handshake, so the end of the stream ends the session.
    fetch: singleStream(fetch, () => void transport.close().catch(() => {})),
  })
  const legacy = { ...target, verdict: { era: 'legacy' as const, transport: 'sse' as const } }
  return openSession({ transport, kind: 'sse', target: legacy, hooks, clientVersion: options.clientVersion })
}

/** Adds secrets for the server's origin only, because the SDK also requests sign-in metadata from other hosts. */
function withSecrets(fetch: FetchLike, url: string, secrets: Record<string, string>): FetchLike {
  return Object.keys(secrets).length === 0 ? fetch : withOriginHeaders(fetch, url, secrets)
}

const withAuth = (fetch: FetchLike, auth: RequestAuth | undefined) => auth?.wrap(fetch) ?? fetch

const secretHeaders = (server: RemoteServer) => ({ ...server.headers, ...authHeaders(server) })

function authHeaders({ auth }: RemoteServer): Record<string, string> {
  if (auth.type === 'bearer') return { Authorization: `Bearer ${auth.token}` }
  return auth.type === 'headers' ? auth.headers : {}
}

// By the protocol, an SSE server answers a POST to its stream URL with 400, 404 or 405.
function mayBeOldServer(error: unknown): boolean {
  return HostError.is(error) && (error.code === 'protocol-error' || error.code === 'session-lost')
}

/** Allows one event stream and reports its end. */
function singleStream(fetch: FetchLike, onEnd: () => void): FetchLike {
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
    return new Response(notifyOnEnd(response.body, onEnd), { status: response.status, headers: response.headers })
  }
}

/** Calls `onEnd` as soon as the stream ends or breaks; the SDK would only notice seconds later. */
function notifyOnEnd(body: ReadableStream<Uint8Array>, onEnd: () => void): ReadableStream<Uint8Array> {
  const reader = body.getReader()
  return new ReadableStream({
    async pull(controller) {
      try {
        const { done, value } = await reader.read()
        if (!done) return controller.enqueue(value)
        onEnd()
        controller.close()
      } catch (error) {
        onEnd()
        controller.error(error)
      }
    },
    cancel: (reason) => reader.cancel(reason),
  })
}

/** A server may request endless immediate reconnects, so the delay grows after the first three. */
function createReconnectBackoff() {
  let recent = 0
  return (reconnect: () => void, delay: number) => {
    recent++
    const waitMs =
      recent <= FIRST_RECONNECTS
        ? delay
        : Math.max(delay, Math.min(RECONNECT_BACKOFF_MS * 2 ** (recent - FIRST_RECONNECTS - 1), MAX_RECONNECT_MS))
    const timer = setTimeout(reconnect, waitMs)
    return () => clearTimeout(timer)
  }
}
