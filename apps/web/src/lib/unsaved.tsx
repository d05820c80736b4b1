import { useBlocker } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { Confirm } from '../ui/overlay/alert-dialog.tsx'

/** Asks before leaving a page or closing the tab with unsaved changes. The page renders `UnsavedDialog`. */
export const useUnsaved = (unsaved: boolean) =>
  useBlocker({ shouldBlockFn: () => unsaved, enableBeforeUnload: () => unsaved, withResolver: true })

/** Dialog before unsaved changes are lost; `children` name them. */
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
