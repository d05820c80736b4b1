/**
 * Streams the node states of a run and its result, whichever process runs it. Closing the stream does not cancel the
 * run.
 */

import type { HostEvent, RunView } from '@loadout/core'
import type { HostServices } from '@loadout/core/services'
import type { Context } from 'hono'
import { streamSSE } from 'hono/streaming'
import type { Env } from './env.ts'

const KEEP_ALIVE_MS = 25_000
/** Max node events buffered before the run id is known; later states come from the storage. */
const MAX_BEFORE = 10_000

type NodeEvent = Extract<HostEvent, { type: 'run-node' }>
type NodeState = Omit<NodeEvent, 'type' | 'userId' | 'runId'>
type Tell = (run: RunView) => object

/** Starts a run and streams it from its first node. */
export async function streamRun(
  c: Context<Env>,
  host: HostServices,
  { start, tell }: { start: () => Promise<RunView>; tell: Tell },
): Promise<Response> {
  const { userId } = c.var.principal
  const events: NodeEvent[] = []
  // Subscribes before the start, so that no node event is missed.
  const stop = host.events.on('run-node', (event) => {
    if (event.userId === userId && events.length < MAX_BEFORE) events.push(event)
  })
  try {
    const run = await start()
    const before = events
      .filter(({ runId }) => runId === run.id)
      .map(({ type: _, userId: __, runId: ___, ...state }) => state)
    return follow(c, host, { run, before, tell })
  } finally {
    stop()
  }
}

/** Streams a run that was started earlier. */
export async function streamStarted(
  c: Context<Env>,
  host: HostServices,
  { runId, tell }: { runId: string; tell: Tell },
): Promise<Response> {
  return follow(c, host, { run: await host.runs.get(c.var.principal.userId, runId), tell })
}

function follow(
  c: Context<Env>,
  host: HostServices,
  { run, before, tell }: { run: RunView; before?: readonly NodeState[]; tell: Tell },
): Response {
  const { userId } = c.var.principal
  const { id: runId, status, kind } = run
  const gone = new AbortController()
  const { signal } = gone
  // Programs have no nodes.
  const nodes = kind === 'workflow' ? host.workflows.follow(userId, runId, { signal, before }) : []
  return streamSSE(c, async (stream) => {
    stream.onAbort(() => gone.abort())
    const send = (event: string, data: object) => stream.writeSSE({ event, data: JSON.stringify(data) }).catch(() => {})
    const beat = setInterval(() => void send('still-here', {}), KEEP_ALIVE_MS)
    try {
      await send('started', { runId, status })
      for await (const state of nodes) await send('node', { runId, ...state })
      const end = await host.runs.settled(userId, runId, { signal })
      if (!signal.aborted) await send('run', tell(end))
    } finally {
      clearInterval(beat)
      gone.abort()
    }
  })
}
