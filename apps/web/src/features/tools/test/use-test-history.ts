/**
 * Runs a tool and follows it: progress, questions, the outcome. Who goes to another page gives nothing up: tries live as long as the
 * app does, and are there again when one comes back. A reload ends them, so it is asked about.
 */
import { type QueryClient, queryOptions, skipToken, useQuery, useQueryClient } from '@tanstack/react-query'
import { useMemo } from 'react'
import { client, ProblemError, problemOf } from '../../../lib/api.ts'
import { readEvents } from '../sse-parser.ts'
import { type CallProblem, isRunning, reduceTestHistory, type Try, type TryAction } from './test-history.ts'

export interface TestHistory {
  tests: readonly Try[]
  run: (call: { toolkit: string; tool: string; ref: string; arguments: Record<string, unknown> }) => void
  cancel: (id: string) => void
  dispatch: (action: TryAction) => void
}

const LOST: CallProblem = {
  code: 'lost',
  detail: 'The connection ended before the call did, so the call was given up.',
  action: 'Look at Activity for what became of it, or run it again.',
}

/** Not under a topic: nobody reads it from the server. It goes with all that is known of a user when they sign out. */
const triesQuery = () =>
  queryOptions<readonly Try[]>({
    queryKey: ['tries'],
    queryFn: skipToken,
    initialData: [],
    gcTime: Number.POSITIVE_INFINITY,
    structuralSharing: false,
  })

export function useTestHistory(): TestHistory {
  const queryClient = useQueryClient()
  const { data: tests = [] } = useQuery(triesQuery())
  const actions = useMemo(() => actionsOn(queryClient), [queryClient])
  return { tests, ...actions }
}

function actionsOn(queryClient: QueryClient): Omit<TestHistory, 'tests'> {
  const { queryKey } = triesQuery()
  const find = (id: string) => queryClient.getQueryData<readonly Try[]>(queryKey)?.find((test) => test.id === id)
  const dispatch = (action: TryAction) => {
    queryClient.setQueryData<readonly Try[]>(queryKey, (old) => old && reduceTestHistory(old, action))
  }
  const run: TestHistory['run'] = ({ toolkit, tool, ref, arguments: args }) => {
    const id = crypto.randomUUID()
    const controller = new AbortController()
    const stop = () => controller.abort()
    const ask = (event: BeforeUnloadEvent) => {
      const test = find(id)
      if (test && isRunning(test)) event.preventDefault()
    }
    window.addEventListener('beforeunload', ask)
    dispatch({ type: 'begun', test: { id, ref, arguments: args, startedAt: Date.now(), status: 'running', stop } })
    follow({ toolkit, tool, arguments: args }, controller.signal, (event) =>
      dispatch({ type: 'event', id, event, at: Date.now() }),
    )
      // Whatever ended without an outcome was lost; one that has its own stays as it is.
      .then(() => dispatch({ type: 'failed', id, problem: LOST, at: Date.now() }))
      .catch((error: unknown) => {
        if (controller.signal.aborted) dispatch({ type: 'cancelled', id, at: Date.now() })
        else dispatch({ type: 'failed', id, problem: toCallProblem(error), at: Date.now() })
      })
      .finally(() => window.removeEventListener('beforeunload', ask))
  }
  const cancel = (id: string) => {
    find(id)?.stop?.()
    dispatch({ type: 'cancelled', id, at: Date.now() })
  }
  return { run, cancel, dispatch }
}

const toCallProblem = (error: unknown): CallProblem => {
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
