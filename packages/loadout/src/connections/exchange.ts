/**
 * One request and its answer, over a pooled connection. Follows no redirects.
 *
 * A request is repeated, once and on a new connection, when a kept connection turns out to be closed before any byte of an
 * answer. What may be done twice (GET, HEAD, OPTIONS, PUT, DELETE, or with an idempotency key) is repeated whatever was
 * sent; a POST only when writing it failed, because then it cannot have arrived whole. A POST that was sent and met a
 * closed connection fails instead: a server that broke down over a call looks the same, and no tool may run twice.
 */
import type { ClientRequest, IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import { HostError } from '../errors.ts'
import type { Route } from './guarded-agents.ts'
import { LeanResponse } from './lean-response.ts'
import { isReset, isUnsent, networkError, tooLarge } from './network-errors.ts'
import type { Payload } from './request-body.ts'
import { decoded, ResponseBody } from './response-body.ts'

/** What is under way, to be ended together. */
export interface Traffic {
  closed: boolean
  requests: Set<ClientRequest>
}

export interface Exchange {
  url: URL
  method: string
  /** Names and values in turn. */
  headers: string[]
  payload: Payload | undefined
  /** Whether the request may arrive twice. */
  repeatable: boolean
  signal: AbortSignal | undefined
  route: Route
  maxResponseBytes: number
  traffic: Traffic
  /** Told why a body broke off: who reads a stream may learn only that it did. */
  onBodyFailure?: ((error: HostError) => void) | undefined
}

const WITHOUT_BODY = new Set([204, 205, 304])

export function exchange(outgoing: Exchange): Promise<LeanResponse> {
  return new Promise((resolve, reject) => attempt({ outgoing, resolve, reject, fresh: false }))
}

interface Attempt {
  outgoing: Exchange
  resolve: (response: LeanResponse) => void
  reject: (error: unknown) => void
  fresh: boolean
}

function attempt(current: Attempt): void {
  const { outgoing, resolve, reject, fresh } = current
  const { url, method, headers, route, signal, traffic } = outgoing
  if (signal?.aborted) {
    reject(signal.reason)
    return
  }
  const request = route.send({ ...route.target, method, headers, agent: route.agent(fresh) })
  let body: ResponseBody | undefined
  let settled = false
  const onAbort = () => {
    reject(signal?.reason)
    body?.abort(signal?.reason)
    request.destroy()
  }
  const release = () => signal?.removeEventListener('abort', onAbort)
  const fail = (error: Error) => {
    if (settled) return
    settled = true
    release()
    if (!fresh && mayRepeat(outgoing, request, error)) attempt({ ...current, fresh: true })
    else reject(explain(error, outgoing))
  }
  signal?.addEventListener('abort', onAbort)
  traffic.requests.add(request)
  request.once('response', (message: IncomingMessage) => {
    settled = true
    try {
      body = bodyOf(message, outgoing, release)
      resolve(new LeanResponse({ ...headOf(message), url: hrefOf(url) }, body ?? null))
    } catch (error) {
      release()
      reject(error)
      request.destroy()
    }
  })
  request.on('error', fail)
  request.once('close', () => {
    traffic.requests.delete(request)
    // An answer that switches protocols closes the connection without a word.
    if (!settled) fail(closedEarly())
  })
  write(request, outgoing.payload?.data)
}

function write(request: ClientRequest, data: string | Uint8Array | Readable | undefined): void {
  if (data === undefined) request.end()
  else if (typeof data === 'string' || data instanceof Uint8Array) request.end(data)
  else data.on('error', (error) => request.destroy(error)).pipe(request)
}

function mayRepeat({ payload, repeatable, signal, traffic }: Exchange, request: ClientRequest, error: Error): boolean {
  if (!request.reusedSocket || signal?.aborted || traffic.closed) return false
  const data = payload?.data
  if (data !== undefined && typeof data !== 'string' && !(data instanceof Uint8Array)) return false
  return repeatable ? isReset(error) : isUnsent(error)
}

function bodyOf(message: IncomingMessage, outgoing: Exchange, release: () => void): ResponseBody | undefined {
  const { headers, statusCode = 0 } = message
  const { url, maxResponseBytes: limit } = outgoing
  const length = headers['content-length']
  if (outgoing.method === 'HEAD' || WITHOUT_BODY.has(statusCode) || length === '0') {
    message.resume()
    release()
    return undefined
  }
  const perEvent = /^text\/event-stream\b/i.test(headers['content-type'] ?? '')
  if (!perEvent && Number(length) > limit) throw tooLarge(url.origin, limit)
  return new ResponseBody(decoded(message, headers['content-encoding']), {
    limit,
    perEvent,
    explain: (error) => explain(error ?? closedEarly(), outgoing),
    tooLarge: () => {
      const error = tooLarge(url.origin, limit, perEvent ? 'event' : 'answer')
      outgoing.onBodyFailure?.(error)
      return error
    },
    onDone: release,
  })
}

function explain(error: unknown, { url, signal, traffic }: Exchange): unknown {
  if (signal?.aborted) return signal.reason
  return traffic.closed ? new HostError('shutting-down', { cause: error }) : networkError(error, url.origin)
}

function closedEarly(): Error {
  return Object.assign(new Error('closed'), { code: 'ECONNRESET' })
}

function headOf({ rawHeaders, statusCode = 0, statusMessage = '' }: IncomingMessage) {
  const headers = new Headers()
  for (let index = 0; index < rawHeaders.length; index += 2)
    headers.append(rawHeaders[index] ?? '', rawHeaders[index + 1] ?? '')
  return { status: statusCode, statusText: statusMessage, headers }
}

function hrefOf(url: URL): string {
  return url.hash ? url.href.slice(0, -url.hash.length) : url.href
}
