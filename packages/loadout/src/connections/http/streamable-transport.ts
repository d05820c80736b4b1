/**
 * The SDK's Streamable HTTP transport with two changes: a request fails as soon as its stream ends without a response,
 * and a cancelled request is aborted on the wire.
 *
 * Tool calls use the fast path if the driver has one. Responses that it cannot read continue in the SDK's transport
 * without a second request.
 */

import {
  type FetchLike,
  type JSONRPCMessage,
  type JSONRPCRequest,
  StreamableHTTPClientTransport,
  type StreamableHTTPClientTransportOptions,
  type TransportSendOptions,
} from '@modelcontextprotocol/client'
import type { HostError } from '../../errors.ts'
import type { RequestAuth } from '../connection.ts'
import { fromStatus, STREAM_ENDED } from '../errors.ts'
import type { PreparePost } from './fast-call/contract.ts'
import { FastCalls, isFastCall, type PreparedPost } from './fast-call/prepare.ts'
import { type DirectCall, FastCallReader, type Receiver } from './fast-call/read.ts'
import type { GuardedInit } from './guard/guarded-init.ts'
import { rejectCrossOriginRedirects } from './guard/redirects.ts'

export interface StreamableOptions extends StreamableHTTPClientTransportOptions {
  /** Adds the server's secrets. */
  fetch: FetchLike
  /** Same fetch without the user's token. */
  unsigned: FetchLike
  /** Undefined if the driver has no fast path. */
  preparePost?: PreparePost | undefined
  secrets: Readonly<Record<string, string>>
  /** Signs fast-path requests; `fetch` is already signed. */
  auth?: RequestAuth | undefined
}

/** Passes the request ID to `fetch`, which removes the header. */
const REQUEST_HEADER = 'x-loadout-request'
const MAX_CONTROLLERS = 1000
const END_SESSION_MS = 1000

