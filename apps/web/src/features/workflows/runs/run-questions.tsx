import { useQueries, useQuery } from '@tanstack/react-query'
import { CircleHelp } from 'lucide-react'
import { toolkitsQuery } from '../../../lib/api.ts'
import { ProblemNotice } from '../../../lib/problems.tsx'
import { Skeleton } from '../../../ui/data/skeleton.tsx'
import { Button } from '../../../ui/form/button.tsx'
import { ApprovalCard } from '../../approvals/approval-card.tsx'
import { approvalQuery } from '../../approvals/queries.ts'
import type { Run, Step } from '../queries.ts'
import { useResolveStep } from '../use-workflows.ts'
import { formatStep, nodeOf } from './run-nodes.ts'
import { Value } from './run-value.tsx'

/** Pending approvals and steps with an unknown outcome. */
export function RunQuestions({ run }: { run: Run }) {
  const approvalIds = [
    ...new Set(run.steps.flatMap(({ approvalId, status }) => (status === 'paused' && approvalId ? [approvalId] : []))),
  ]
  const approvals = useQueries({ queries: approvalIds.map((id) => approvalQuery(id)) })
  // A card without its toolkit would show every risk as unknown.
  const { isPending } = useQuery(toolkitsQuery())
  const unknown = run.steps.filter(({ status }) => status === 'outcome-unknown')
  if (approvalIds.length + unknown.length === 0) return null
  return (
    <section aria-label="Waits for you" className="grid gap-3">
      <h2 className="font-semibold tracking-tight">Waits for you</h2>
      {approvals.map(({ data, error }, index) =>
        isPending || (!data && !error) ? (
          <Skeleton key={approvalIds[index]} className="h-64 w-full rounded-xl" />
        ) : data ? (
          <ApprovalCard key={approvalIds[index]} approval={data} />
        ) : (
          error && <ProblemNotice key={approvalIds[index]} error={error} />
        ),
      )}
      {unknown.map((step) => (
        <Unknown key={step.id} run={run} step={step} />
      ))}
    </section>
  )
}

/** A step with an unknown outcome is never repeated without the user's decision. */
function Unknown({ run, step }: { run: Run; step: Step }) {
  const resolve = useResolveStep(run.id)
  const { arguments: args } = (step.request ?? {}) as { arguments?: unknown }
  const decide = (decision: 'repeat' | 'fail') => !resolve.isPending && resolve.mutate({ step: step.id, decision })
  return (
    <article className="grid gap-3 rounded-xl border bg-surface p-4 shadow-flat sm:p-5">
      <h3 className="flex items-center gap-2 font-medium">
        <CircleHelp aria-hidden className="size-4 text-act" />
        Was “{formatStep(step)}” of {nodeOf(step) || 'the program'} done?
      </h3>
      <p className="text-sm">
        This call was cut off while it was under way, and its server may have done it. Look there, then say how the run
        goes on.
      </p>
      {args !== undefined && <Value label="Its arguments" value={args} />}
      {resolve.error && <ProblemNotice error={resolve.error} />}
      <div className="flex flex-wrap gap-2">
        <Button variant="primary" size="small" aria-disabled={resolve.isPending} onClick={() => decide('repeat')}>
          It was not done: do it
        </Button>
        <Button size="small" aria-disabled={resolve.isPending} onClick={() => decide('fail')}>
          Take it for failed
        </Button>
      </div>
    </article>
  )
}
