/** Who looks at the page. */
import { queryOptions, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import type { InferResponseType } from 'hono/client'
import { useEffect, useState } from 'react'
import { answer, client } from '../../lib/api.ts'

export type Session = InferResponseType<typeof client.api.auth.session.$get, 200>
export type SignedIn = NonNullable<Session['user']>

export const sessionQuery = () =>
  queryOptions({
    queryKey: ['session'],
    queryFn: ({ signal }): Promise<Session> => answer(client.api.auth.session.$get({}, { init: { signal } })),
    staleTime: 60_000,
    // Somebody else may have signed in in another tab.
    refetchOnWindowFocus: 'always',
  })

export const useSession = (): Session | undefined => useQuery(sessionQuery()).data

/** Who came to this page first; `gone` once it is somebody else's: nothing of one person may be on another's page. */
export function useSameUser(): { gone: boolean } {
  const queryClient = useQueryClient()
  const user = useSession()?.user?.id
  const [first, setFirst] = useState(user)
  if (user !== undefined && first === undefined) setFirst(user)
  const gone = user !== undefined && first !== undefined && user !== first
  useEffect(() => {
    if (!gone) return
    forgetHere()
    queryClient.clear()
    window.location.replace('/connectors')
  }, [gone, queryClient])
  return { gone }
}

/** Drafts and what else this tab keeps of who was here. */
export function forgetHere(): void {
  try {
    for (const key of Object.keys(window.sessionStorage))
      if (key.startsWith('loadout-')) window.sessionStorage.removeItem(key)
    window.localStorage.removeItem('loadout-model')
  } catch {
    // Storage is blocked: nothing is kept there.
  }
}

/** Leaves nothing of who was here for who comes next. */
export function useSignOutHere() {
  const queryClient = useQueryClient()
  return useMutation({
    mutationFn: () => answer(client.api.auth['sign-out'].$post()),
    onSuccess: () => {
      forgetHere()
      queryClient.clear()
      window.location.assign('/sign-in')
    },
  })
}
