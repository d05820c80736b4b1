import { Ban, CircleCheck, Clock, type LucideIcon } from 'lucide-react'
import { cn } from '../../ui/cn.ts'
import type { Approval } from './queries.ts'

const LOOKS: Record<Approval['status'], { label: string; icon: LucideIcon; className: string }> = {
  allowed: { label: 'Allowed', icon: CircleCheck, className: 'text-good' },
  denied: { label: 'Denied', icon: Ban, className: 'text-bad' },
  expired: { label: 'Expired', icon: Clock, className: 'text-ink-muted' },
  pending: { label: 'Expired', icon: Clock, className: 'text-ink-muted' },
}
const REMEMBERED_LABELS = {
  thread: 'for this conversation',
  tool: 'always for this tool',
  toolkit: 'always for this server',
}

export function OutcomeMark({ approval }: { approval: Approval }) {
  const { label, icon: Icon, className } = LOOKS[approval.status]
  return (
    <span className={cn('inline-flex items-center gap-1.5 text-sm font-medium whitespace-nowrap', className)}>
      <Icon aria-hidden className="size-4" />
      {label}
      {approval.remembered && <span className="font-normal">{REMEMBERED_LABELS[approval.remembered]}</span>}
    </span>
  )
}

interface OutcomeProps {
  approval: Approval
  /** Whether the approval was resolved or expired before this answer. */
  isLate: boolean
  lateDetail: string
}

/** Outcome in place of the buttons. */
export function ApprovalOutcome({ approval, isLate, lateDetail }: OutcomeProps) {
  if (isLate)
    return (
      <p role="status" className="text-sm">
        <span className="font-medium">Already handled.</span> {lateDetail} Your answer changed nothing.
      </p>
    )
  const isExpired = approval.status === 'expired' || approval.status === 'pending'
  return (
    <p role="status" className="flex flex-wrap items-center gap-x-2 text-sm">
      <OutcomeMark approval={approval} />
      {isExpired && <span className="text-ink-muted">Nobody answered in time, so nothing was called.</span>}
    </p>
  )
}
