/** Server-sent events of the API as they arrive. */
export interface ApiEvent {
  event: string
  data: ReturnType<typeof JSON.parse>
}

export interface EventLog {
  readonly events: ApiEvent[]
  /** The data of all events of a name. */
  all(event: string): Array<ApiEvent['data']>
  names(): string[]
  /** When the API ended the stream. */
  readonly done: Promise<void>
  /** The reader goes away. */
  stop(): void
}

export function readEvents(url: string, init: RequestInit = {}): EventLog {
  const events: ApiEvent[] = []
  const gone = new AbortController()
  const done = read(url, { ...init, signal: gone.signal }, (event) => void events.push(event)).catch((error) => {
    if (!gone.signal.aborted) throw error
  })
  return {
    events,
    all: (name) => events.filter(({ event }) => event === name).map(({ data }) => data),
    names: () => events.map(({ event }) => event),
    done,
    stop: () => gone.abort(),
  }
}

async function read(url: string, init: RequestInit, onEvent: (event: ApiEvent) => void): Promise<void> {
  const response = await fetch(url, init)
  if (!response.headers.get('content-type')?.includes('text/event-stream'))
    throw new Error(`No stream: ${response.status} ${await response.text()}`)
  let text = ''
  for await (const part of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += part
    const blocks = text.split('\n\n')
    text = blocks.pop() ?? ''
    for (const block of blocks) onEvent(readBlock(block))
  }
}

function readBlock(block: string): ApiEvent {
  const field = (name: string) =>
    block
      .split('\n')
      .filter((line) => line.startsWith(`${name}: `))
      .map((line) => line.slice(name.length + 2))
      .join('\n')
  return { event: field('event'), data: JSON.parse(field('data') || '{}') }
}
