/** One test run: progress, requests and result. */
import { useQuery } from '@tanstack/react-query'
import {
  Ban,
  CircleCheck,
  CircleHelp,
  CircleX,
  ExternalLink,
  LoaderCircle,
  type LucideIcon,
  RotateCcw,
} from 'lucide-react'
import { useEffect, useRef } from 'react'
import type { Toolkit } from '../../../lib/api.ts'
import { cn } from '../../../ui/cn.ts'
import { Notice } from '../../../ui/data/notice.tsx'
import { Button } from '../../../ui/form/button.tsx'
import { ApprovalCard, cardId } from '../../approvals/approval-card.tsx'
import { InputCard } from '../../approvals/input-card.tsx'
import { inputsQuery } from '../../approvals/queries.ts'
import { useNow } from '../../approvals/use-now.ts'
import { ContentView } from '../../results/content-view.tsx'
import { useSignIn } from '../../servers/use-sign-in.ts'
import { type CallProblem, elapsed, isRunning, type Progress, type Try } from './test-history.ts'
import type { TestHistory } from './use-test-history.ts'

interface CardProps {
  test: Try
  toolkit: Toolkit
  tries: TestHistory
  /** Whether it is the latest test run. */
  isNewest: boolean
  onReuse: () => void
}

const LOOKS: Record<Try['status'], { label: string; icon: LucideIcon; className: string }> = {
  running: { label: 'Running', icon: LoaderCircle, className: 'text-busy' },
  asks: { label: 'Waits for you', icon: CircleHelp, className: 'text-act' },
  ok: { label: 'Done', icon: CircleCheck, className: 'text-good' },
  'tool-error': { label: 'The tool says that it failed', icon: CircleX, className: 'text-bad' },
  failed: { label: 'Failed', icon: CircleX, className: 'text-bad' },
  cancelled: { label: 'Cancelled', icon: Ban, className: 'text-ink-muted' },
}

export function TryCard({ test, toolkit, tries, isNewest, onReuse }: CardProps) {
  const running = isRunning(test)
  const card = useRef<HTMLElement>(null)
  const pendingApproval = test.status === 'asks' ? test.approval : undefined
  // Scrolls only when a test run starts or ends, so that buttons do not move under the pointer.
  useEffect(() => {
    if (card.current && isNewest && running) toTop(card.current)
  }, [isNewest, running])
  useEffect(() => (card.current && isNewest && !running ? keepAtTop(card.current) : undefined), [isNewest, running])
  // The approval card takes the focus.
  useEffect(() => {
    if (pendingApproval) document.getElementById(cardId(pendingApproval))?.focus()
  }, [pendingApproval])
  return (
    <article
      ref={card}
      tabIndex={-1}
      aria-label={`Try at ${new Date(test.startedAt).toLocaleTimeString('en')}`}
      className="grid min-w-0 gap-3 rounded-xl border bg-surface p-3 shadow-flat sm:p-4"
    >
      <div className="flex min-h-8 flex-wrap items-center gap-x-3 gap-y-1">
        <Status status={test.status} />
        <span className="text-[0.8125rem] text-ink-muted tabular-nums">
          {running ? <Counting from={test.startedAt} /> : elapsed((test.endedAt ?? test.startedAt) - test.startedAt)}
        </span>
        <span className="ml-auto flex gap-1">
          {running ? (
            <Button size="small" onClick={() => tries.cancel(test.id)}>
              <Ban aria-hidden /> Cancel
            </Button>
          ) : (
            <Button size="small" variant="quiet" onClick={onReuse}>
              <RotateCcw aria-hidden /> Use its arguments
            </Button>
          )}
        </span>
      </div>
      {running && test.progress && <ProgressBar progress={test.progress} />}
      {test.approval && running && (
        <ApprovalCard
          approval={test.approval}
          onResolved={(approval) => {
            tries.dispatch({ type: 'answered', id: test.id, approval })
            card.current?.focus()
          }}
        />
      )}
      {test.status === 'running' && <Inputs toolkit={toolkit.id} />}
      {test.problem && <CallFailed problem={test.problem} toolkit={toolkit} />}
      {test.result?.warnings && <Warnings warnings={test.result.warnings} />}
      {test.result && <ContentView result={test.result} />}
    </article>
  )
}

function Warnings({ warnings }: { warnings: readonly string[] }) {
  return (
    <ul
      aria-label="Warnings"
      className="rounded-lg border border-line bg-sunken px-3 py-2 text-[0.8125rem] text-ink-muted"
    >
      {warnings.map((warning) => (
        <li key={warning} className="wrap-anywhere">
          {warning}
        </li>
      ))}
    </ul>
  )
}

const SETTLED_MS = 600

/** Keeps the card at the top until its content is rendered. */
function keepAtTop(card: HTMLElement): () => void {
  const watch = new ResizeObserver(() => toTop(card))
  watch.observe(card)
  const timer = window.setTimeout(() => watch.disconnect(), SETTLED_MS)
  return () => {
    window.clearTimeout(timer)
    watch.disconnect()
  }
}

function toTop(card: HTMLElement): void {
  let holder = card.parentElement
  while (holder && !['auto', 'scroll'].includes(getComputedStyle(holder).overflowY)) holder = holder.parentElement
  holder?.scrollBy(0, card.getBoundingClientRect().top - holder.getBoundingClientRect().top - 12)
}

function Status({ status }: { status: Try['status'] }) {
  const { label, icon: Icon, className } = LOOKS[status]
  return (
    <span role="status" className={cn('inline-flex items-center gap-1.5 text-sm font-medium', className)}>
      <Icon aria-hidden className={cn('size-4', status === 'running' && 'motion-safe:animate-spin')} />
      {label}
    </span>
  )
}

const Counting = ({ from }: { from: number }) => elapsed(useNow(100) - from)

function ProgressBar({ progress: { progress, total, message } }: { progress: Progress }) {
  const share = total && total > 0 ? Math.min(1, progress / total) : undefined
  return (
    <div className="grid gap-1">
      <progress
        aria-label="Progress"
        value={share}
        max={1}
        className="h-1.5 w-full appearance-none overflow-hidden rounded-full bg-line/60 [&::-moz-progress-bar]:bg-busy [&::-webkit-progress-bar]:bg-line/60 [&::-webkit-progress-value]:bg-busy"
      />
      <p className="text-[0.8125rem] wrap-anywhere text-ink-muted tabular-nums">
        {total ? `${progress} of ${total}` : progress} {message}
      </p>
    </div>
  )
}

/** Input requests of the server during the call. */
function Inputs({ toolkit }: { toolkit: string }) {
  const { data } = useQuery(inputsQuery())
  return data?.filter((input) => input.toolkit === toolkit).map((input) => <InputCard key={input.id} input={input} />)
}

function CallFailed({ problem, toolkit }: { problem: CallProblem; toolkit: Toolkit }) {
  const signIn = useSignIn()
  const needsSignIn = problem.code === 'sign-in-needed'
  return (
    <Notice
      title={needsSignIn ? `${toolkit.name} wants you to sign in` : 'It could not be called'}
      detail={problem.detail}
      action={needsSignIn ? 'Sign in, then run it again.' : problem.action}
      reference={problem.code}
    >
      {needsSignIn && (
        <Button variant="primary" size="small" className="mt-1 w-fit" onClick={() => signIn(toolkit)}>
          <ExternalLink aria-hidden /> Sign in to {toolkit.name}
        </Button>
      )}
    </Notice>
  )
}
