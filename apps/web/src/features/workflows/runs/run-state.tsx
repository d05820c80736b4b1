import {
  CircleCheck,
  CircleDashed,
  CircleHelp,
  CirclePause,
  CircleSlash,
  CircleX,
  Clock,
  LoaderCircle,
  type LucideIcon,
  SkipForward,
} from 'lucide-react'
import { cn } from '../../../ui/cn.ts'
import type { RunStatus, Step } from '../queries.ts'

export type NodeState = 'waiting' | 'running' | 'completed' | 'failed' | 'skipped' | 'paused' | 'outcome-unknown'

interface Look {
  label: string
  icon: LucideIcon
  className: string
}

const OFF = 'border-line bg-sunken text-ink-muted'
const BUSY = 'border-transparent bg-busy-soft text-busy'
const GOOD = 'border-transparent bg-good-soft text-good'
const BAD = 'border-transparent bg-bad-soft text-bad'
// Amber means that the user must act.
const ACT = 'border-transparent bg-act-soft text-act'

const RUNS: Record<RunStatus, Look> = {
  queued: { label: 'Queued', icon: Clock, className: BUSY },
  running: { label: 'Running', icon: LoaderCircle, className: BUSY },
  paused: { label: 'Waits for you', icon: CirclePause, className: ACT },
  completed: { label: 'Completed', icon: CircleCheck, className: GOOD },
  failed: { label: 'Failed', icon: CircleX, className: BAD },
  cancelled: { label: 'Cancelled', icon: CircleSlash, className: OFF },
  'outcome-unknown': { label: 'Outcome unknown', icon: CircleHelp, className: ACT },
}

const NODES: Record<NodeState, Look> = {
  waiting: { label: 'Not yet', icon: CircleDashed, className: OFF },
  running: { label: 'Running', icon: LoaderCircle, className: BUSY },
  completed: { label: 'Done', icon: CircleCheck, className: GOOD },
  failed: { label: 'Failed', icon: CircleX, className: BAD },
  skipped: { label: 'Skipped', icon: SkipForward, className: OFF },
  paused: { label: 'Waits for you', icon: CirclePause, className: ACT },
  'outcome-unknown': { label: 'Outcome unknown', icon: CircleHelp, className: ACT },
}

export const nodeStyle = (state: NodeState): Look => NODES[state]

function Badge({ look: { label, icon: Icon, className }, status }: { look: Look; status: string }) {
  return (
    <span
      data-status={status}
      className={cn(
        'inline-flex h-6 shrink-0 items-center gap-1.5 rounded-full border px-2 text-xs font-medium whitespace-nowrap',
        className,
      )}
    >
      <Icon aria-hidden className={cn('size-3.5', status === 'running' && 'motion-safe:animate-spin')} />
      {label}
    </span>
  )
}

export const RunBadge = ({ status }: { status: RunStatus }) => <Badge look={RUNS[status]} status={status} />
export const NodeBadge = ({ state }: { state: NodeState }) => <Badge look={NODES[state]} status={state} />

/** Step status as node state. */
export const stateOfStep = ({ status }: Step): NodeState => (status === 'started' ? 'running' : status)