export class StreamableTransport extends StreamableHTTPClientTransport {
  readonly #responses: ResponseTracker
  readonly #fastCalls: FastCalls | undefined
  readonly #controllers = new Map<string, AbortController>()
  /** Abort functions of fast-path requests, by request ID. */
  readonly #stops = new Map<string, (reason: unknown) => void>()
  readonly #receiver: Receiver = {
    deliver: (message) => this.onmessage?.(message),
    pass: (error) => this.onerror?.(error),
    end: ({ request }) => this.#deliverStreamEnd(request),
    fail: (call, error) => this.#fail(call, error),
    takeOver: ({ request, options }, response) => this.#takeOver(request, options, response),
    forget: ({ request }) => void this.#stops.delete(String(request.id)),
  }

  readonly #auth: RequestAuth | undefined
  readonly #unsigned: FetchLike
  readonly #address: URL

  constructor(url: URL, { preparePost, secrets, auth, fetch, unsigned, ...options }: StreamableOptions) {
    const responses = new ResponseTracker()
    super(url, { ...options, fetch: throwRateLimits(rejectCrossOriginRedirects(responses.watch(fetch))) })
    this.#responses = responses
    this.#fastCalls = preparePost && new FastCalls(url, preparePost, secrets)
    this.#auth = auth
    this.#unsigned = unsigned
    this.#address = url
  }

  /**
   * Ends the session on the server with the current token: it triggers no sign-in and waits at most `END_SESSION_MS`.
   */
  async endSession(): Promise<void> {
    if (this.sessionId === undefined || this.#responses.isSessionUnknown) return
    const signed = this.#auth ? this.#auth.headers() : []
    if (signed === undefined) return
    const headers = new Headers({ 'mcp-session-id': this.sessionId })
    if (this.protocolVersion !== undefined) headers.set('mcp-protocol-version', this.protocolVersion)
    for (let i = 0; i < signed.length; i += 2) headers.set(signed[i] ?? '', signed[i + 1] ?? '')
    const response = await this.#unsigned(this.#address, {
      method: 'DELETE',
      headers,
      redirect: 'manual',
      signal: AbortSignal.timeout(END_SESSION_MS),
    })
    await response.body?.cancel()
  }

  override send(message: JSONRPCMessage | JSONRPCMessage[], options?: TransportSendOptions): Promise<void> {
    const single = !Array.isArray(message) && 'method' in message ? message : undefined
    if (single?.method === 'notifications/cancelled') this.#cancel(single.params?.requestId)
    if (!single || !('id' in single)) return super.send(message as JSONRPCMessage, options)
    const request = single as JSONRPCRequest
    const prepared = isFastCall(options) ? this.#prepare(request) : undefined
    return prepared ? this.#sendDirectly({ request, options }, prepared) : this.#sendBySdk(request, options)
  }

  #prepare(request: JSONRPCRequest): PreparedPost | undefined {
    if (!this.#auth) return this.#fastCalls?.prepare(request, this)
    const signed = this.#auth.headers()
    const prepared = signed && this.#fastCalls?.prepare(request, this)
    return prepared && { ...prepared, headers: [...prepared.headers, ...signed] }
  }

  /** After a 401 or 403 on the fast path, the SDK's transport sends the request again, because it can sign it again. */
  #takeOver(request: JSONRPCRequest, options: TransportSendOptions | undefined, response: Response): Promise<void> {
    const isRefused = response.status === 401 || response.status === 403
    if (!this.#auth || !isRefused) return this.#sendBySdk(request, options, response)
    void response.body?.cancel().catch(() => {})
    return this.#sendBySdk(request, options)
  }

  override close(): Promise<void> {
    for (const stop of this.#stops.values()) stop(new DOMException('The connection was closed.', 'AbortError'))
    return super.close()
  }

  #sendDirectly(call: DirectCall, { post, headers }: PreparedPost): Promise<void> {
    const { request, options } = call
    const signal = options?.requestSignal
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted()
      const reader = new FastCallReader(call, this.#receiver, { resolve, reject })
      const onBodyFailure = (error: HostError) => void this.#responses.broken.set(String(request.id), error)
      const end = post({ body: JSON.stringify(request), headers, onBodyFailure }, reader)
      const stop = (reason: unknown) => {
        reader.isStopped = true
        this.#stops.delete(String(request.id))
        end(reason)
      }
      this.#stops.set(String(request.id), stop)
      signal?.addEventListener('abort', () => stop(signal.reason))
    })
  }

  #fail({ request }: DirectCall, error: Error): void {
    this.#stops.delete(String(request.id))
    this.#responses.broken.delete(String(request.id))
    this.onerror?.(error)
  }

  /** `ready` is the response, if it already arrived. */
  #sendBySdk(request: JSONRPCRequest, options?: TransportSendOptions, ready?: Response): Promise<void> {
    const id = String(request.id)
    if (ready) this.#responses.ready.set(id, ready)
    const onRequestStreamEnd = () => {
      options?.onRequestStreamEnd?.()
      this.#deliverStreamEnd(request)
    }
    const headers = { ...options?.headers, [REQUEST_HEADER]: id }
    const requestSignal = options?.requestSignal ?? this.#control(id)
    return super.send(request, { ...options, headers, requestSignal, onRequestStreamEnd })
  }

  #deliverStreamEnd({ id }: JSONRPCRequest): void {
    const data = this.#responses.broken.get(String(id))
    this.#responses.broken.delete(String(id))
    this.#controllers.delete(String(id))
    this.onmessage?.({ jsonrpc: '2.0', id, error: { code: STREAM_ENDED, message: 'The stream ended.', data } })
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

  #cancel(requestId: unknown): void {
    const id = String(requestId)
    this.#controllers.get(id)?.abort()
    this.#controllers.delete(id)
    this.#stops.get(id)?.(new DOMException('The request was given up.', 'AbortError'))
  }
}

/** Response details that the SDK does not report, by request ID. */
class ResponseTracker {
  /** Error that ended a response; the SDK only reports that the stream ended. */
  readonly broken = new Map<string, HostError>()
  /** Responses that already arrived. */
  readonly ready = new Map<string, Response>()
  /** Set after a 404: the server does not know the session. */
  isSessionUnknown = false

  watch(fetch: FetchLike): FetchLike {
    return async (input, init) => {
      // The SDK creates these headers for this request, so they can be changed without a copy.
      const headers = init?.headers instanceof Headers ? init.headers : new Headers(init?.headers)
      const id = headers.get(REQUEST_HEADER)
      if (id === null) return fetch(input, init)
      headers.delete(REQUEST_HEADER)
      const ready = this.ready.get(id)
      this.ready.delete(id)
      const onBodyFailure = (error: HostError) => void this.broken.set(id, error)
      const response = ready ?? (await fetch(input, { ...init, headers, onBodyFailure } as GuardedInit))
      if (response.status === 404) this.isSessionUnknown = true
      return response
    }
  }
}

/** Upper bound for `Retry-After`, in milliseconds: 24 hours. */
const MAX_WAIT_MS = 24 * 3_600_000

export function throwRateLimits(fetch: FetchLike): FetchLike {
  return async (input, init) => {
    const response = await fetch(input, init)
    if (response.status !== 429) return response
    await response.body?.cancel().catch(() => {})
    throw fromStatus(429, undefined, parseRetryAfter(response.headers.get('retry-after')))
  }
}

function parseRetryAfter(header: string | null): number | undefined {
  if (header === null) return undefined
  const seconds = Number(header)
  const ms = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(header) - Date.now()
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(0, ms), MAX_WAIT_MS)
}
