import { ProblemNotice } from '../../../lib/problems.tsx'
import { Confirm } from '../../../ui/overlay/alert-dialog.tsx'
import type { AppToolkit } from '../queries.ts'
import { useDeleteAppToolkit } from '../system/use-app.ts'

interface DeleteProps {
  toolkit: AppToolkit
  onClose: () => void
  onClosed: () => void
}

export function DeleteAppToolkit({ toolkit, onClose, onClosed }: DeleteProps) {
  const remove = useDeleteAppToolkit(onClose)
  return (
    <Confirm
      title={`Delete “${toolkit.name}” for everyone?`}
      cancel="Keep it"
      confirm={remove.isPending ? 'Deleting…' : 'Delete server'}
      busy={remove.isPending}
      onCancel={onClose}
      onConfirm={() => remove.mutate(toolkit)}
      onClosed={onClosed}
    >
      <p>Its tools and stored secrets go with it, for every user. This cannot be undone.</p>
      {remove.error && <ProblemNotice error={remove.error} />}
    </Confirm>
  )
}
