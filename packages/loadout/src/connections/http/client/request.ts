/**
 * Sends one request over a pooled connection and follows no redirects.
 *
 * A request is retried once, on a new connection, if a kept-alive connection is closed before the first byte of the
 * response. Idempotent requests (GET, HEAD, OPTIONS, PUT, DELETE, or with an idempotency key) are retried whatever was
 * sent. A POST is retried only if writing failed, because then it cannot have arrived. Any other POST fails: the server
 * may have crashed during the call, and no tool may run twice.
 */

import type { ClientRequest, IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import type { ReadableStream as WebStream } from 'node:stream/web'
import { HostError } from '../../../errors.ts'
import type { Route } from '../guard/agents.ts'
import { LeanResponse } from './lazy-response.ts'
import { isReset, isUnsent, networkError, responseTooLarge } from './network-errors.ts'
import { decode, ResponseBody } from './response-body.ts'

/** Requests that `close` ends together. */
export interface InFlight {
  closed: boolean
  requests: Set<ClientRequest>
}

export interface HttpRequest {
  url: URL
  method: string
  /** Names and values alternate. */
  headers: string[]
  payload: Payload | undefined
  /** Whether the server may receive the request twice. */
  repeatable: boolean
  route: Route
  maxResponseBytes: number
  traffic: InFlight
  /** Called with the error that ended a body; a stream reader may only see that it ended. */
  onBodyFailure?: ((error: HostError) => void) | undefined
}

/** Callbacks for the response or the failure. */
export interface ResponseHandlers {
  onAnswer(message: IncomingMessage, body: ResponseBody | undefined): void
  onFailure(error: unknown): void
  /** Called when no more of the response will arrive. */
  onDone(): void
}

const WITHOUT_BODY = new Set([204, 205, 304])

export function sendRequest(outgoing: HttpRequest & { signal: AbortSignal | undefined }): Promise<LeanResponse> {
  const { signal } = outgoing
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(signal.reason)
      return
    }
    const release = () => signal?.removeEventListener('abort', onAbort)
    const stop = startRequest(outgoing, {
      onAnswer: (message, body) => resolve(new LeanResponse(responseHead(message, outgoing.url), body ?? null)),
      onFailure(error) {
        release()
        reject(error)
      },
      onDone: release,
    })
    const onAbort = () => stop(signal?.reason)
    signal?.addEventListener('abort', onAbort)
  })
}

/** Sends the request and returns a function that aborts it with a reason. */
export function startRequest(outgoing: HttpRequest, handlers: ResponseHandlers): (reason: unknown) => void {
  const flight = new Flight(outgoing, handlers)
  flight.send(false)
  return (reason) => flight.stop(reason)
}

class Flight {
  readonly #outgoing: HttpRequest
  readonly #handlers: ResponseHandlers
  #request: ClientRequest | undefined
  #body: ResponseBody | undefined
  #stopped: { reason: unknown } | undefined
  /** After this the connection may serve another request. */
  #isOver = false

  constructor(outgoing: HttpRequest, handlers: ResponseHandlers) {
    this.#outgoing = outgoing
    this.#handlers = handlers
  }

  send(fresh: boolean): void {
    const { method, headers, route, traffic, payload } = this.#outgoing
    const request = route.send({ ...route.target, method, headers, agent: route.agent(fresh) })
    let settled = false
    const fail = (error: Error) => {
      if (settled) return
      settled = true
      if (!fresh && this.#mayRepeat(request, error)) this.send(true)
      else this.#fail(this.#explain(error))
    }
    this.#request = request
    traffic.requests.add(request)
    request.on('response', (message: IncomingMessage) => {
      settled = true
      this.#take(message)
    })
    request.on('error', fail)
    request.on('close', () => {
      traffic.requests.delete(request)
      // A response that switches protocols closes the connection without an error.
      if (!settled) fail(closedEarly())
    })
    write(request, payload?.data)
  }

  stop(reason: unknown): void {
    if (this.#isOver) return
    this.#stopped = { reason }
    this.#fail(reason)
    this.#body?.abort(reason)
    this.#request?.destroy()
  }

  #take(message: IncomingMessage): void {
    try {
      this.#body = this.#createBody(message)
      this.#handlers.onAnswer(message, this.#body)
    } catch (error) {
      this.#fail(error)
      this.#request?.destroy()
    }
  }

  #fail(error: unknown): void {
    this.#isOver = true
    this.#handlers.onFailure(error)
  }

