/** OAuth sign-in to servers in a popup, which reports its end over a broadcast channel. */
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { toast } from 'sonner'
import { answer, client, problemOf, type Toolkit, toolkitsQuery } from '../../lib/api.ts'

/** The callback page posts to this channel. */
const CHANNEL = 'loadout-sign-in'
const WINDOW = 'popup,width=520,height=720'

const linkFor = (toolkit: Toolkit) => answer(client.api.oauth.start.$post({ json: { toolkit: toolkit.uscoId } }))

function tell(error: unknown): void {
  const { title, detail, action } = problemOf(error)
  toast.error(title, { description: `${detail} ${action}` })
}

/**
 * Browsers allow popups only during a click, so an empty window is opened first and navigated once the link is there.
 * If popups are blocked, this page navigates instead.
 */
export function useSignIn() {
  const start = useMutation({
    mutationFn: ({ toolkit }: { toolkit: Toolkit; opened: Window | null }) => linkFor(toolkit),
    onSuccess: ({ url }, { opened }) => {
      if (opened && !opened.closed) opened.location.replace(url)
      else window.location.assign(url)
    },
    onError: (error, { opened }) => {
      opened?.close()
      tell(error)
    },
  })
  return (toolkit: Toolkit) => {
    const opened = window.open('about:blank', '_blank', WINDOW)
    // The third-party page must not access this window.
    if (opened) opened.opener = null
    start.mutate({ toolkit, opened })
  }
}

/** Copies a sign-in link for another device. */
export function useCopySignInLink() {
  const { mutate } = useMutation({
    mutationFn: async (toolkit: Toolkit) => {
      const { url, expiresAt, sameMachine } = await linkFor(toolkit)
      await navigator.clipboard.writeText(url)
      return { minutes: Math.max(1, Math.round((Date.parse(expiresAt) - Date.now()) / 60_000)), sameMachine }
    },
    onSuccess: ({ minutes, sameMachine }) =>
      toast.success('Link copied', {
        description: sameMachine
          ? `Open it on this machine within ${minutes} minutes. It works once. For other devices the server needs LOADOUT_PUBLIC_URL.`
          : `Open it on any device within ${minutes} minutes. It works once.`,
      }),
    onError: tell,
  })
  return mutate
}

export function useSignOut() {
  const queryClient = useQueryClient()
  const { mutate } = useMutation({
    mutationFn: (toolkit: Toolkit) => answer(client.api.oauth.disconnect.$post({ json: { toolkit: toolkit.uscoId } })),
    onSuccess: ({ revoked }, { name }) =>
      toast.success(`Signed out of ${name}`, {
        description: revoked ? 'The server has revoked the access.' : 'The access is forgotten here.',
      }),
    onError: tell,
    onSettled: () => queryClient.invalidateQueries(toolkitsQuery()),
  })
  return mutate
}

/** Refreshes the list after sign-ins in other windows. */
export function useSignInNews(): void {
  const queryClient = useQueryClient()
  useEffect(() => {
    const channel = new BroadcastChannel(CHANNEL)
    channel.onmessage = () => void queryClient.invalidateQueries(toolkitsQuery())
    return () => channel.close()
  }, [queryClient])
}
