import type { Toolkit } from '../../api.ts'
import { Confirm } from '../../ui/alert-dialog.tsx'
import { ProblemNotice } from '../shell/problem-notice.tsx'
import { storedSecrets } from './server-kind.tsx'
import { useDeleteToolkit } from './use-toolkits.ts'

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