  #finish(): void {
    this.#isOver = true
    this.#handlers.onDone()
  }

  #mayRepeat(request: ClientRequest, error: Error): boolean {
    const { payload, repeatable, traffic } = this.#outgoing
    if (!request.reusedSocket || this.#stopped || traffic.closed) return false
    const data = payload?.data
    if (data !== undefined && typeof data !== 'string' && !(data instanceof Uint8Array)) return false
    return repeatable ? isReset(error) : isUnsent(error)
  }

  #createBody(message: IncomingMessage): ResponseBody | undefined {
    const { headers, statusCode = 0 } = message
    const { url, method, maxResponseBytes: limit, onBodyFailure } = this.#outgoing
    const length = headers['content-length']
    if (method === 'HEAD' || WITHOUT_BODY.has(statusCode) || length === '0') {
      message.resume()
      this.#finish()
      return undefined
    }
    const perEvent = /^text\/event-stream\b/i.test(headers['content-type'] ?? '')
    if (!perEvent && Number(length) > limit) throw responseTooLarge(url.origin, limit)
    return new ResponseBody(decode(message, headers['content-encoding']), {
      limit,
      perEvent,
      explain: (error) => this.#explain(error ?? closedEarly()),
      tooLarge: () => {
        const error = responseTooLarge(url.origin, limit, perEvent ? 'event' : 'answer')
        onBodyFailure?.(error)
        return error
      },
      onDone: () => this.#finish(),
    })
  }

  #explain(error: unknown): unknown {
    if (this.#stopped) return this.#stopped.reason
    const { url, traffic } = this.#outgoing
    return traffic.closed ? new HostError('shutting-down', { cause: error }) : networkError(error, url.origin)
  }
}

function write(request: ClientRequest, data: string | Uint8Array | Readable | undefined): void {
  if (data === undefined) request.end()
  else if (typeof data === 'string' || data instanceof Uint8Array) request.end(data)
  else data.on('error', (error) => request.destroy(error)).pipe(request)
}

function closedEarly(): Error {
  return Object.assign(new Error('closed'), { code: 'ECONNRESET' })
}

export function responseHead({ rawHeaders, statusCode = 0, statusMessage = '' }: IncomingMessage, url: URL) {
  return { status: statusCode, statusText: statusMessage, rawHeaders, url: hrefWithoutHash(url) }
}

function hrefWithoutHash(url: URL): string {
  return url.hash ? url.href.slice(0, -url.hash.length) : url.href
}

/** A request body as bytes, with the content type that `fetch` would set. */
export interface Payload {
  /** A stream is read while it is sent, and only once. */
  data: string | Uint8Array | Readable
  contentType: string | undefined
}

export async function createPayload(body: BodyInit): Promise<Payload> {
  if (body instanceof ReadableStream)
    return { data: Readable.fromWeb(body as WebStream<Uint8Array>), contentType: undefined }
  // `Response` serializes blobs and forms.
  const written = new Response(body)
  const contentType = written.headers.get('content-type') ?? undefined
  return { data: new Uint8Array(await written.arrayBuffer()), contentType }
}

/** Synchronous variant for bodies that are already bytes. */
export function simplePayload(body: BodyInit): Payload | undefined {
  if (typeof body === 'string') return { data: body, contentType: 'text/plain;charset=UTF-8' }
  if (body instanceof URLSearchParams)
    return { data: body.toString(), contentType: 'application/x-www-form-urlencoded;charset=UTF-8' }
  if (body instanceof ArrayBuffer) return { data: new Uint8Array(body), contentType: undefined }
  if (ArrayBuffer.isView(body))
    return { data: new Uint8Array(body.buffer, body.byteOffset, body.byteLength), contentType: undefined }
  return undefined
}
