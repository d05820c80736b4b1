import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Code, Workflow as WorkflowIcon } from 'lucide-react'
import { ProblemNotice } from '../../../lib/problems.tsx'
import { formatDuration } from '../../../ui/data/format-time.ts'
import { Skeleton } from '../../../ui/data/skeleton.tsx'
import { TimeAgo } from '../../../ui/data/time-ago.tsx'
import { Button } from '../../../ui/form/button.tsx'
import { type Run, runsQuery } from '../queries.ts'
import { RunBadge } from './run-state.tsx'

interface RunListProps {
  title: string
  note?: string
  workflowId?: string
}

const OVER = new Set(['completed', 'failed', 'cancelled'])

/** Runs, newest first: of one workflow, or all runs including programs. */
export function RunList({ title, note, workflowId }: RunListProps) {
  const query = useInfiniteQuery(runsQuery(workflowId === undefined ? {} : { workflowId }))
  const runs = query.data?.pages.flatMap(({ items }) => items)
  return (
    <section aria-labelledby="runs-title" className="grid gap-3">
      <div className="grid gap-0.5">
        <h2 id="runs-title" className="font-semibold tracking-tight">
          {title}
        </h2>
        {note && <p className="text-sm text-ink-muted">{note}</p>}
      </div>
      {query.error && <ProblemNotice error={query.error} />}
      {!runs && !query.error && <LoadingRuns />}
      {runs?.length === 0 && (
        <p className="rounded-xl border border-dashed px-5 py-4 text-sm text-ink-muted">There are none yet.</p>
      )}
      {runs && runs.length > 0 && (
        <ul className="divide-y overflow-hidden rounded-xl border bg-surface shadow-flat">
          {runs.map((run) => (
            <RunRow key={run.id} run={run} isSingleWorkflow={workflowId !== undefined} />
          ))}
        </ul>
      )}
      {query.hasNextPage && (
        <p>
          <Button aria-disabled={query.isFetchingNextPage} onClick={() => query.fetchNextPage()}>
            {query.isFetchingNextPage ? 'Loading…' : 'Show older runs'}
          </Button>
        </p>
      )}
    </section>
  )
}

export const runName = ({ workflow, kind }: Run): string =>
  workflow?.name ?? (kind === 'program' ? 'Program' : 'Workflow')

function RunRow({ run, isSingleWorkflow }: { run: Run; isSingleWorkflow: boolean }) {
  const Icon = run.kind === 'program' ? Code : WorkflowIcon
  const took = Date.parse(run.updatedAt) - Date.parse(run.createdAt)
  return (
    <li className="relative flex flex-wrap items-center gap-x-3 gap-y-1.5 px-4 py-3 hover:bg-sunken/60 sm:px-5">
      <Icon aria-hidden className="size-4 shrink-0 text-ink-faint" strokeWidth={1.75} />
      <Link
        to="/runs/$id"
        params={{ id: run.id }}
        className="min-w-0 flex-1 basis-40 truncate text-sm font-medium after:absolute after:inset-0"
      >
        {isSingleWorkflow ? `Run of version ${run.workflow?.version ?? '?'}` : runName(run)}
      </Link>
      <RunBadge status={run.status} />
      <span className="w-full text-xs text-ink-muted tabular-nums sm:w-44 sm:text-right">
        <TimeAgo at={run.createdAt} />
        {OVER.has(run.status) && ` · took ${formatDuration(took)}`}
      </span>
      {run.error && <span className="w-full truncate text-xs text-bad">{run.error.message}</span>}
    </li>
  )
}

function LoadingRuns() {
  return (
    <div role="status" className="divide-y overflow-hidden rounded-xl border bg-surface shadow-flat">
      <span className="sr-only">Loading runs</span>
      {['w-40', 'w-32', 'w-52'].map((width) => (
        <div key={width} className="flex h-12 items-center px-5">
          <Skeleton className={`h-4 ${width}`} />
        </div>
      ))}
    </div>
  )
}
