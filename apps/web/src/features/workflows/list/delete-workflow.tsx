import { ProblemNotice } from '../../../lib/problems.tsx'
import { Confirm } from '../../../ui/overlay/alert-dialog.tsx'
import type { Workflow } from '../queries.ts'
import { useDeleteWorkflow } from '../use-workflows.ts'

interface DeleteWorkflowProps {
  workflow: Workflow
  onClose: () => void
  onClosed: () => void
}

export function DeleteWorkflow({ workflow, onClose, onClosed }: DeleteWorkflowProps) {
  const remove = useDeleteWorkflow(onClose)
  return (
    <Confirm
      title={`Delete “${workflow.name}”?`}
      cancel="Keep it"
      confirm={remove.isPending ? 'Deleting…' : 'Delete workflow'}
      busy={remove.isPending}
      onCancel={onClose}
      onConfirm={() => remove.mutate(workflow)}
      onClosed={onClosed}
    >
      <p>All its versions go with it; its runs stay. This cannot be undone.</p>
      {remove.error && <ProblemNotice error={remove.error} />}
    </Confirm>
  )
}
