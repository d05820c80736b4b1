/** Runs a tool and follows it: progress, questions, the outcome. Who leaves gives the call up. */
import { useEffect, useReducer, useRef } from 'react'
import { client, ProblemError, problemOf } from '../../api.ts'
import { readEvents } from './read-events.ts'
import { type CallProblem, isRunning, reduceTries, type Try, type TryAction } from './tries.ts'

export interface Tries {
  all: readonly Try[]
  run: (call: { toolkit: string; tool: string; ref: string; arguments: Record<string, unknown> }) => void
  cancel: (id: string) => void
  dispatch: (action: TryAction) => void
}

const LOST: CallProblem = {
  code: 'lost',
  detail: 'The connection ended before the call did, so the call was given up.',
  action: 'Look at Activity for what became of it, or run it again.',
}

export function useTries(): Tries {
  const [all, dispatch] = useReducer(reduceTries, [])
  const open = useRef(new Map<string, AbortController>())
  useEffect(() => {
    const running = open.current
    return () => {
      for (const controller of running.values()) controller.abort()
    }
  }, [])

  const isAnyRunning = all.some(isRunning)
  useEffect(() => {
    if (!isAnyRunning) return
    // A reload gives a call up too, and nothing here would say so afterwards.
    const ask = (event: BeforeUnloadEvent) => event.preventDefault()
    window.addEventListener('beforeunload', ask)
    return () => window.removeEventListener('beforeunload', ask)
  }, [isAnyRunning])

  const run: Tries['run'] = ({ toolkit, tool, ref, arguments: args }) => {
    const id = crypto.randomUUID()
    const controller = new AbortController()
    open.current.set(id, controller)
    dispatch({ type: 'begun', one: { id, ref, arguments: args, startedAt: Date.now(), status: 'running' } })
    follow({ toolkit, tool, arguments: args }, controller.signal, (event) =>
      dispatch({ type: 'event', id, event, at: Date.now() }),
    )
      // Whatever ended without an outcome was lost; one that has its own stays as it is.
      .then(() => dispatch({ type: 'failed', id, problem: LOST, at: Date.now() }))
      .catch((error: unknown) => {
        if (controller.signal.aborted) dispatch({ type: 'cancelled', id, at: Date.now() })
        else dispatch({ type: 'failed', id, problem: told(error), at: Date.now() })
      })
      .finally(() => open.current.delete(id))
  }
  const cancel = (id: string) => {
    open.current.get(id)?.abort()
    dispatch({ type: 'cancelled', id, at: Date.now() })
  }
  return { all, run, cancel, dispatch }
}

const told = (error: unknown): CallProblem => {
  if (!(error instanceof ProblemError)) return LOST
  const { code, detail, action, errors } = problemOf(error)
  return { code, detail, action, ...(errors ? { errors } : {}) }
}

interface Call {
  toolkit: string
  tool: string
  arguments: Record<string, unknown>
}

async function follow(
  { toolkit, tool, arguments: args }: Call,
  signal: AbortSignal,
  onEvent: (event: { event: string; data: string }) => void,
): Promise<void> {
  const response: Response = await client.api.tools[':toolkit'][':tool'].call.$post(
    { param: { toolkit, tool }, header: {}, json: { arguments: args } },
    { headers: { accept: 'text/event-stream' }, init: { signal } },
  )
  if (!response.ok || !response.body) throw new ProblemError(await response.json())
  for await (const event of readEvents(response.body)) onEvent(event)
}
