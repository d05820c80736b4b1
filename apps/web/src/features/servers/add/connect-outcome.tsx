import { useQuery } from '@tanstack/react-query'
import { CircleCheck, ExternalLink, KeyRound, Link2, LoaderCircle } from 'lucide-react'
import { useEffect, useState } from 'react'
import { type Toolkit, toolkitsQuery } from '../../../lib/api.ts'
import { counted } from '../../../ui/data/format-time.ts'
import { Notice } from '../../../ui/data/notice.tsx'
import { Button } from '../../../ui/form/button.tsx'
import { ServerOutput } from '../list/server-output.tsx'
import { actionOf, needsToken, reasonOf } from '../list/toolkit-state.tsx'
import { useCopySignInLink, useSignIn } from '../use-sign-in.ts'

const SLOW_MS = 3000

/** Progress while a server connects; a first start may install a package. */
export function ConnectProgress() {
  const [isSlow, setSlow] = useState(false)
  useEffect(() => {
    const timer = window.setTimeout(() => setSlow(true), SLOW_MS)
    return () => window.clearTimeout(timer)
  }, [])
  return (
    <p role="status" className="mr-auto flex min-w-0 items-center gap-2 text-[0.8125rem] text-busy">
      <LoaderCircle aria-hidden className="size-4 shrink-0 motion-safe:animate-spin" />
      <span>{isSlow ? 'Still starting. A first start may fetch a package.' : 'Connecting and listing its tools…'}</span>
    </p>
  )
}

/** A saved server that cannot connect: reason, output and fix. */
export function ConnectFailure({ toolkit: saved }: { toolkit: Toolkit }) {
  const signIn = useSignIn()
  const copyLink = useCopySignInLink()
  // A sign-in in another window updates the state.
  const { data: toolkits } = useQuery(toolkitsQuery())
  const toolkit = toolkits?.find(({ uscoId }) => uscoId === saved.uscoId) ?? saved
  const { name, state, toolCount } = toolkit
  if (state.status === 'connected')
    return (
      <p
        role="status"
        className="flex items-center gap-3 rounded-xl border border-good/30 bg-good-soft p-3.5 text-sm text-good"
      >
        <CircleCheck aria-hidden className="size-4 shrink-0" /> {name} is connected, with {counted(toolCount, 'tool')}.
      </p>
    )
  if (state.status === 'sign-in-needed' && !needsToken(toolkit))
    return (
      <div
        role="status"
        className="flex flex-wrap items-center gap-3 rounded-xl border border-act/30 bg-act-soft/50 p-3.5 text-sm"
      >
        <KeyRound aria-hidden className="size-4 shrink-0 text-act" />
        <p className="min-w-0 flex-1 basis-48">
          {name} is saved. The server wants you to sign in before it shows its tools.
        </p>
        <Button size="small" variant="primary" onClick={() => signIn(toolkit)}>
          <ExternalLink aria-hidden /> Sign in
        </Button>
        <Button size="small" aria-label={`Copy the sign-in link of ${name}`} onClick={() => copyLink(toolkit)}>
          <Link2 aria-hidden /> Copy link
        </Button>
      </div>
    )
  return (
    <Notice
      title={`${name} is saved, but could not be reached`}
      detail={reasonOf(state) || 'The server did not answer.'}
      action={actionOf(state) ?? 'Correct what is wrong and try again.'}
    >
      {state.output && (
        <div className="mt-1.5">
          <ServerOutput output={state.output} of={name} open />
        </div>
      )}
    </Notice>
  )
}
