/**
 * The fast path over `node:http`. It reads a 200 response with JSON or an event stream; any other response is returned
 * unread.
 */
import type { IncomingMessage } from 'node:http'
import { HostError } from '../../../errors.ts'
import { LeanResponse } from '../client/lazy-response.ts'
import { type HttpRequest, type ResponseHandlers, responseHead, startRequest } from '../client/request.ts'
import type { ResponseBody, Sink } from '../client/response-body.ts'
import type { PostFn, ResponseReader } from './contract.ts'
import { SseParser } from './sse-parser.ts'

const JSON_TYPE = /^application\/json *(;[^,]*)?$/i
const EVENTS_TYPE = /^text\/event-stream *(;[^,]*)?$/i

export function sendPrepared(prepared: Omit<HttpRequest, 'method' | 'payload' | 'onBodyFailure'>): PostFn {
  const { url, route, repeatable, maxResponseBytes, traffic } = prepared
  return ({ body, headers, onBodyFailure }, reader) => {
    if (traffic.closed) throw new HostError('shutting-down')
    const outgoing: HttpRequest = {
      url,
      method: 'POST',
      headers: [...prepared.headers, ...headers, 'content-length', String(Buffer.byteLength(body))],
      payload: { data: body, contentType: undefined },
      repeatable,
      route,
      maxResponseBytes,
      traffic,
      onBodyFailure,
    }
    return startRequest(outgoing, createHandlers(reader, outgoing))
  }
}

function createHandlers(reader: ResponseReader, { url, onBodyFailure }: HttpRequest): ResponseHandlers {
  return {
    onAnswer(message, body) {
      const type = message.statusCode === 200 && body ? readContentType(message) : ''
      if (body && JSON_TYPE.test(type)) body.consume(jsonSink(reader))
      else if (body && EVENTS_TYPE.test(type)) {
        const fail = (error: HostError) => {
          onBodyFailure?.(error)
          body.abort(error)
        }
        body.consume(eventSink(reader, fail))
      } else reader.onOther(toResponse(message, body, url))
    },
    onFailure: (error) => reader.onFailure(error),
    onDone: () => reader.onDone(),
  }
}

const toResponse = (message: IncomingMessage, body: ResponseBody | undefined, url: URL) =>
  new LeanResponse(responseHead(message, url), body ?? null)

/** Empty if the response has several content types. */
function readContentType({ rawHeaders }: IncomingMessage): string {
  let found: string | undefined
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? ''
    if (name.length !== 12 || name.toLowerCase() !== 'content-type') continue
    if (found !== undefined) return ''
    found = rawHeaders[index + 1]
  }
  return found ?? ''
}

function jsonSink(reader: ResponseReader): Sink {
  const chunks: Buffer[] = []
  return {
    onChunk: (chunk) => void chunks.push(chunk),
    onEnd(error) {
      const [first] = chunks
      if (error !== undefined) reader.onFailure(error)
      else reader.onJson(stripBom((first && chunks.length === 1 ? first : Buffer.concat(chunks)).toString()))
    },
  }
}

/** `fail` ends a stream that cannot be parsed. */
function eventSink(reader: ResponseReader, fail: (error: HostError) => void): Sink {
  const parser = new SseParser((data, type) => {
    if (data !== '' && (type === '' || type === 'message')) reader.onEvent(data)
  })
  let decoder: TextDecoder | undefined
  let isFirst = true
  return {
    onChunk(chunk) {
      // Most chunks end at a character boundary, and a stateful decoder costs more than the rest of an event.
      if ((chunk.at(-1) ?? 0) >= 0x80) decoder ??= new TextDecoder('utf-8', { ignoreBOM: true })
      const text = decoder ? decoder.decode(chunk, { stream: true }) : chunk.toString()
      try {
        parser.feed(isFirst ? stripBom(text) : text)
      } catch (error) {
        fail(HostError.from(error))
      }
      if (text !== '') isFirst = false
    },
    onEnd: () => reader.onStreamEnd(parser),
  }
}

const stripBom = (text: string) => (text.startsWith('\uFEFF') ? text.slice(1) : text)
