/** Parses server-sent events from a byte stream. */

export interface CallEvent {
  event: string
  data: string
}

const MAX_EVENT = 32 * 1024 * 1024

export async function* readEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<CallEvent> {
  const decoder = new TextDecoder()
  // Not every browser supports async iteration of streams.
  const reader = body.getReader()
  let text = ''
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    text += decoder.decode(part.value, { stream: true }).replaceAll('\r', '')
    if (text.length > MAX_EVENT) throw new Error('The server sends more than this page can hold.')
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      const event = readEvent(text.slice(0, end))
      text = text.slice(end + 2)
      if (event) yield event
    }
  }
}

export function readEvent(block: string): CallEvent | undefined {
  let event = 'message'
  const data: string[] = []
  for (const line of block.split('\n')) {
    if (line.startsWith('event:')) event = line.slice(6).trim()
    if (line.startsWith('data:')) data.push(line.slice(5).replace(/^ /, ''))
  }
  return data.length > 0 ? { event, data: data.join('\n') } : undefined
}
