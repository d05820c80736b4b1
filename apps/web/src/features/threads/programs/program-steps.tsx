import { useMutation, useQueryClient } from '@tanstack/react-query'
import { ChevronRight } from 'lucide-react'
import { answer, client } from '../../../lib/api.ts'
import { toastProblem } from '../../../lib/problems.tsx'
import { formatDuration } from '../../../ui/data/format-time.ts'
import { JsonView } from '../../../ui/data/json-view.tsx'
import { Button } from '../../../ui/form/button.tsx'
import { type Chip, StatusChip } from '../chat/status-chip.tsx'
import { type ThreadRun, threadRunQuery } from '../queries.ts'

type Step = ThreadRun['steps'][number]

const STATES: Record<Step['status'], { chip: Chip; label: string }> = {
  started: { chip: 'busy', label: 'Running' },
  completed: { chip: 'done', label: 'Done' },
  failed: { chip: 'failed', label: 'Failed' },
  paused: { chip: 'asked', label: 'Waits for you' },
  'outcome-unknown': { chip: 'unknown', label: 'Outcome unknown' },
}

export function ProgramSteps({ run }: { run: ThreadRun }) {
  return (
    <ol aria-label="Steps" className="divide-y rounded-lg border bg-raised">
      {run.steps.map((step) => (
        <li key={step.id}>
          <StepRow step={step} />
          {step.status === 'outcome-unknown' && <StepDecision runId={run.id} step={step} />}
        </li>
      ))}
    </ol>
  )
}

function StepRow({ step }: { step: Step }) {
  const { chip, label } = STATES[step.status]
  const { name, rest } = requestOf(step)
  return (
    <details className="group">
      <summary className="flex min-h-9 cursor-pointer list-none flex-wrap items-center gap-2 px-2.5 py-1 [&::-webkit-details-marker]:hidden">
        <ChevronRight aria-hidden className="size-4 text-ink-faint transition-transform group-open:rotate-90" />
        <code className="min-w-0 flex-1 font-mono text-[0.8125rem] wrap-anywhere">{name}</code>
        {step.endedAt && (
          <span className="text-xs text-ink-muted tabular-nums">
            {formatDuration(new Date(step.endedAt).getTime() - new Date(step.startedAt).getTime())}
          </span>
        )}
        <StatusChip chip={chip}>{label}</StatusChip>
      </summary>
      <div className="grid gap-2 px-3 pb-3">
        <JsonView label="Arguments" value={rest} />
        {step.error && <JsonView label={`Error: ${step.error.code}`} value={step.error.message} />}
      </div>
    </details>
  )
}

/** Tool and arguments of a step; other steps show their request. */
export function requestOf({ kind, request }: Pick<Step, 'kind' | 'request'>): { name: string; rest: unknown } {
  if (typeof request !== 'object' || request === null || Array.isArray(request)) return { name: kind, rest: request }
  const { ref, name, arguments: args, input } = request as Record<string, unknown>
  const called = [ref, name].find((value) => typeof value === 'string')
  return called === undefined ? { name: kind, rest: request } : { name: called, rest: args ?? input ?? {} }
}

function StepDecision({ runId, step }: { runId: string; step: Step }) {
  const queryClient = useQueryClient()
  const decide = useMutation({
    mutationFn: (decision: 'repeat' | 'fail') =>
      answer(client.api.runs[':id'].steps[':step'].$post({ param: { id: runId, step: step.id }, json: { decision } })),
    onSuccess: (run) => queryClient.setQueryData(threadRunQuery(runId).queryKey, run),
    onError: toastProblem,
  })
  return (
    <div className="flex flex-wrap items-center gap-2 px-3 pb-3 text-[0.8125rem] text-ink-muted">
      <p className="min-w-0 flex-1">Nobody knows whether the server did it. Look there, then decide.</p>
      <Button size="small" aria-disabled={decide.isPending} onClick={() => decide.mutate('repeat')}>
        Do it again
      </Button>
      <Button size="small" aria-disabled={decide.isPending} onClick={() => decide.mutate('fail')}>
        Take it for failed
      </Button>
    </div>
  )
}
