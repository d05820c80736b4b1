/** Who looks at the page. */
import { queryOptions, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import type { InferResponseType } from 'hono/client'
import { answer, client } from '../../api.ts'

export type Session = InferResponseType<typeof client.api.auth.session.$get, 200>
export type SignedIn = NonNullable<Session['user']>

export const sessionQuery = () =>
  queryOptions({
    queryKey: ['session'],
    queryFn: ({ signal }): Promise<Session> => answer(client.api.auth.session.$get({}, { init: { signal } })),
    staleTime: 60_000,
  })

export const useSession = (): Session | undefined => useQuery(sessionQuery()).data

/** Leaves nothing of who was here for who comes next. */
export function useSignOutHere() {
  const queryClient = useQueryClient()
  return useMutation({
    mutationFn: () => answer(client.api.auth['sign-out'].$post()),
    onSuccess: () => {
      queryClient.clear()
      window.location.assign('/sign-in')
    },
  })
}
