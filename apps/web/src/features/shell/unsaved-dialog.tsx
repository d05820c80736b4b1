import type { ReactNode } from 'react'
import { Confirm } from '../../ui/alert-dialog.tsx'
import type { useUnsaved } from './use-unsaved.ts'

/** The question before unsaved changes are left. `children` say what would be lost. */
export function UnsavedDialog({ leaving, children }: { leaving: ReturnType<typeof useUnsaved>; children: ReactNode }) {
  if (leaving.status !== 'blocked') return null
  return (
    <Confirm
      title="Leave without saving?"
      cancel="Keep editing"
      confirm="Discard changes"
      onCancel={leaving.reset}
      onConfirm={leaving.proceed}
      onClosed={() => {}}
    >
      {children}
    </Confirm>
  )
}
