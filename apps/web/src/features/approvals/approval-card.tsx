/**
 * An approval request: tool, server, arguments, reason and risk. Used in the inbox, threads, test runs and workflow
 * runs. If the card itself has the focus, Y allows once and N denies.
 */
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { CircleHelp, Clock, Eye, type LucideIcon, PencilLine, TriangleAlert } from 'lucide-react'
import { type KeyboardEvent, useId } from 'react'
import { problemOf, toolkitQuery, toolkitsQuery } from '../../lib/api.ts'
import { ProblemNotice } from '../../lib/problems.tsx'
import { cn } from '../../ui/cn.ts'
import { AnswerButtons } from './answer-buttons.tsx'
import { ApprovalArguments } from './approval-arguments.tsx'
import { useApprovalKeys } from './approval-keys.ts'
import { ApprovalOutcome } from './approval-outcome.tsx'
import { type Approval, type ApprovalAnswer, useAnswerApproval } from './queries.ts'
import { type ApprovalTool, type RiskLevel, toolOf } from './risk.ts'
import { timeLeft } from './time-left.ts'
import { useEdit } from './use-edit.ts'
import { useNow } from './use-now.ts'

export interface ApprovalCardProps {
  approval: Approval
  /** Called after this card resolved the approval. */
  onResolved?: ((approval: Approval) => void) | undefined
}

export const cardId = ({ id }: Pick<Approval, 'id'>): string => `approval-${id}`

export function ApprovalCard({ approval, onResolved }: ApprovalCardProps) {
  const titleId = useId()
  const { data: toolkits } = useQuery(toolkitsQuery())
  const toolkit = toolkits?.find(({ id }) => approval.ref.startsWith(`${id}.`))
  const { data: whole } = useQuery(toolkitQuery(toolkit?.uscoId))
  const tool = toolOf(approval.ref, whole ? [whole] : toolkits)
  const edit = useEdit(approval, tool)
  const answering = useAnswerApproval(approval, onResolved)
  const current = answering.data ?? approval
  const now = useNow(1000)
  const isOpen = current.status === 'pending' && timeLeft(current.expiresAt, now) !== undefined
  const isLate = answering.isError && problemOf(answering.error).code === 'conflict'
  const submit = (answer: ApprovalAnswer) => {
    if (answering.isPending || !isOpen) return
    const edited = answer.decision === 'allow' ? edit.edited() : {}
    if (edited) answering.mutate({ ...answer, ...edited })
  }
  const [keysOn] = useApprovalKeys()
  const onKeyDown = (event: KeyboardEvent<HTMLElement>) => {
    // Keys inside the card belong to the focused control.
    if (!keysOn || event.target !== event.currentTarget || event.metaKey || event.ctrlKey || event.altKey) return
    if (event.key.toLowerCase() === 'y') submit({ decision: 'allow' })
    if (event.key.toLowerCase() === 'n') submit({ decision: 'deny' })
  }
  return (
    <article
      id={cardId(approval)}
      aria-labelledby={titleId}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: the focus moves to a card, and its keys are those of the card
      tabIndex={0}
      onKeyDown={onKeyDown}
      className="group grid min-w-0 gap-3 rounded-xl border bg-surface p-4 shadow-flat sm:p-5"
    >
      <CardHeader approval={current} tool={tool} titleId={titleId} isOpen={isOpen} />
      <p className="text-sm wrap-anywhere">
        <span className="text-ink-muted">Why it is asked:</span> {approval.reason}
      </p>
      <ApprovalArguments approval={approval} tool={tool} edit={edit} isOpen={isOpen} />
      {answering.isError && !isLate && <ProblemNotice error={answering.error} />}
      {isOpen && !isLate ? (
        <AnswerButtons approval={approval} tool={tool} busy={answering.isPending} onAnswer={submit} keysOn={keysOn} />
      ) : (
        <ApprovalOutcome
          approval={current}
          isLate={isLate}
          lateDetail={isLate ? problemOf(answering.error).detail : ''}
        />
      )}
    </article>
  )
}

const RISKS: Record<RiskLevel, { label: string; icon: LucideIcon; className: string }> = {
  reads: { label: 'Reads', icon: Eye, className: 'bg-good-soft text-good' },
  changes: { label: 'Changes', icon: PencilLine, className: 'bg-act-soft text-act' },
  destroys: { label: 'May destroy', icon: TriangleAlert, className: 'bg-bad-soft text-bad' },
  asks: { label: 'Question', icon: CircleHelp, className: 'bg-busy-soft text-busy' },
  unknown: { label: 'Unknown effect', icon: CircleHelp, className: 'bg-act-soft text-act' },
}

interface HeaderProps {
  approval: Approval
  tool: ApprovalTool
  titleId: string
  isOpen: boolean
}

function CardHeader({ approval, tool, titleId, isOpen }: HeaderProps) {
  const { label, icon: Icon, className } = RISKS[tool.risk.level]
  return (
    <header className="grid gap-1.5">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1.5">
        <h3 id={titleId} className="min-w-0 font-medium wrap-anywhere">
          {tool.title}
          <span className="font-normal text-ink-muted"> on {tool.toolkitName}</span>
          {tool.account && <span className="font-normal text-ink-muted"> as {tool.account}</span>}
        </h3>
        <span className={cn('inline-flex h-6 items-center gap-1.5 rounded-full px-2 text-xs font-medium', className)}>
          <Icon aria-hidden className="size-3.5" />
          {label}
        </span>
        {isOpen && <TimeLeft until={approval.expiresAt} />}
      </div>
      <p className="text-[0.8125rem] wrap-anywhere text-ink-muted">
        <Asker approval={approval} /> <code className="font-mono">{approval.ref}</code>. {tool.risk.detail}
      </p>
    </header>
  )
}

/** Hidden from screen readers, which would read every second. */
function TimeLeft({ until }: { until: string }) {
  const left = timeLeft(until, useNow(1000))
  return (
    <span className="ml-auto inline-flex items-center gap-1.5 text-[0.8125rem] text-ink-muted tabular-nums">
      <Clock aria-hidden className="size-3.5" />
      {left ? `${left} left` : 'Expired'}
    </span>
  )
}

const link = 'font-medium text-accent underline underline-offset-4'

function Asker({ approval: { caller, runId, threadId } }: { approval: Approval }) {
  const callerLabel = { direct: 'A direct call', code: 'A program', workflow: 'A workflow' }[caller.type]
  return (
    <>
      {callerLabel}
      {threadId && (
        <>
          {' in '}
          <Link to="/threads/$id" params={{ id: threadId }} className={link}>
            a conversation
          </Link>
        </>
      )}
      {runId && (
        <>
          {' ('}
          <Link to="/runs/$id" params={{ id: runId }} className={link}>
            its run
          </Link>
          )
        </>
      )}
      {' wants'}
    </>
  )
}
