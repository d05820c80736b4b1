/** Queries of the servers page. The first part of a key is its live topic. */
import { queryOptions } from '@tanstack/react-query'
import type { InferResponseType } from 'hono/client'
import { answer, client } from '../../lib/api.ts'
import type { OfferedItem } from './tools/offered.ts'

export type Grant = InferResponseType<typeof client.api.grants.$get, 200>['items'][number]
export type Rule = InferResponseType<typeof client.api.policy.own.$get, 200>['rules'][number]
export type ToolDecision = InferResponseType<typeof client.api.policy.decisions.$get, 200>['items'][number]
export type Question = InferResponseType<typeof client.api.inputs.$get, 200>['items'][number]
export type ImportReport = InferResponseType<(typeof client.api.mcp.import)['$post'], 200>
export type ImportedEntry = ImportReport['entries'][number]

export const userRulesQuery = () =>
  queryOptions({
    queryKey: ['preferences', 'rules-of-tools'],
    queryFn: async ({ signal }) => (await answer(client.api.policy.own.$get({}, { init: { signal } }))).rules,
  })

export const toolGrantsQuery = () =>
  queryOptions({
    queryKey: ['grants', 'of-tools'],
    queryFn: async ({ signal }) => (await answer(client.api.grants.$get({}, { init: { signal } }))).items,
  })

/** `stamp` changes with grants, which belong to another topic. */
export const decisionsQuery = (toolkit: string, stamp: number) =>
  queryOptions({
    queryKey: ['tools', 'decisions', toolkit, stamp],
    queryFn: async ({ signal }) => {
      const { items } = await answer(client.api.policy.decisions.$get({ query: { toolkit } }, { init: { signal } }))
      return new Map(items.map((item) => [item.ref, item]))
    },
    placeholderData: (old) => old,
  })

export const questionsQuery = () =>
  queryOptions({
    queryKey: ['inputs', 'of-toolkits'],
    queryFn: async ({ signal }) => (await answer(client.api.inputs.$get({}, { init: { signal } }))).items,
  })

export type StdioRules = InferResponseType<typeof client.api.stdio.$get, 200>
export type StdioTemplate = StdioRules['templates'][number]
export type TemplateHole = StdioTemplate['holes'][number]['hole']

/** Stdio policy of the user. It changes only with a server restart, which refetches everything. */
export const stdioQuery = () =>
  queryOptions({
    queryKey: ['app', 'stdio'],
    queryFn: ({ signal }) => answer(client.api.stdio.$get({}, { init: { signal } })),
    staleTime: 60_000,
  })

export const OFFERED = ['resources', 'prompts'] as const
export type Offered = (typeof OFFERED)[number]

export const offeredQuery = (toolkit: string, kind: Offered) =>
  queryOptions({
    queryKey: ['toolkits', kind, toolkit],
    queryFn: async ({ signal }) =>
      (await answer(client.api.mcp[':id'][kind].$get({ param: { id: toolkit } }, { init: { signal } }))).items,
    retry: false,
  })

export const templatesQuery = (toolkit: string) =>
  queryOptions({
    queryKey: ['toolkits', 'templates', toolkit],
    queryFn: async ({ signal }) =>
      (await answer(client.api.mcp[':id'].resources.templates.$get({ param: { id: toolkit } }, { init: { signal } })))
        .items,
    retry: false,
  })

interface PartialArgument {
  argument: { name: string; value: string }
  arguments: Record<string, string>
}

/** The server's suggestions for an argument. A server that refuses gives an empty list. */
export const suggestionsQuery = (id: string, item: OfferedItem, partial: PartialArgument) =>
  queryOptions({
    queryKey: ['toolkits', 'suggestions', id, item, partial],
    queryFn: async ({ signal }) => {
      if (item.kind === 'resource') return []
      const ref = item.kind === 'prompt' ? { prompt: item.name } : { uriTemplate: item.uriTemplate }
      const json = { ref, ...partial }
      return (await answer(client.api.mcp[':id'].complete.$post({ param: { id }, json }, { init: { signal } }))).values
    },
    placeholderData: (old) => old,
    retry: false,
    staleTime: 60_000,
  })
