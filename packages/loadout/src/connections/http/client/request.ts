/**
 * One request and its answer, over a pooled connection. Follows no redirects.
 *
 * A request is repeated, once and on a new connection, when a kept connection turns out to be closed before any byte of an
 * answer. What may be done twice (GET, HEAD, OPTIONS, PUT, DELETE, or with an idempotency key) is repeated whatever was
 * sent; a POST only when writing it failed, because then it cannot have arrived whole. A POST that was sent and met a
 * closed connection fails instead: a server that broke down over a call looks the same, and no tool may run twice.
 */

import type { ClientRequest, IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import type { ReadableStream as WebStream } from 'node:stream/web'
import { HostError } from '../../../errors.ts'
import type { Route } from '../guard/agents.ts'
import { LeanResponse } from './lazy-response.ts'
import { isReset, isUnsent, networkError, tooLarge } from './network-errors.ts'
import { decode, ResponseBody } from './response-body.ts'

/** What is under way, to be ended together. */
export interface InFlight {
  closed: boolean
  requests: Set<ClientRequest>
}

export interface HttpRequest {
  url: URL
  method: string
  /** Names and values in turn. */
  headers: string[]
  payload: Payload | undefined
  /** Whether the request may arrive twice. */
  repeatable: boolean
  route: Route
  maxResponseBytes: number
  traffic: InFlight
  /** Told why a body broke off: who reads a stream may learn only that it did. */
  onBodyFailure?: ((error: HostError) => void) | undefined
}

/** Who waits for an answer: gets it, or why there is none. */
export interface ResponseHandlers {
  onAnswer(message: IncomingMessage, body: ResponseBody | undefined): void
  onFailure(error: unknown): void
  /** Nothing more will arrive of an answer. */
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

/** Sends it. What is given back ends it: who waits for the answer, or reads it, gets the reason. */
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
  /** Whether nothing more will arrive: its connection may already be another's. */
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
      // An answer that switches protocols closes the connection without a word.
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
    if (!perEvent && Number(length) > limit) throw tooLarge(url.origin, limit)
    return new ResponseBody(decode(message, headers['content-encoding']), {
      limit,
      perEvent,
      explain: (error) => this.#explain(error ?? closedEarly()),
      tooLarge: () => {
        const error = tooLarge(url.origin, limit, perEvent ? 'event' : 'answer')
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

/** The body of a request as bytes, with the content type that `fetch` would give it. */
export interface Payload {
  /** What is written at once. A stream is read while it is sent, and only once. */
  data: string | Uint8Array | Readable
  contentType: string | undefined
}

export async function createPayload(body: BodyInit): Promise<Payload> {
  if (body instanceof ReadableStream)
    return { data: Readable.fromWeb(body as WebStream<Uint8Array>), contentType: undefined }
  // Blobs and forms: the platform knows how to write them.
  const written = new Response(body)
  const contentType = written.headers.get('content-type') ?? undefined
  return { data: new Uint8Array(await written.arrayBuffer()), contentType }
}

/** The same without waiting, for what is already bytes. */
export function simplePayload(body: BodyInit): Payload | undefined {
  if (typeof body === 'string') return { data: body, contentType: 'text/plain;charset=UTF-8' }
  if (body instanceof URLSearchParams)
    return { data: body.toString(), contentType: 'application/x-www-form-urlencoded;charset=UTF-8' }
  if (body instanceof ArrayBuffer) return { data: new Uint8Array(body), contentType: undefined }
  if (ArrayBuffer.isView(body))
    return { data: new Uint8Array(body.buffer, body.byteOffset, body.byteLength), contentType: undefined }
  return undefined
}
