import { Link } from '@tanstack/react-router'
import { CircleAlert, ExternalLink, FileDiff, LoaderCircle, RotateCw, TextCursorInput } from 'lucide-react'
import type { ReactNode } from 'react'
import type { Toolkit, ToolkitStatus } from '../../../lib/api.ts'
import { Button } from '../../../ui/form/button.tsx'
import type { StdioRules } from '../queries.ts'
import { useSignIn } from '../use-sign-in.ts'
import { useRefreshTools } from '../use-tools.ts'
import { needsYou } from './filter-toolkits.ts'
import { AddToken } from './sign-in-actions.tsx'
import { needsToken } from './toolkit-state.tsx'

interface AttentionProps {
  toolkits: readonly Toolkit[]
  rules: StdioRules | undefined
  onReview: (toolkit: Toolkit) => void
  onAnswer: (toolkit: Toolkit) => void
}

const MAX_ITEMS = 3

const REASONS: Partial<Record<ToolkitStatus, string>> = {
  'sign-in-needed': 'wants you to sign in',
  'input-needed': 'asks you something',
  changed: 'has tools to review',
  error: 'could not be reached',
}

/** Servers that need a user action, with one button each. */
export function Attention({ toolkits, rules, ...on }: AttentionProps) {
  const waiting = toolkits.filter((toolkit) => toolkit.enabled && needsYou(toolkit, rules))
  if (waiting.length === 0) return null
  return (
    <section aria-labelledby="need-you" className="grid gap-2 rounded-xl border border-act/30 bg-act-soft/50 p-3.5">
      <h2 id="need-you" className="flex items-center gap-2 text-sm font-semibold text-act">
        <CircleAlert aria-hidden className="size-4 shrink-0" />
        {waiting.length === 1 ? 'One server needs you' : `${waiting.length} servers need you`}
      </h2>
      <ul className="grid gap-1">
        {waiting.slice(0, MAX_ITEMS).map((toolkit) => (
          <li
            key={toolkit.uscoId}
            className="flex min-h-8 flex-wrap items-center justify-between gap-x-3 gap-y-1 text-sm"
          >
            <span className="min-w-0 wrap-anywhere">
              <span className="font-medium">{toolkit.name}</span>{' '}
              <span className="text-ink-muted">
                {needsToken(toolkit) ? 'needs a token' : REASONS[toolkit.state.status]}
              </span>
            </span>
            <Act toolkit={toolkit} {...on} />
          </li>
        ))}
      </ul>
      {waiting.length > MAX_ITEMS && (
        <Link
          to="/connectors"
          search={{ status: 'needs-you' }}
          resetScroll={false}
          className="w-fit text-[0.8125rem] font-medium text-act underline underline-offset-4"
        >
          And {waiting.length - MAX_ITEMS} more
        </Link>
      )}
    </section>
  )
}

function Act({ toolkit, onReview, onAnswer }: Omit<AttentionProps, 'toolkits' | 'rules'> & { toolkit: Toolkit }) {
  const signIn = useSignIn()
  const refresh = useRefreshTools()
  const { name, state, signIn: current } = toolkit
  if (state.status === 'changed')
    return (
      <ActButton
        icon={<FileDiff aria-hidden />}
        text="Review"
        label={`Review the tools of ${name}`}
        onClick={() => onReview(toolkit)}
      />
    )
  if (state.status === 'input-needed')
    return (
      <ActButton
        icon={<TextCursorInput aria-hidden />}
        text="Answer"
        label={`Answer the question of ${name}`}
        onClick={() => onAnswer(toolkit)}
      />
    )
  if (state.status === 'sign-in-needed' && (state.url !== undefined || current !== undefined))
    return (
      <ActButton
        icon={<ExternalLink aria-hidden />}
        text="Sign in"
        label={`Sign in to ${name} now`}
        onClick={() => signIn(toolkit)}
      />
    )
  if (needsToken(toolkit)) return <AddToken toolkit={toolkit} />
  const busy = refresh.isPending
  return (
    <ActButton
      icon={busy ? <LoaderCircle aria-hidden className="motion-safe:animate-spin" /> : <RotateCw aria-hidden />}
      text={busy ? 'Trying…' : 'Try again'}
      label={`Try ${name} again`}
      onClick={() => !busy && refresh.mutate({ toolkit, reconnect: true })}
    />
  )
}

interface ActButtonProps {
  icon: ReactNode
  text: string
  label: string
  onClick: () => void
}

const ActButton = ({ icon, text, label, onClick }: ActButtonProps) => (
  <Button size="small" aria-label={label} onClick={onClick}>
    {icon} {text}
  </Button>
)
