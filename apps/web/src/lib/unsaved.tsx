import { useBlocker } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { Confirm } from '../ui/overlay/alert-dialog.tsx'

/** Asks before a page with unsaved changes is left, also by closing the tab. The page draws the question with `UnsavedDialog`. */
export const useUnsaved = (unsaved: boolean) =>
  useBlocker({ shouldBlockFn: () => unsaved, enableBeforeUnload: () => unsaved, withResolver: true })

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
