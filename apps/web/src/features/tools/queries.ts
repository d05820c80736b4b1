/** Queries of the tools page. */
import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import type { InferResponseType } from 'hono/client'
import { answer, client } from '../../lib/api.ts'
import type { Strategy } from './tools-search.ts'

export type ToolHit = InferResponseType<typeof client.api.tools.$get, 200>['tools'][number]
export type ExplainedTool = InferResponseType<typeof client.api.tools.explain.$get, 200>['items'][number]
export type ListedDecision = InferResponseType<typeof client.api.policy.decisions.$get, 200>['items'][number]

export const MAX_FOUND = 100

/** Searches tools exactly as a model does. */
export const searchQuery = (q: string, strategy: Strategy | undefined) =>
  queryOptions({
    queryKey: ['tools', 'search', q, strategy ?? 'as the model'],
    queryFn: ({ signal }) =>
      answer(
        client.api.tools.$get(
          { query: { q, limit: `${MAX_FOUND}`, ...(strategy ? { strategy } : {}) } },
          { init: { signal } },
        ),
      ),
    enabled: q.trim() !== '',
    // Keeps the previous results while the user types.
    placeholderData: keepPreviousData,
  })

export const toolExplainQuery = () =>
  queryOptions({
    queryKey: ['tools', 'explain'],
    queryFn: async ({ signal }) => {
      const { items } = await answer(client.api.tools.explain.$get({}, { init: { signal } }))
      return new Map(items.map((item) => [item.ref, item]))
    },
  })

export const declarationQuery = (toolkit: string, tool: string) =>
  queryOptions({
    queryKey: ['tools', 'declaration', toolkit, tool],
    queryFn: ({ signal }) =>
      answer(
        client.api.tools[':toolkit'][':tool'].declaration.$get({ param: { toolkit, tool } }, { init: { signal } }),
      ),
  })

export const toolDecisionsQuery = (toolkit: string) =>
  queryOptions({
    queryKey: ['grants', 'decisions', toolkit],
    queryFn: async ({ signal }) =>
      (await answer(client.api.policy.decisions.$get({ query: { toolkit } }, { init: { signal } }))).items,
  })
