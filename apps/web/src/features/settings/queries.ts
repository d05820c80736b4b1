/** Queries of the settings page. */
import { queryOptions } from '@tanstack/react-query'
import type { InferResponseType } from 'hono/client'
import { answer, client } from '../../lib/api.ts'

export type Preferences = InferResponseType<typeof client.api.preferences.$get, 200>
export type SavedPermission = InferResponseType<typeof client.api.grants.$get, 200>['items'][number]
export type ApiKey = InferResponseType<typeof client.api.keys.$get, 200>['items'][number]
export type NewApiKey = InferResponseType<typeof client.api.keys.$post, 201>
export type SignInSession = InferResponseType<typeof client.api.auth.sessions.$get, 200>['items'][number]
export type ConfigImportReport = InferResponseType<typeof client.api.mcp.import.$post, 200>

export const preferencesQuery = () =>
  queryOptions({
    queryKey: ['preferences'],
    queryFn: ({ signal }) => answer(client.api.preferences.$get({}, { init: { signal } })),
  })

export const settingsRulesQuery = () =>
  queryOptions({
    queryKey: ['preferences', 'rules'],
    queryFn: async ({ signal }) => (await answer(client.api.policy.own.$get({}, { init: { signal } }))).rules,
  })

export const grantsQuery = () =>
  queryOptions({
    queryKey: ['grants'],
    queryFn: async ({ signal }) => (await answer(client.api.grants.$get({}, { init: { signal } }))).items,
  })

export const keysQuery = () =>
  queryOptions({
    queryKey: ['keys'],
    queryFn: async ({ signal }) => (await answer(client.api.keys.$get({}, { init: { signal } }))).items,
  })

export const sessionsQuery = () =>
  queryOptions({
    queryKey: ['session', 'all'],
    queryFn: async ({ signal }) => (await answer(client.api.auth.sessions.$get({}, { init: { signal } }))).items,
  })
