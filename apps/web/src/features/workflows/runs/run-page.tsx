import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { Ban, Pencil, Play } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { ProblemNotice } from '../../../lib/problems.tsx'
import { formatDuration } from '../../../ui/data/format-time.ts'
import { Skeleton } from '../../../ui/data/skeleton.tsx'
import { TimeAgo } from '../../../ui/data/time-ago.tsx'
import { Button } from '../../../ui/form/button.tsx'
import { Page } from '../../../ui/layout/page.tsx'
import { Confirm } from '../../../ui/overlay/alert-dialog.tsx'
import { isNotFound, NotFound } from '../../shell/not-found.tsx'
import { GraphView } from '../graph/graph-view.tsx'
import { type Run, runQuery, workflowQuery } from '../queries.ts'
import { useCancelRun } from '../use-workflows.ts'
import { RunDialog } from './run-dialog.tsx'
import { RunFacts } from './run-facts.tsx'
import { RunFailure } from './run-failure.tsx'
import { runName } from './run-list.tsx'
import { runNodes } from './run-nodes.ts'
import { RunQuestions } from './run-questions.tsx'
import { RunBadge } from './run-state.tsx'
import { RunSteps } from './run-steps.tsx'
import { RunTimeline } from './run-timeline.tsx'

const route = getRouteApi('/shell/runs/$id')
const OVER = new Set(['completed', 'failed', 'cancelled'])
const CANCEL = 'cancel-run'

export function RunPage() {
  const { id } = route.useParams()
  const { data: run, error, refetch } = useQuery(runQuery(id))
  if (run) return <RunView key={id} run={run} />
  return (
    <Page wide title="Run">
      {isNotFound(error) ? (
        <NotFound noun="run" to="/workflows" label="Go to workflows" />
      ) : error ? (
        <ProblemNotice error={error}>
          <p className="mt-2">
            <Button size="small" onClick={() => refetch()}>
              Try again
            </Button>
          </p>
        </ProblemNotice>
      ) : (
        <div role="status" className="grid gap-5">
          <span className="sr-only">Loading the run</span>
          <Skeleton className="h-72 w-full rounded-2xl" />
          <Skeleton className="h-64 w-full rounded-2xl" />
        </div>
      )}
    </Page>
  )
}

function RunView({ run }: { run: Run }) {
  const { node: selected } = route.useSearch()
  const navigate = route.useNavigate()
  const select = (id: string) => navigate({ search: { node: id }, replace: true, resetScroll: false })
  useScrollToNode(selected)
  const nodes = run.definition ? runNodes(run, run.definition) : []
  return (
    <Page wide title={runName(run)} description={<RunSummary run={run} />} actions={<Actions run={run} />}>
      <RunQuestions run={run} />
      <RunFailure run={run} />
      {run.definition && (
        <GraphView
          definition={run.definition}
          selected={selected}
          onSelect={(id) => {
            select(id)
            showNode(id)
          }}
          states={new Map(nodes.map(({ id, state }) => [id, state]))}
        />
      )}
      <div className="grid items-start gap-5 lg:grid-cols-[minmax(0,1.6fr)_minmax(0,1fr)]">
        {run.definition ? (
          <RunTimeline run={run} definition={run.definition} nodes={nodes} selected={selected} onSelect={select} />
        ) : (
          <RunSteps title="Steps" steps={run.steps} />
        )}
        <RunFacts run={run} />
      </div>
    </Page>
  )
}

const showNode = (id: string) => document.getElementById(`run-node-${id}`)?.scrollIntoView({ block: 'nearest' })

/** Scrolls once to the node in the URL. */
function useScrollToNode(selected: string | undefined): void {
  const first = useRef(selected)
  useEffect(() => {
    if (first.current) showNode(first.current)
  }, [])
}

function RunSummary({ run }: { run: Run }) {
  const took = Date.parse(run.updatedAt) - Date.parse(run.createdAt)
  return (
    <span className="flex flex-wrap items-center gap-x-2.5 gap-y-1 text-sm" aria-live="polite">
      <RunBadge status={run.status} />
      <span>
        {run.workflow?.version !== undefined && `Version ${run.workflow.version} · `}
        began <TimeAgo at={run.createdAt} />
        {OVER.has(run.status) && ` · took ${formatDuration(took)}`}
      </span>
    </span>
  )
}

function Actions({ run }: { run: Run }) {
  const [isConfirming, setConfirming] = useState(false)
  const cancel = useCancelRun(run.id)
  return (
    <div className="flex flex-wrap items-center gap-2">
      {run.workflow?.id && <Again run={run} workflowId={run.workflow.id} />}
      {!OVER.has(run.status) && (
        <Button id={CANCEL} onClick={() => setConfirming(true)}>
          <Ban aria-hidden /> Cancel run
        </Button>
      )}
      {isConfirming && !OVER.has(run.status) && (
        <Confirm
          title="Cancel this run?"
          cancel="Let it run"
          confirm={cancel.isPending ? 'Cancelling…' : 'Cancel run'}
          busy={cancel.isPending}
          onCancel={() => setConfirming(false)}
          onConfirm={() => cancel.mutate(undefined, { onSuccess: () => setConfirming(false) })}
          onClosed={() => document.getElementById(CANCEL)?.focus()}
        >
          <p>It ends now, down to the servers that it calls. What it did stays done.</p>
          {cancel.error && <ProblemNotice error={cancel.error} />}
        </Confirm>
      )}
    </div>
  )
}

const AGAIN = 'run-again'

function Again({ run, workflowId }: { run: Run; workflowId: string }) {
  const [isOpen, setOpen] = useState(false)
  // The workflow may be deleted while its runs stay.
  const { data: workflow, error } = useQuery({ ...workflowQuery(workflowId), retry: false })
  if (error) return null
  return (
    <>
      <Link
        to="/workflows/$id"
        params={{ id: workflowId }}
        className="inline-flex h-9 items-center gap-2 rounded-lg px-3 text-sm font-medium text-ink-muted hover:bg-sunken hover:text-ink"
      >
        <Pencil aria-hidden className="size-4" /> Edit workflow
      </Link>
      <Button id={AGAIN} aria-disabled={!workflow} onClick={() => workflow && setOpen(true)}>
        <Play aria-hidden /> Run again
      </Button>
      {isOpen && workflow && (
        <RunDialog
          workflow={workflow}
          initial={run.input}
          onClose={() => setOpen(false)}
          onClosed={() => document.getElementById(AGAIN)?.focus()}
        />
      )}
    </>
  )
}
