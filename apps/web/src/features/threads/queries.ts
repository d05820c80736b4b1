/** Queries of the thread pages, all under `threads` except runs and models, so that one event refreshes them. */
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import type { InferResponseType } from 'hono/client'
import { answer, client } from '../../lib/api.ts'

const threadRoutes = client.api.threads[':id']

export type Thread = InferResponseType<typeof threadRoutes.$get, 200>
export type Loadout = InferResponseType<typeof threadRoutes.loadout.$get, 200>
export type Explained = InferResponseType<typeof threadRoutes.explain.$get, 200>['items'][number]
export type StoredMessage = InferResponseType<typeof threadRoutes.messages.$get, 200>['items'][number]
export type Selection = InferResponseType<typeof threadRoutes.resolve.$post, 200>
export type ThreadRun = InferResponseType<(typeof client.api.runs)[':id']['$get'], 200>
export type ThreadApproval = InferResponseType<(typeof client.api.approvals)[':id']['$get'], 200>
export type Models = InferResponseType<typeof client.api.models.$get, 200>

const param = (id: string) => ({ param: { id } })
const PAGE = 50

export const threadsQuery = () =>
  infiniteQueryOptions({
    queryKey: ['threads', 'list'],
    queryFn: ({ pageParam, signal }) =>
      answer(
        client.api.threads.$get(
          { query: { limit: PAGE, ...(pageParam === '' ? {} : { cursor: pageParam }) } },
          { init: { signal } },
        ),
      ),
    initialPageParam: '',
    getNextPageParam: ({ nextCursor }) => nextCursor,
  })

export const threadQuery = (id: string) =>
  queryOptions({
    queryKey: ['threads', id, 'thread'],
    queryFn: ({ signal }) => answer(threadRoutes.$get(param(id), { init: { signal } })),
  })

export const messagesQuery = (id: string) =>
  infiniteQueryOptions({
    queryKey: ['threads', id, 'messages'],
    queryFn: ({ pageParam, signal }) =>
      answer(
        threadRoutes.messages.$get(
          { ...param(id), query: { limit: PAGE, ...(pageParam === '' ? {} : { cursor: pageParam }) } },
          { init: { signal } },
        ),
      ),
    initialPageParam: '',
    getNextPageParam: ({ nextCursor }) => nextCursor,
  })

export const loadoutQuery = (id: string) =>
  queryOptions({
    queryKey: ['threads', id, 'loadout'],
    queryFn: ({ signal }) => answer(threadRoutes.loadout.$get({ ...param(id), query: {} }, { init: { signal } })),
  })

export const activationsQuery = (id: string) =>
  queryOptions({
    queryKey: ['threads', id, 'activations'],
    queryFn: ({ signal }) => answer(threadRoutes.activations.$get(param(id), { init: { signal } })),
  })

export const loadedQuery = (id: string) =>
  queryOptions({
    queryKey: ['threads', id, 'loaded'],
    queryFn: async ({ signal }) => (await answer(threadRoutes.loaded.$get(param(id), { init: { signal } }))).items,
  })

export const threadExplainQuery = (id: string) =>
  queryOptions({
    queryKey: ['threads', id, 'explain'],
    queryFn: async ({ signal }) =>
      (await answer(threadRoutes.explain.$get({ ...param(id), query: {} }, { init: { signal } }))).items,
  })

export const modelsQuery = () =>
  queryOptions({
    queryKey: ['models'],
    queryFn: ({ signal }) => answer(client.api.models.$get({}, { init: { signal } })),
  })

/** Program runs of a thread, newest first, without steps. */
export const threadRunsQuery = (threadId: string) =>
  queryOptions({
    queryKey: ['runs', 'thread', threadId],
    queryFn: async ({ signal }) =>
      (await answer(client.api.runs.$get({ query: { threadId, limit: PAGE } }, { init: { signal } }))).items,
  })

const OVER = new Set<ThreadRun['status']>(['completed', 'failed', 'cancelled'])
export const isOver = (run: Pick<ThreadRun, 'status'>): boolean => OVER.has(run.status)

/** An active run is polled, because not every step has an event. */
const LOOK_AGAIN_MS = 700

export const threadRunQuery = (id: string) =>
  queryOptions({
    queryKey: ['runs', id],
    queryFn: ({ signal }) => answer(client.api.runs[':id'].$get(param(id), { init: { signal } })),
    refetchInterval: ({ state: { data } }) => (data && isOver(data) ? false : LOOK_AGAIN_MS),
  })
