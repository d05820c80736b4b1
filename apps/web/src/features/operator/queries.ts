/** Queries of the operator page. */
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import type { InferRequestType, InferResponseType } from 'hono/client'
import { answer, client } from '../../lib/api.ts'

const { app } = client.api

export type AppToolkit = InferResponseType<typeof app.toolkits.$get, 200>['toolkits'][number]
export type AppConfig = InferResponseType<typeof app.config.$get, 200>
export type AppConfigPatch = InferRequestType<typeof app.config.$patch>['json']
export type StartSettings = InferResponseType<typeof app.settings.$get, 200>
export type PolicyRule = InferResponseType<typeof client.api.policy.$get, 200>['rules'][number]
/** The key keeps typed text with its rule while rules move. */
export interface RuleRow {
  key: number
  rule: PolicyRule
}

export type User = InferResponseType<typeof client.api.users.$get, 200>['items'][number]
export type UserLink = InferResponseType<(typeof client.api.users)[':id']['link']['$post'], 201>

export const appToolkitsQuery = () =>
  queryOptions({
    queryKey: ['app', 'toolkits'],
    queryFn: ({ signal }) => answer(app.toolkits.$get({}, { init: { signal } })),
  })

export const appConfigQuery = () =>
  queryOptions({
    queryKey: ['app', 'config'],
    queryFn: ({ signal }) => answer(app.config.$get({}, { init: { signal } })),
  })

export const startSettingsQuery = () =>
  queryOptions({
    queryKey: ['app', 'settings'],
    queryFn: ({ signal }) => answer(app.settings.$get({}, { init: { signal } })),
  })

export const policyQuery = () =>
  queryOptions({
    queryKey: ['app', 'policy'],
    queryFn: ({ signal }) => answer(client.api.policy.$get({}, { init: { signal } })),
  })

export const usersQuery = () =>
  infiniteQueryOptions({
    queryKey: ['users', 'list'],
    queryFn: ({ signal, pageParam }) =>
      answer(
        client.api.users.$get(
          { query: { limit: '50', ...(pageParam === '' ? {} : { cursor: pageParam }) } },
          { init: { signal } },
        ),
      ),
    initialPageParam: '',
    getNextPageParam: ({ nextCursor }) => nextCursor,
  })
