/** A run of a workflow as a stream: its nodes as they come, and at last the run. Who leaves the stream does not end the run. */
import type { Context } from 'hono'
import { streamSSE } from 'hono/streaming'
import type { Host, HostEvent, RunView } from 'loadout'
import type { Env } from './variables.ts'

const KEEP_ALIVE_MS = 25_000
/** Who reads too slowly is told the end of it all the same. */
const MOST_BEHIND = 10_000

type NodeEvent = Extract<HostEvent, { type: 'run-node' }>

export async function streamRun(
  c: Context<Env>,
  host: Host,
  { start, tell }: { start: () => Promise<RunView>; tell: (run: RunView) => object },
): Promise<Response> {
  const { userId } = c.var.principal
  const waiting: NodeEvent[] = []
  let wake = () => {}
  // From before it begins, so that no node is missed.
  const stop = host.events.on('run-node', (event) => {
    if (event.userId !== userId || waiting.length >= MOST_BEHIND) return
    waiting.push(event)
    wake()
  })
  const started = await start().catch((error: unknown) => {
    stop()
    throw error
  })
  return streamSSE(c, async (stream) => {
    const gone = new AbortController()
    stream.onAbort(() => gone.abort())
    const send = (event: string, data: object) => stream.writeSSE({ event, data: JSON.stringify(data) }).catch(() => {})
    const beat = setInterval(() => void send('still-here', {}), KEEP_ALIVE_MS)
    let end: RunView | undefined
    const ended = host.runs.settled(userId, started.id, { signal: gone.signal }).then((run) => {
      end = run
      wake()
    })
    try {
      await send('started', { runId: started.id, status: started.status })
      while (!gone.signal.aborted) {
        const event = waiting.shift()
        if (event) await sendNode(send, started.id, event)
        else if (end) break
        else await new Promise<void>((resolve) => (wake = resolve))
      }
      if (end && !gone.signal.aborted) await send('run', tell(end))
    } finally {
      clearInterval(beat)
      stop()
      await ended.catch(() => {})
    }
  })
}

async function sendNode(
  send: (event: string, data: object) => Promise<void>,
  runId: string,
  event: NodeEvent,
): Promise<void> {
  if (event.runId !== runId) return
  const { node, status, error } = event
  await send('node', { runId, node, status, ...(error ? { error } : {}) })
}
