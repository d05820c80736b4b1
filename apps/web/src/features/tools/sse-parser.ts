/** Parses server-sent events from a byte stream. */
import { createParser } from 'eventsource-parser'

export interface CallEvent {
  event: string
  data: string
}

const MAX_EVENT_CHARACTERS = 32 * 1024 * 1024

export async function* readEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<CallEvent> {
  const decoder = new TextDecoder()
  // Not every browser supports async iteration of streams.
  const reader = body.getReader()
  let events: CallEvent[] = []
  const parser = createParser({
    maxBufferSize: MAX_EVENT_CHARACTERS,
    onEvent: ({ event = 'message', data }) => void events.push({ event, data }),
    onError({ type }) {
      if (type === 'max-buffer-size-exceeded') throw new Error('The server sends more than this page can hold.')
    },
  })
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    parser.feed(decoder.decode(part.value, { stream: true }))
    yield* events
    events = []
  }
}
