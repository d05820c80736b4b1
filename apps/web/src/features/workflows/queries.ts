/** Queries of workflows and runs. */
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import type { InferResponseType } from 'hono/client'
import { answer, client } from '../../lib/api.ts'
import type { Definition } from './definition/definition.ts'

type WorkflowAnswer = InferResponseType<(typeof client.api.workflows)[':id']['$get'], 200>
export type Workflow = Omit<WorkflowAnswer, 'definition'> & { definition: Definition }
type RunAnswer = InferResponseType<(typeof client.api.runs)[':id']['$get'], 200>
export type Run = Omit<RunAnswer, 'definition'> & { definition?: Definition }
export type RunStatus = Run['status']
export type Step = Run['steps'][number]
export type Preflight = InferResponseType<(typeof client.api.workflows)[':id']['check']['$post'], 200>

const PAGE = '50'

export const workflowsQuery = () =>
  infiniteQueryOptions({
    queryKey: ['workflows', 'list'],
    queryFn: async ({ signal, pageParam }) => {
      const query = { limit: PAGE, ...(pageParam === '' ? {} : { cursor: pageParam }) }
      const page = await answer(client.api.workflows.$get({ query }, { init: { signal } }))
      return { ...page, items: page.items as unknown as Workflow[] }
    },
    initialPageParam: '',
    getNextPageParam: ({ nextCursor }) => nextCursor,
  })

export const workflowQuery = (id: string) =>
  queryOptions({
    queryKey: ['workflows', 'one', id],
    queryFn: async ({ signal }) =>
      (await answer(
        client.api.workflows[':id'].$get({ param: { id }, query: {} }, { init: { signal } }),
      )) as unknown as Workflow,
  })

export const versionsQuery = (id: string) =>
  queryOptions({
    queryKey: ['workflows', 'versions', id],
    queryFn: async ({ signal }) => {
      const { items } = await answer(client.api.workflows[':id'].versions.$get({ param: { id } }, { init: { signal } }))
      return items as unknown as Workflow[]
    },
  })

export const runsQuery = (filter: { workflowId?: string } = {}) =>
  infiniteQueryOptions({
    queryKey: ['runs', 'list', filter],
    queryFn: async ({ signal, pageParam }) => {
      const query = { limit: PAGE, ...filter, ...(pageParam === '' ? {} : { cursor: pageParam }) }
      const page = await answer(client.api.runs.$get({ query }, { init: { signal } }))
      return { ...page, items: page.items as unknown as Run[] }
    },
    initialPageParam: '',
    getNextPageParam: ({ nextCursor }) => nextCursor,
  })

const MOVING: ReadonlySet<RunStatus> = new Set(['queued', 'running'])
/** Node events do not report the end of a run, so an active run is polled. */
const LOOK_MS = 1000

export const runQuery = (id: string) =>
  queryOptions({
    queryKey: ['runs', 'one', id],
    queryFn: async ({ signal }) =>
      (await answer(client.api.runs[':id'].$get({ param: { id } }, { init: { signal } }))) as unknown as Run,
    refetchInterval: ({ state: { data } }) => (data && MOVING.has(data.status) ? LOOK_MS : false),
  })
