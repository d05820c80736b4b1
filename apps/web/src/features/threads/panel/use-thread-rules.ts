/** Rules of a thread, which only tighten. Each change replaces the list. */
import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query'
import { answer, client } from '../../../lib/api.ts'
import type { PolicyRule } from '../../operator/queries.ts'

const route = client.api.threads[':id'].policy

export const threadRulesQuery = (id: string) =>
  queryOptions({
    queryKey: ['threads', id, 'rules'],
    queryFn: async ({ signal }) => (await answer(route.$get({ param: { id } }, { init: { signal } }))).rules,
  })

export function useSetThreadRules(id: string) {
  const queryClient = useQueryClient()
  return useMutation({
    mutationFn: (rules: PolicyRule[]) => answer(route.$put({ param: { id }, json: { rules } })),
    onSuccess: ({ rules }) => queryClient.setQueryData(threadRulesQuery(id).queryKey, rules),
    onSettled: () => queryClient.invalidateQueries({ queryKey: ['threads', id] }),
  })
}
