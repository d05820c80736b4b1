/** Queries of the activity page. */
import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query'
import type { InferResponseType } from 'hono/client'
import { answer, client } from '../../lib/api.ts'
import { type ActivitySearch, auditQuery, type Range } from './activity-search.ts'

export type LogPage = { items: AuditEntry[]; nextCursor?: string | undefined }
export interface AuditEntry {
  id: string
  at: string
  userId: string
  action: string
  source: string
  ref: string | null
  outcome: string | null
  threadId: string | null
  runId: string | null
  callId: string | null
  detail: Record<string, unknown>
  hash: string
}

export type Usage = InferResponseType<typeof client.api.usage.$get, 200>
export type UsageHistory = InferResponseType<typeof client.api.usage.history.$get, 200>

export const PAGE = 100
/** Max entries that the server searches for one page when it must read their details. */
export const MAX_ENTRIES = 10_000

/** The route returns JSON or a file, so its response type does not fit the typed client. */
async function readLog(query: Record<string, string | number>, signal: AbortSignal): Promise<LogPage> {
  return (await answer(client.api.audit.$get({ query } as never, { init: { signal } }) as never)) as LogPage
}

/** `live`: whether new entries refresh the query. */
export const logQuery = (search: ActivitySearch, live: boolean) =>
  infiniteQueryOptions({
    queryKey: [live ? 'audit' : 'kept', 'log', auditQuery({ ...search, range: '' }, new Date()), search.range ?? ''],
    queryFn: ({ pageParam, signal }) =>
      readLog(
        { ...auditQuery(search, new Date()), limit: PAGE, ...(pageParam === '' ? {} : { cursor: pageParam }) },
        signal,
      ),
    initialPageParam: '',
    getNextPageParam: ({ nextCursor }) => nextCursor,
    placeholderData: keepPreviousData,
    // Turning live on shows new entries at once.
    staleTime: 0,
  })

/** All audit entries of one call. */
export const callEntriesQuery = (callId: string) =>
  queryOptions({
    queryKey: ['audit', 'call', callId],
    queryFn: async ({ signal }) => (await readLog({ callId, limit: PAGE }, signal)).items,
  })

export const usageQuery = () =>
  queryOptions({
    queryKey: ['usage', 'limits'],
    queryFn: ({ signal }) => answer(client.api.usage.$get({}, { init: { signal } })),
  })

export const historyQuery = (range: Range) =>
  queryOptions({
    queryKey: ['usage', 'history', range],
    queryFn: ({ signal }) => answer(client.api.usage.history.$get({ query: { range } }, { init: { signal } })),
    placeholderData: keepPreviousData,
  })
