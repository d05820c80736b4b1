import type { Toolkit } from '../../../lib/api.ts'
import { ProblemNotice } from '../../../lib/problems.tsx'
import { Confirm } from '../../../ui/overlay/alert-dialog.tsx'
import { useDeleteToolkit } from '../use-toolkits.ts'
import { storedSecrets } from './server-kind.tsx'

interface DeleteDialogProps {
  toolkit: Toolkit
  onClose: () => void
  onClosed: () => void
}

export function DeleteDialog({ toolkit, onClose, onClosed }: DeleteDialogProps) {
  const remove = useDeleteToolkit(onClose)
  const also = storedSecrets(toolkit) > 0 ? 'Its tools and stored secrets go with it.' : 'Its tools go with it.'
  return (
    <Confirm
      title={`Delete “${toolkit.name}”?`}
      cancel="Keep it"
      confirm={remove.isPending ? 'Deleting…' : 'Delete server'}
      busy={remove.isPending}
      onCancel={onClose}
      onConfirm={() => remove.mutate(toolkit)}
      onClosed={onClosed}
    >
      <p>{also} This cannot be undone.</p>
      {remove.error && <ProblemNotice error={remove.error} />}
    </Confirm>
  )
}
