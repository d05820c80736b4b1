import { useNavigate } from '@tanstack/react-router'
import { ExternalLink, KeyRound, Link2, LogOut } from 'lucide-react'
import type { Toolkit } from '../../../lib/api.ts'
import { Button } from '../../../ui/form/button.tsx'
import { useCopySignInLink, useSignIn, useSignOut } from '../use-sign-in.ts'
import { needsToken } from './toolkit-state.tsx'

/** Sign-in, sign-in link and disconnect buttons. */
export function SignInActions({ toolkit }: { toolkit: Toolkit }) {
  const signIn = useSignIn()
  const copyLink = useCopySignInLink()
  const signOut = useSignOut()
  const { state, signIn: current, enabled, name } = toolkit
  if (!enabled) return null
  // Without a link or an earlier sign-in, OAuth cannot help.
  const mayHelp = state.url !== undefined || current !== undefined
  if (needsToken(toolkit))
    return (
      <div className="mt-2 flex flex-wrap gap-2">
        <AddToken toolkit={toolkit} variant="primary" />
      </div>
    )
  if (state.status === 'sign-in-needed' && mayHelp)
    return (
      <div className="mt-2 flex flex-wrap gap-2">
        <Button variant="primary" size="small" aria-label={`Sign in to ${name}`} onClick={() => signIn(toolkit)}>
          <ExternalLink aria-hidden /> {current?.issuer ? 'Sign in again' : 'Sign in'}
        </Button>
        <Button size="small" aria-label={`Copy the sign-in link of ${name}`} onClick={() => copyLink(toolkit)}>
          <Link2 aria-hidden /> Copy link
        </Button>
      </div>
    )
  if (current?.status !== 'signed-in') return null
  return (
    <div className="mt-2 flex flex-wrap gap-2">
      <Button size="small" aria-label={`Sign in to ${name} again`} onClick={() => signIn(toolkit)}>
        <ExternalLink aria-hidden /> Sign in again
      </Button>
      <Button size="small" variant="quiet" aria-label={`Disconnect ${name}`} onClick={() => signOut(toolkit)}>
        <LogOut aria-hidden /> Disconnect
      </Button>
    </div>
  )
}

/** Opens the form with the token field. */
export function AddToken({ toolkit, variant }: { toolkit: Toolkit; variant?: 'primary' }) {
  const navigate = useNavigate()
  const { uscoId, name } = toolkit
  const open = () => navigate({ to: '/connectors', search: (old) => ({ ...old, edit: uscoId }), resetScroll: false })
  return (
    <Button size="small" variant={variant} aria-label={`Add token to ${name}`} onClick={open}>
      <KeyRound aria-hidden /> Add token
    </Button>
  )
}

const SOON_MS = 3 * 86_400_000

/** Issuer and end of a sign-in. */
export function signInFact(toolkit: Toolkit, now = Date.now()): string | undefined {
  const { signIn } = toolkit
  if (signIn?.status !== 'signed-in') return undefined
  const at = signIn.issuer ? ` at ${URL.parse(signIn.issuer)?.host ?? signIn.issuer}` : ''
  if (!signIn.endsAt || signInEnds(toolkit, now)) return `Signed in${at}`
  return `Signed in${at}, ends ${formatEnd(signIn.endsAt, now)}`
}

/** Warning if the sign-in ends within three days. */
export function signInEnds({ signIn, enabled }: Toolkit, now = Date.now()): string | undefined {
  if (!enabled || signIn?.status !== 'signed-in' || !signIn.endsAt) return undefined
  if (Date.parse(signIn.endsAt) - now > SOON_MS) return undefined
  return `The sign-in ends ${formatEnd(signIn.endsAt, now)}`
}

function formatEnd(endsAt: string, now: number): string {
  const minutes = Math.round((Date.parse(endsAt) - now) / 60_000)
  return minutes < 1 ? 'in less than a minute' : formatMinutes(minutes)
}

function formatMinutes(minutes: number): string {
  const formatter = new Intl.RelativeTimeFormat('en', { numeric: 'always' })
  if (minutes < 120) return formatter.format(minutes, 'minute')
  const hours = Math.round(minutes / 60)
  return hours < 48 ? formatter.format(hours, 'hour') : formatter.format(Math.round(hours / 24), 'day')
}
