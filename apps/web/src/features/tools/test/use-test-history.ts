/**
 * Runs tools and follows their events. Test runs continue while the user visits other pages; a reload cancels them, so
 * it asks first.
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

/** Local state without a live topic. Signing out clears it with the query client. */
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
      // A stream that ends without an outcome is lost; a finished test run stays as it is.
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
