import {
  CircleCheck,
  CircleDashed,
  CirclePause,
  CircleX,
  FileDiff,
  KeyRound,
  LoaderCircle,
  type LucideIcon,
  TextCursorInput,
} from 'lucide-react'
import type { Toolkit, ToolkitStatus } from '../../../lib/api.ts'
import { cn } from '../../../ui/cn.ts'

interface StateLook {
  label: string
  icon: LucideIcon
  className: string
}

const OFF = 'border-line bg-sunken text-ink-muted'
// Amber means that the user must act; grey needs no action.
const ACT = 'border-transparent bg-act-soft text-act'

const LOOKS: Record<ToolkitStatus, StateLook> = {
  disconnected: { label: 'Not connected', icon: CircleDashed, className: OFF },
  connecting: { label: 'Connecting', icon: LoaderCircle, className: 'border-transparent bg-busy-soft text-busy' },
  connected: { label: 'Connected', icon: CircleCheck, className: 'border-transparent bg-good-soft text-good' },
  'sign-in-needed': { label: 'Sign-in needed', icon: KeyRound, className: ACT },
  'input-needed': { label: 'Input needed', icon: TextCursorInput, className: ACT },
  changed: { label: 'Changed, review', icon: FileDiff, className: ACT },
  error: { label: 'Failed', icon: CircleX, className: 'border-transparent bg-bad-soft text-bad' },
  disabled: { label: 'Disabled', icon: CirclePause, className: OFF },
}

type StateInput = Pick<Toolkit, 'state' | 'server' | 'toolCount' | 'signIn' | 'readOnly'>

/** Whether a token would help: the server wants credentials, none are set, and it offers no sign-in. */
export const needsToken = ({ state, server, signIn, readOnly }: StateInput): boolean =>
  state.status === 'sign-in-needed' &&
  state.url === undefined &&
  signIn === undefined &&
  !readOnly &&
  takesToken(server)

const takesToken = ({ type, auth }: Toolkit['server']): boolean =>
  (type === 'http' || type === 'sse') && (auth as { type?: unknown } | undefined)?.type === 'none'

/** A disconnected toolkit can be ready: custom toolkits have no server, others connect on demand. */
export function stateStyle(toolkit: StateInput): StateLook {
  const { state, server, toolCount } = toolkit
  const look = LOOKS[state.status]
  if (needsToken(toolkit)) return { ...look, label: 'Token needed' }
  if (state.status !== 'disconnected') return look
  if (server.type === 'custom') return { ...LOOKS.connected, label: 'Ready' }
  return toolCount > 0 ? { ...look, label: 'On demand' } : look
}

/** State label with icon and color. */
export function StateBadge(toolkit: StateInput) {
  const { status } = toolkit.state
  const { label, icon: Icon, className } = stateStyle(toolkit)
  return (
    <span
      data-status={status}
      aria-live="polite"
      className={cn(
        'inline-flex h-6 items-center gap-1.5 rounded-full border px-2 text-xs font-medium whitespace-nowrap',
        className,
      )}
    >
      <Icon aria-hidden className={cn('size-3.5', status === 'connecting' && 'motion-safe:animate-spin')} />
      {label}
    </span>
  )
}

/** Reason and fix of the state. */
export function StateReason({ state }: { state: Toolkit['state'] }) {
  if (!state.reason && !state.action) return null
  return (
    <p className="text-[0.8125rem] wrap-anywhere text-ink-muted">
      {reasonOf(state)} {actionOf(state)}{' '}
      {state.url && state.status !== 'sign-in-needed' && (
        <a
          href={state.url}
          target="_blank"
          rel="noreferrer"
          className="font-medium text-accent underline underline-offset-4"
        >
          Open the page
        </a>
      )}
    </p>
  )
}

/** Fix text, without the hint to the output if that is shown below. */
export const actionOf = ({ action, output }: Toolkit['state']): string | undefined =>
  output === undefined ? action : action?.replace(/^Read its last words in the detail; c/, 'C')

/** Reason as a sentence, without the output, which is shown separately. */
export function reasonOf({ reason = '', output }: Toolkit['state']): string {
  const own = output === undefined ? reason : (reason.split(' It said: ')[0] ?? reason)
  return own === '' || /[.!?…]$/.test(own) ? own : `${own}.`
}
