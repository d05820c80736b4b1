/** Who is not signed in is led to the door; whose session ends while a page is open signs in above it, and loses nothing. */
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useRouter } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { Dialog, DialogContent, DialogHeader } from '../../ui/dialog.tsx'
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
  return was ? <Ended was={was} /> : <ToTheDoor />
}

function ToTheDoor() {
  const router = useRouter()
  // From where it was when it was found out: the way to the door is no place to come back to.
  const [returnTo] = useState(() => router.state.location.href)
  useEffect(() => {
    router.navigate({ to: '/sign-in', search: { returnTo }, replace: true })
  }, [router, returnTo])
  return null
}

function Ended({ was }: { was: SignedIn }) {
  const queryClient = useQueryClient()
  return (
    <Dialog open>
      <DialogContent keepOpen onClosed={() => {}}>
        <DialogHeader
          title="Your session has ended"
          description="Sign in again to go on. What you had not saved is still on the page."
        />
        <div className="p-4 sm:p-6">
          <SignInForm
            email={was.email ?? undefined}
            onSignedIn={(user) => {
              // Nothing of one person may be left on another's page.
              if (user.id === was.id) queryClient.invalidateQueries()
              else window.location.reload()
            }}
          />
        </div>
      </DialogContent>
    </Dialog>
  )
}
