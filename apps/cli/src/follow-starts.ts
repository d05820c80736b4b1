/** Prints the start progress of servers while a command waits. */
import { createParser, type EventSourceMessage } from 'eventsource-parser'
import type { Client } from './client.ts'

/** Runs `work` and writes each new phase or output line of servers that start meanwhile. */
export async function followStarts<T>(
  client: Client,
  write: (line: string) => void,
  work: () => Promise<T>,
): Promise<T> {
  const response: Response = await client.api.events.$get()
  const reader = response.body?.getReader()
  const following = reader && response.ok ? read(reader, startLines(write)) : Promise.resolve()
  try {
    return await work()
  } finally {
    await reader?.cancel().catch(() => {})
    await following.catch(() => {})
  }
}

async function read(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  onEvent: (event: EventSourceMessage) => void,
): Promise<void> {
  const decoder = new TextDecoder()
  const parser = createParser({ onEvent })
  for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read())
    parser.feed(decoder.decode(chunk.value, { stream: true }))
}

interface StateChanged {
  toolkit: string
  state: { status: string; phase?: string; lastLine?: string }
}

/** Converts state changes into progress lines and skips repeated ones. */
export function startLines(write: (line: string) => void): (event: EventSourceMessage) => void {
  const last = new Map<string, string>()
  return ({ event, data }) => {
    if (event !== 'state-changed') return
    const { toolkit, state } = JSON.parse(data) as StateChanged
    if (state.status !== 'connecting' || state.phase === undefined) return
    const line = `${toolkit}: ${state.phase}${state.lastLine ? ` (${state.lastLine})` : ''}`
    if (last.get(toolkit) === line) return
    last.set(toolkit, line)
    write(line)
  }
}
