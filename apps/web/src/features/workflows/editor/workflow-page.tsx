import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { ProblemNotice } from '../../../lib/problems.tsx'
import { Skeleton } from '../../../ui/data/skeleton.tsx'
import { Button } from '../../../ui/form/button.tsx'
import { Page } from '../../../ui/layout/page.tsx'
import { isNotFound, NotFound } from '../../shell/not-found.tsx'
import { type Definition, emptyDefinition } from '../definition/definition.ts'
import { EXAMPLES } from '../definition/examples.ts'
import { takeImportDraft } from '../list/import-draft.ts'
import { workflowQuery } from '../queries.ts'
import { WorkflowEditor } from './workflow-editor.tsx'

const route = getRouteApi('/shell/workflows/$id')

export function WorkflowPage() {
  const { id } = route.useParams()
  return id === 'new' ? <NewWorkflow /> : <StoredWorkflow key={id} id={id} />
}

function StoredWorkflow({ id }: { id: string }) {
  const { data, error, refetch } = useQuery(workflowQuery(id))
  if (data) return <WorkflowEditor initial={data.definition} workflow={data} />
  return <Waiting title="Workflow" error={error} onAgain={refetch} />
}

function NewWorkflow() {
  const { from, copy } = route.useSearch()
  if (copy !== undefined) return <CopiedWorkflow id={copy} />
  return <WorkflowEditor key={from} initial={beginning(from)} isNew />
}

function CopiedWorkflow({ id }: { id: string }) {
  const { data, error, refetch } = useQuery(workflowQuery(id))
  if (!data) return <Waiting title="New workflow" error={error} onAgain={refetch} />
  return <WorkflowEditor initial={{ ...data.definition, name: `${data.name} (copy)` }} isNew />
}

function beginning(from: string | undefined): Definition {
  if (from === 'import') return takeImportDraft() ?? emptyDefinition()
  return EXAMPLES.find(({ id }) => id === from)?.definition ?? emptyDefinition()
}

function Waiting({ title, error, onAgain }: { title: string; error: Error | null; onAgain: () => void }) {
  return (
    <Page wide title={title}>
      {isNotFound(error) ? (
        <NotFound noun="workflow" to="/workflows" label="Go to workflows" />
      ) : error ? (
        <ProblemNotice error={error}>
          <p className="mt-2">
            <Button size="small" onClick={onAgain}>
              Try again
            </Button>
          </p>
        </ProblemNotice>
      ) : (
        <div role="status" className="grid gap-5">
          <span className="sr-only">Loading the workflow</span>
          <Skeleton className="h-72 w-full rounded-2xl" />
          <div className="grid gap-5 lg:grid-cols-[20rem_minmax(0,1fr)]">
            <Skeleton className="h-64 w-full rounded-2xl" />
            <Skeleton className="h-96 w-full rounded-2xl" />
          </div>
        </div>
      )}
    </Page>
  )
}
