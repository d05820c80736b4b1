import { useBlocker } from '@tanstack/react-router'

/** `useUnsaved` for a page whose own URL changes: asks only before another page. */
export const useUnsavedPage = (isUnsaved: () => boolean) =>
  useBlocker({
    shouldBlockFn: ({ current, next }) => current.pathname !== next.pathname && isUnsaved(),
    enableBeforeUnload: isUnsaved,
    withResolver: true,
  })
