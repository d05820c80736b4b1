/**
 * Redirects to the sign-in page without a session. If a session ends on an open page, a dialog signs in again without
 * losing input.
 */

import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useRouter } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import { BASE_PATH } from '../../lib/base-path.ts'
import { Dialog, DialogContent, DialogHeader } from '../../ui/overlay/dialog.tsx'
import { type SignedIn, sessionQuery } from '../shell/session.ts'
import { SignInForm } from './sign-in-form.tsx'

export function SessionGuard() {
  const { data: session } = useQuery(sessionQuery())
  const [was, setWas] = useState<SignedIn>()
  const user = session?.user
  useEffect(() => {
    if (user) setWas(user)
  }, [user])
  if (!session || user) return null
  return was ? <Ended was={was} /> : <RedirectToSignIn />
}

function RedirectToSignIn() {
  const router = useRouter()
  // Captured on mount, so that the sign-in page itself is no return target.
  const [returnTo] = useState(() => router.state.location.href)
  useEffect(() => {
    router.navigate({ to: '/sign-in', search: { returnTo }, replace: true })
  }, [router, returnTo])
  return null
}

function Ended({ was }: { was: SignedIn }) {
  const queryClient = useQueryClient()
  const form = useRef<HTMLDivElement>(null)
  const focusPassword = () => {
    const empty = [...(form.current?.querySelectorAll('input') ?? [])].find(({ value }) => value === '')
    ;(empty ?? form.current?.querySelector('a'))?.focus()
  }
  return (
    <Dialog open>
      <DialogContent above keepOpen onOpened={focusPassword} onClosed={() => {}}>
        <DialogHeader
          stays
          title="Your session has ended"
          description="Sign in again to go on. What you had not saved is still on the page."
        />
        <div ref={form} className="grid gap-4 overflow-y-auto p-4 sm:p-6">
          {/* The shell handles a sign-in as another user. */}
          <SignInForm email={was.email ?? undefined} onSignedIn={() => queryClient.invalidateQueries()} />
          <a
            href={`${BASE_PATH}/sign-in`}
            className="justify-self-center text-sm text-ink-muted underline underline-offset-2"
          >
            Leave the page, and what was not saved
          </a>
        </div>
      </DialogContent>
    </Dialog>
  )
}
