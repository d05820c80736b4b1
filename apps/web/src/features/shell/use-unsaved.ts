import { useBlocker } from '@tanstack/react-router'

/** Asks before a page with unsaved changes is left, also by closing the tab. The page draws the question with `UnsavedDialog`. */
export const useUnsaved = (unsaved: boolean) =>
  useBlocker({ shouldBlockFn: () => unsaved, enableBeforeUnload: () => unsaved, withResolver: true })
