import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { InferRequestType } from 'hono/client'
import { answer, client } from '../../lib/api.ts'
import { toastProblem } from '../../lib/problems.tsx'
import { type Preferences, preferencesQuery } from './queries.ts'

export type PreferencesPatch = InferRequestType<typeof client.api.preferences.$patch>['json']

/** Optimistic update; the response or the previous value replaces it. */
export function usePreferences() {
  const queryClient = useQueryClient()
  const { queryKey } = preferencesQuery()
  return useMutation({
    mutationFn: (json: PreferencesPatch) => answer(client.api.preferences.$patch({ json })),
    onMutate: async ({ costLimits: _, ...patch }) => {
      // An earlier response would revert the change for a moment.
      await queryClient.cancelQueries({ queryKey, exact: true })
      const before = queryClient.getQueryData(queryKey)
      if (before) queryClient.setQueryData(queryKey, { ...before, ...patch } as Preferences)
      return before
    },
    onSuccess: (saved) => {
      queryClient.setQueryData(queryKey, saved)
      queryClient.invalidateQueries({ queryKey: ['usage'] })
    },
    onError: (error, _, before) => {
      if (before) queryClient.setQueryData(queryKey, before)
      toastProblem(error)
    },
  })
}
