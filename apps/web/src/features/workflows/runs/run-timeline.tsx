import { useNavigate } from '@tanstack/react-router'
import { RotateCcw } from 'lucide-react'
import { ProblemNotice } from '../../../lib/problems.tsx'
import { cn } from '../../../ui/cn.ts'
import { Card } from '../../../ui/data/card.tsx'
import { counted, formatDuration } from '../../../ui/data/format-time.ts'
import { Button } from '../../../ui/form/button.tsx'
import type { Definition, WorkflowNode } from '../definition/definition.ts'
import { KIND_STYLES, nameOf } from '../editor/node-kind.tsx'
import { nodeOwners } from '../graph/graph.ts'
import type { Run } from '../queries.ts'
import { useRerun } from '../use-workflows.ts'
import { inTime, type NodeProgress, type RunNode } from './run-nodes.ts'
import { NodeBadge } from './run-state.tsx'
import { StepDetail } from './run-steps.tsx'

interface RunTimelineProps {
  run: Run
  definition: Definition
  nodes: readonly RunNode[]
  selected: string | undefined
  onSelect: (id: string) => void
}

const OVER = new Set(['completed', 'failed', 'cancelled'])

/**
 * Nodes by start time with their steps: the accessible form of the graph. Steps of owned nodes belong to their owner.
 */
export function RunTimeline({ run, definition, nodes, selected, onSelect }: RunTimelineProps) {
  const navigate = useNavigate()
  const rerun = useRerun(run)
  const owners = nodeOwners(definition)
  const again = (from: string) =>
    !rerun.isPending &&
    rerun.mutate(from, { onSuccess: ({ runId }) => navigate({ to: '/runs/$id', params: { id: runId } }) })
  const span = spanOf(run)
  return (
    <Card aria-label="Steps" className="overflow-hidden">
      <h2 className="border-b px-4 py-3 font-semibold tracking-tight sm:px-5">Steps</h2>
      {rerun.error && (
        <div className="p-4">
          <ProblemNotice error={rerun.error} />
        </div>
      )}
      <ol className="divide-y">
        {inTime(nodes.filter(({ id }) => !owners.has(id))).map((runNode) => {
          const node = definition.nodes.find(({ id }) => id === runNode.id)
          return (
            node && (
              <TimelineRow
                key={runNode.id}
                node={node}
                runNode={runNode}
                span={span}
                isSelected={selected === runNode.id}
                onSelect={() => onSelect(runNode.id)}
                onAgain={OVER.has(run.status) ? () => again(runNode.id) : undefined}
                isBusy={rerun.isPending}
              />
            )
          )
        })}
      </ol>
    </Card>
  )
}

interface RowProps {
  node: WorkflowNode
  runNode: RunNode
  span: Span
  isSelected: boolean
  onSelect: () => void
  onAgain: (() => void) | undefined
  isBusy: boolean
}

const MAX_STEPS = 100

function TimelineRow({ node, runNode, span, isSelected, onSelect, onAgain, isBusy }: RowProps) {
  const { icon: Icon, label } = KIND_STYLES[node.type]
  const { steps, startedAt, endedAt } = runNode
  const took = startedAt && endedAt ? formatDuration(Date.parse(endedAt) - Date.parse(startedAt)) : undefined
  return (
    <li
      id={`run-node-${runNode.id}`}
      data-node={runNode.id}
      data-state={runNode.state}
      className={cn('grid gap-3 px-4 py-3 sm:px-5', isSelected && 'bg-accent-soft/50')}
    >
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1.5">
        <button
          type="button"
          onClick={onSelect}
          className="flex min-h-6 min-w-0 flex-1 basis-44 items-center gap-2.5 rounded-sm text-left"
        >
          <Icon aria-hidden className="size-4 shrink-0 text-ink-muted" strokeWidth={1.75} />
          <span className="min-w-0 truncate text-sm font-medium">
            <span className="sr-only">{label}: </span>
            {nameOf(node)}
          </span>
          <span className="shrink-0 text-xs text-ink-faint tabular-nums">{formatAmount(runNode)}</span>
        </button>
        <span className="text-xs text-ink-muted tabular-nums">{took}</span>
        <NodeBadge state={runNode.state} />
        {onAgain && (
          <Button
            variant="quiet"
            size="icon"
            className="size-7"
            aria-disabled={isBusy}
            aria-label={`Re-run from ${runNode.id}`}
            title="Re-run from here: what was done before is taken over"
            onClick={onAgain}
          >
            <RotateCcw aria-hidden />
          </Button>
        )}
      </div>
      <Bar span={span} runNode={runNode} />
      {runNode.progress && runNode.state === 'running' && <Items {...runNode.progress} />}
      {steps.length > 0 && (
        <ol className="grid gap-2 pl-6.5">
          {steps.slice(0, MAX_STEPS).map((step) => (
            <li key={step.id}>
              <StepDetail step={step} isOpen={steps.length === 1 && isSelected} />
            </li>
          ))}
          {steps.length > MAX_STEPS && <li className="text-xs text-ink-muted">and {steps.length - MAX_STEPS} more</li>}
        </ol>
      )}
    </li>
  )
}

const formatAmount = ({ progress, steps }: RunNode): string => {
  if (progress) return `${progress.done} of ${counted(progress.total, 'item')}`
  return steps.length > 1 ? counted(steps.length, 'step') : ''
}

/** Progress of a map. */
const Items = ({ done, total }: NodeProgress) => (
  <progress
    aria-label="Items done"
    value={done}
    max={Math.max(1, total)}
    className="h-1.5 w-full appearance-none overflow-hidden rounded-full bg-sunken [&::-moz-progress-bar]:bg-busy [&::-webkit-progress-bar]:bg-sunken [&::-webkit-progress-value]:bg-busy"
  />
)

interface Span {
  from: number
  to: number
}

const spanOf = ({ createdAt, updatedAt, steps }: Run): Span => {
  const ends = steps.map(({ endedAt, startedAt }) => Date.parse(endedAt ?? startedAt))
  // Steps reused by a re-run started before the run.
  const starts = steps.map(({ startedAt }) => Date.parse(startedAt))
  return { from: Math.min(Date.parse(createdAt), ...starts), to: Math.max(Date.parse(updatedAt), ...ends) }
}

const COLOURS: Partial<Record<RunNode['state'], string>> = {
  completed: 'bg-good',
  failed: 'bg-bad',
  paused: 'bg-act',
  'outcome-unknown': 'bg-act',
}

/** Decorative time bar of a node within the run. */
function Bar({ span, runNode: { startedAt, endedAt, state } }: { span: Span; runNode: RunNode }) {
  if (startedAt === undefined) return null
  const whole = Math.max(1, span.to - span.from)
  const left = ((Date.parse(startedAt) - span.from) / whole) * 100
  const end = endedAt === undefined ? span.to : Date.parse(endedAt)
  const width = Math.max(1, ((end - Date.parse(startedAt)) / whole) * 100)
  return (
    <div aria-hidden className="h-1 overflow-hidden rounded-full bg-sunken">
      <div
        className={cn('h-full rounded-full', COLOURS[state] ?? 'bg-busy')}
        style={{ marginLeft: `${Math.min(99, left)}%`, width: `${Math.min(100 - Math.min(99, left), width)}%` }}
      />
    </div>
  )
}
