/**
 * Waits for a row to change, in any process. Callers pass a timeout, because changes may be missed while the watch is
 * lost.
 */
import { onAbort } from '../util/abort.ts'
import type { Collection, Storage } from './storage.ts'

export interface RowChanges {
  /** Resolves at the next change, after `ms` milliseconds, or when `signal` aborts. */
  next(id: string, ms: number, signal?: AbortSignal): Promise<void>
  /** Starts to watch; otherwise the first `next` does. */
  open(): Promise<void>
  close(): void
}

export function createRowChanges(
  storage: Storage,
  collection: Collection,
  onChange?: (change: { userId: string; id: string }) => void,
): RowChanges {
  const waitersById = new Map<string, Set<() => void>>()
  let watching: Promise<() => void> | undefined
  const watch = () => {
    watching ??= storage.watch((change) => {
      if (change.kind !== 'row' || change.collection !== collection) return
      for (const wake of [...(waitersById.get(change.id) ?? [])]) wake()
      onChange?.(change)
    })
    return watching.catch(() => {
      watching = undefined
    })
  }
  return {
    next(id, ms, signal) {
      void watch()
      return new Promise<void>((resolve) => {
        let stopListening: (() => void) | undefined
        const waiters = waitersById.get(id) ?? new Set()
        const wake = () => {
          clearTimeout(timer)
          stopListening?.()
          waiters.delete(wake)
          if (waiters.size === 0) waitersById.delete(id)
          resolve()
        }
        const timer = setTimeout(wake, ms)
        waiters.add(wake)
        waitersById.set(id, waiters)
        stopListening = onAbort(signal, wake)
      })
    },
    async open() {
      await watch()
    },
    close() {
      for (const waiters of [...waitersById.values()]) for (const wake of [...waiters]) wake()
      void watching?.then((stop) => stop()).catch(() => {})
    },
  }
}
