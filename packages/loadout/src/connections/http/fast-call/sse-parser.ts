/**
 * Parses an event stream by the WHATWG rules with `eventsource-parser`. Input may be split anywhere, and an unfinished
 * event is dropped. A chunk with more than `MAX_INVALID_FIELDS` unknown fields throws, because the library creates an
 * error with a stack trace for each of them.
 */
import { createParser, type EventSourceParser } from 'eventsource-parser'
import { HostError } from '../../../errors.ts'

const MAX_INVALID_FIELDS = 1000

export class SseParser {
  /** ID of the last event that had one. */
  lastEventId: string | undefined
  retryMs: number | undefined
  readonly #parser: EventSourceParser
  #invalidFields = 0
  #afterReturn = false

  constructor(onEvent: (data: string, type: string) => void) {
    this.#parser = createParser({
      onEvent: ({ data, event, id }) => {
        if (id) this.lastEventId = id
        onEvent(data, event ?? '')
      },
      onRetry: (ms) => {
        this.retryMs = ms
      },
      onError: () => {
        if (++this.#invalidFields > MAX_INVALID_FIELDS)
          throw new HostError('protocol-error', {
            detail: `The event stream has more than ${MAX_INVALID_FIELDS} invalid fields in one chunk.`,
          })
      },
    })
  }

  feed(chunk: string): void {
    this.#invalidFields = 0
    const text = this.#normalize(chunk)
    if (text !== '') this.#parser.feed(text)
  }

  /** Replaces CR and CRLF with LF: the library delays a line that ends with CR until the next line. */
  #normalize(chunk: string): string {
    const start = this.#afterReturn && chunk.startsWith('\n') ? 1 : 0
    if (chunk !== '') this.#afterReturn = chunk.endsWith('\r')
    const text = start === 0 ? chunk : chunk.slice(start)
    return text.includes('\r') ? text.replace(/\r\n?/g, '\n') : text
  }
}
