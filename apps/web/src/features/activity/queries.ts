/** What the page of activity reads. */
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
/** How many lines the server looks at for one page, where it must look into them. */
export const MAX_ENTRIES = 10_000

/** The log answers with JSON, or as a file: which of them depends on what is asked for. */
async function readLog(query: Record<string, string | number>, signal: AbortSignal): Promise<LogPage> {
  return (await answer(client.api.audit.$get({ query } as never, { init: { signal } }) as never)) as LogPage
}

/** `live`: whether it is read again as lines come; else it stays as it was read. */
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
    // Who switches to what is new sees it at once.
    staleTime: 0,
  })

/** All that the log has of one call. */
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
