/**
 * The SDK's Streamable HTTP where a request whose stream ends without its answer fails at once, and not at its timeout, and
 * where a request that was given up is given up on the wire too.
 *
 * A tool call takes the short way where the driver has one. What that way does not know (another answer than a 200 in JSON
 * or events, a stream that can be resumed) goes on in the SDK with the answer that is already there: nothing is sent twice.
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
  /** Adds the server's secrets by itself. */
  fetch: FetchLike
  /** The same, without the user's token. */
  unsigned: FetchLike
  /** Where the driver has the short way. */
  preparePost?: PreparePost | undefined
  secrets: Readonly<Record<string, string>>
  /** Signs requests, where the server may want its user to sign in; its fetch does that by itself. */
  auth?: RequestAuth | undefined
}

/** Carries the id of a request to the fetch; it goes no further. */
const REQUEST_HEADER = 'x-loadout-request'
const MAX_CONTROLLERS = 1000
const END_SESSION_MS = 1000

export class StreamableTransport extends StreamableHTTPClientTransport {
  readonly #responses: ResponseTracker
  readonly #fastCalls: FastCalls | undefined
  readonly #controllers = new Map<string, AbortController>()
  /** What ends a request on the short way, by its id. */
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
   * Tells the server that its session is over. It is signed with what there is: nobody is asked to sign in for the sake of a
   * farewell, and nobody waits long for what the server says to it.
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

  /** Who was refused on the short way asks again on the long one, which can sign anew: nothing was done. */
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

  /** `ready`: the answer, where it is already there. */
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

/** What is known of answers beside what the SDK is told, by the request's id. */
class ResponseTracker {
  /** Why one broke off: the SDK only says that a stream ended. */
  readonly broken = new Map<string, HostError>()
  /** Those that are already there. */
  readonly ready = new Map<string, Response>()
  /** The server no longer knows the session. */
  isSessionUnknown = false

  watch(fetch: FetchLike): FetchLike {
    return async (input, init) => {
      // The SDK makes the headers for this one request; copying them would cost more than the rest of this.
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

/** Turns a 429 into our error where it still has its headers: the SDK's own error drops Retry-After. */
/** As long as anybody means; who waits decides for themselves how long. */
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
