/** Waits for a row of a collection to change, in whichever process that happens; while changes may be missed, not for long. */
import type { Collection, Storage } from './storage.ts'

export interface RowChanges {
  /** Resolves at the next change from now on, after so long at the latest, or when the signal ends it. */
  next(id: string, ms: number, signal?: AbortSignal): Promise<void>
  /** Begins to follow; else that is when somebody waits. */
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
        const waiters = waitersById.get(id) ?? new Set()
        const wake = () => {
          clearTimeout(timer)
          signal?.removeEventListener('abort', wake)
          waiters.delete(wake)
          if (waiters.size === 0) waitersById.delete(id)
          resolve()
        }
        const timer = setTimeout(wake, ms)
        waiters.add(wake)
        waitersById.set(id, waiters)
        signal?.addEventListener('abort', wake, { once: true })
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
