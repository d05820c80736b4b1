import type { Change } from './storage.ts'

export type Watcher = (change: Change) => void

/** Set of watchers. A watcher that throws does not affect the others, because the change is already committed. */
export function createWatchers() {
  const watchers = new Set<Watcher>()
  const notifyOne = (watcher: Watcher, change: Change) => {
    try {
      watcher(change)
    } catch {}
  }
  return {
    notify(change: Change): void {
      for (const watcher of [...watchers]) notifyOne(watcher, change)
    },
    /** `first` is sent to the new watcher only. */
    add(watcher: Watcher, first?: Change): () => void {
      watchers.add(watcher)
      if (first) notifyOne(watcher, first)
      return () => void watchers.delete(watcher)
    },
    clear: () => watchers.clear(),
  }
}
