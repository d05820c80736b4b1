/** Session of the current user. */

import { queryOptions, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import type { InferResponseType } from 'hono/client'
import { useEffect, useState } from 'react'
import { answer, client } from '../../lib/api.ts'
import { BASE_PATH } from '../../lib/base-path.ts'

export type Session = InferResponseType<typeof client.api.auth.session.$get, 200>
export type SignedIn = NonNullable<Session['user']>

export const sessionQuery = () =>
  queryOptions({
    queryKey: ['session'],
    queryFn: ({ signal }): Promise<Session> => answer(client.api.auth.session.$get({}, { init: { signal } })),
    staleTime: 60_000,
    // Another tab may have changed the session.
    refetchOnWindowFocus: 'always',
  })

export const useSession = (): Session | undefined => useQuery(sessionQuery()).data

/** Detects a user change: `gone` hides the page, so that no data of one user is shown to another. */
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
    window.location.replace(`${BASE_PATH}/connectors`)
  }, [gone, queryClient])
  return { gone }
}

/** Clears drafts and other tab data of the user. */
export function forgetHere(): void {
  try {
    for (const key of Object.keys(window.sessionStorage))
      if (key.startsWith('loadout-')) window.sessionStorage.removeItem(key)
    window.localStorage.removeItem('loadout-model')
  } catch {
    // Storage is blocked, so it has no data.
  }
}

/** Signs out and clears all data of the user in this browser. */
export function useSignOutHere() {
  const queryClient = useQueryClient()
  return useMutation({
    mutationFn: () => answer(client.api.auth['sign-out'].$post()),
    onSuccess: () => {
      forgetHere()
      queryClient.clear()
      window.location.assign(`${BASE_PATH}/sign-in`)
    },
  })
}
