import type { Change } from './storage.ts'

export type Watcher = (change: Change) => void

/** Who is told of changes. What a watcher throws is its own affair: the change is committed, and the others are told. */
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
    /** `first` is for the new watcher alone. */
    add(watcher: Watcher, first?: Change): () => void {
      watchers.add(watcher)
      if (first) notifyOne(watcher, first)
      return () => void watchers.delete(watcher)
    },
    clear: () => watchers.clear(),
  }
}
