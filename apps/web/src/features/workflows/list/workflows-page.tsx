import { useInfiniteQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { FilePlus2, FileUp, Plus, Workflow as WorkflowIcon } from 'lucide-react'
import { useState } from 'react'
import { ProblemNotice } from '../../../lib/problems.tsx'
import { Empty } from '../../../ui/data/empty.tsx'
import { Skeleton } from '../../../ui/data/skeleton.tsx'
import { Button } from '../../../ui/form/button.tsx'
import { Page } from '../../../ui/layout/page.tsx'
import { Menu, MenuContent, MenuItem, MenuTrigger } from '../../../ui/overlay/menu.tsx'
import { EXAMPLES } from '../definition/examples.ts'
import { runsQuery, type Workflow, workflowsQuery } from '../queries.ts'
import { RunList } from '../runs/run-list.tsx'
import { DeleteWorkflow } from './delete-workflow.tsx'
import { ImportDialog } from './import-dialog.tsx'
import { useLastRuns } from './use-last-runs.ts'
import { WorkflowRow, workflowMenuId } from './workflow-row.tsx'

const NEW = 'new-workflow'
const HEADING = 'your-workflows'

export function WorkflowsPage() {
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery(workflowsQuery())
  const [importing, setImporting] = useState(false)
  const [deleting, setDeleting] = useState<Workflow>()
  // Waits for the runs, so that no workflow is shown as "not run yet" too early.
  const { isPending } = useInfiniteQuery(runsQuery())
  const workflows = isPending ? undefined : data?.pages.flatMap(({ items }) => items)
  return (
    <Page
      title="Workflows"
      description="Tools, programs, agents and questions in an order, saved and run as often as you like."
      actions={<NewMenu onImport={() => setImporting(true)} />}
    >
      {error && (
        <ProblemNotice error={error}>
          <p className="mt-2">
            <Button size="small" onClick={() => refetch()}>
              Try again
            </Button>
          </p>
        </ProblemNotice>
      )}
      {!workflows && !error && <LoadingRows label="Loading your workflows" />}
      {workflows?.length === 0 && <NoWorkflows />}
      {workflows && workflows.length > 0 && <Workflows workflows={workflows} onDelete={setDeleting} />}
      {hasNextPage && (
        <p>
          <Button aria-disabled={isFetchingNextPage} onClick={() => fetchNextPage()}>
            {isFetchingNextPage ? 'Loading…' : 'Show more'}
          </Button>
        </p>
      )}
      {workflows && <RunList title="Recent runs" note="Of workflows and of programs, the newest first." />}
      {importing && (
        <ImportDialog onClose={() => setImporting(false)} onClosed={() => document.getElementById(NEW)?.focus()} />
      )}
      {deleting && (
        <DeleteWorkflow
          workflow={deleting}
          onClose={() => setDeleting(undefined)}
          onClosed={() =>
            (document.getElementById(workflowMenuId(deleting)) ?? document.getElementById(HEADING))?.focus()
          }
        />
      )}
    </Page>
  )
}

function Workflows({
  workflows,
  onDelete,
}: {
  workflows: readonly Workflow[]
  onDelete: (workflow: Workflow) => void
}) {
  const lastRuns = useLastRuns(workflows)
  return (
    <section aria-labelledby={HEADING} className="grid gap-3">
      <h2
        id={HEADING}
        tabIndex={-1}
        className="flex items-baseline gap-2 font-semibold tracking-tight focus:outline-none"
      >
        Your workflows
        <span className="text-sm font-normal text-ink-faint tabular-nums">{workflows.length}</span>
      </h2>
      <ul className="divide-y overflow-hidden rounded-xl border bg-surface shadow-flat">
        {workflows.map((workflow) => (
          <WorkflowRow key={workflow.id} workflow={workflow} lastRun={lastRuns(workflow.id)} onDelete={onDelete} />
        ))}
      </ul>
    </section>
  )
}

function NewMenu({ onImport }: { onImport: () => void }) {
  const navigate = useNavigate()
  const begin = (from?: string) =>
    navigate({ to: '/workflows/$id', params: { id: 'new' }, search: from ? { from } : {} })
  return (
    <Menu>
      <MenuTrigger asChild>
        <Button id={NEW} variant="primary">
          <Plus aria-hidden /> New workflow
        </Button>
      </MenuTrigger>
      <MenuContent className="w-72 max-w-[calc(100vw-2rem)]">
        <MenuItem onSelect={() => begin()}>
          <FilePlus2 aria-hidden /> Empty workflow
        </MenuItem>
        {EXAMPLES.map(({ id, title }) => (
          <MenuItem key={id} onSelect={() => begin(id)}>
            <WorkflowIcon aria-hidden /> Example: {title}
          </MenuItem>
        ))}
        <MenuItem onSelect={onImport}>
          <FileUp aria-hidden /> Import a definition
        </MenuItem>
      </MenuContent>
    </Menu>
  )
}

function NoWorkflows() {
  const navigate = useNavigate()
  return (
    <Empty icon={WorkflowIcon} title="Your first workflow">
      <p>
        A workflow calls tools of your servers in an order: each node reads what earlier ones gave. It goes on after a
        restart, and asks you where you want to be asked.
      </p>
      <ul className="mt-5 grid gap-2 text-left">
        {EXAMPLES.map(({ id, title, text }) => (
          <li key={id}>
            <button
              type="button"
              onClick={() => navigate({ to: '/workflows/$id', params: { id: 'new' }, search: { from: id } })}
              className="grid w-full gap-0.5 rounded-xl border bg-surface p-3.5 text-left shadow-flat transition-colors hover:border-accent"
            >
              <span className="font-medium text-ink">{title}</span>
              <span>{text}</span>
            </button>
          </li>
        ))}
      </ul>
    </Empty>
  )
}

export function LoadingRows({ label }: { label: string }) {
  return (
    <div role="status" className="divide-y overflow-hidden rounded-xl border bg-surface shadow-flat">
      <span className="sr-only">{label}</span>
      {['w-40', 'w-56', 'w-32'].map((width) => (
        <div key={width} className="grid gap-2.5 p-4 sm:px-5">
          <Skeleton className={`h-4 ${width}`} />
          <Skeleton className="h-3.5 w-3/5" />
        </div>
      ))}
    </div>
  )
}
