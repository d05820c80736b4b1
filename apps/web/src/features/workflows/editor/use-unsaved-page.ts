import { useBlocker } from '@tanstack/react-router'

/** As `useUnsaved`, for a page whose own address changes as one works on it: only another page is asked about. */
export const useUnsavedPage = (isUnsaved: () => boolean) =>
  useBlocker({
    shouldBlockFn: ({ current, next }) => current.pathname !== next.pathname && isUnsaved(),
    enableBeforeUnload: isUnsaved,
    withResolver: true,
  })
