/**
 * Reads on the way of every call, kept in memory and dropped when `watch()` tells of a change. The invariants:
 * a key always carries the user; nothing is kept while the watch is not live; what was loaded before a change is
 * never kept after it; memory is bounded, by users and by rows.
 */
import { LRUCache } from 'lru-cache'
import { APP_OWNER } from '../schema/ids.ts'
import type { CacheKey, Change, Collection, ReadCache, Storage } from './storage.ts'

interface Entry {
  value: Promise<unknown>
  collections: readonly Collection[]
  /** About how many rows it holds, once it is loaded. */
  weight: number
}

export interface ReadCacheOptions {
  /** How many users' reads are kept. @default 10_000 */
  maxUsers?: number
  /** How many rows all of them may hold; the users who read least lately go first. @default 100_000 */
  maxRows?: number
}

export function createReadCache(
  storage: Storage,
  { maxUsers = 10_000, maxRows = 100_000 }: ReadCacheOptions = {},
): ReadCache {
  let rows = 0
  const users = new LRUCache<string, Map<string, Entry>>({
    max: maxUsers,
    dispose: (entries) => {
      for (const entry of entries.values()) rows -= entry.weight
      entries.clear()
    },
  })
  const drop = (entries: Map<string, Entry>, collection: Collection) => {
    for (const [name, entry] of entries) {
      if (!entry.collections.includes(collection)) continue
      entries.delete(name)
      rows -= entry.weight
    }
  }
  const weigh = (entries: Map<string, Entry>, entry: Entry, value: unknown) => {
    if (![...entries.values()].includes(entry)) return
    entry.weight = weightOf(value)
    rows += entry.weight
    while (rows > maxRows && users.size > 1) users.pop()
  }
  let live = false
  let stop: (() => void) | undefined
  let watching: Promise<void> | undefined
  let closed = false

  function onChange(change: Change): void {
    if (change.kind !== 'row') {
      live = change.kind === 'live' && !closed
      users.clear()
    } else if (change.userId === APP_OWNER) for (const entries of users.values()) drop(entries, change.collection)
    else {
      const entries = users.get(change.userId)
      if (entries) drop(entries, change.collection)
    }
  }

  async function startWatching(): Promise<void> {
    try {
      stop = await storage.watch(onChange)
      if (closed) stop()
    } catch {
      // Until a later read can watch, reads are not kept; what is wrong with the storage they say themselves.
      watching = undefined
    }
  }

  return {
    async read<T>({ userId, name }: CacheKey, collections: readonly Collection[], load: () => Promise<T>): Promise<T> {
      watching ??= startWatching()
      await watching
      if (!live) return load()
      const entries = users.get(userId) ?? new Map<string, Entry>()
      users.set(userId, entries)
      const kept = entries.get(name)
      if (kept) return kept.value as Promise<T>
      const entry: Entry = { value: load(), collections, weight: 0 }
      entries.set(name, entry)
      // A failure is told to those who wait for it and is not kept.
      entry.value.then(
        (value) => weigh(entries, entry, value),
        () => entries.get(name) === entry && entries.delete(name),
      )
      return entry.value as Promise<T>
    },
    close() {
      closed = true
      live = false
      users.clear()
      stop?.()
    },
  }
}

/** Lists and lists by key are what grows; anything else counts as one. */
function weightOf(value: unknown): number {
  if (Array.isArray(value)) return value.length
  if (!(value instanceof Map)) return 1
  let sum = 0
  for (const inner of value.values()) sum += weightOf(inner)
  return sum
}
