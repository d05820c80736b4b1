/**
 * Reads on the way of every call, kept in memory and dropped when `watch()` tells of a change. The invariants:
 * a key always carries the user; nothing is kept while the watch is not live; what was loaded before a change is
 * never kept after it; memory is bounded by users.
 */
import { LRUCache } from 'lru-cache'
import { APP_OWNER } from '../schema/ids.ts'
import type { CacheKey, Change, Collection, ReadCache, Storage } from './storage.ts'

interface Entry {
  value: Promise<unknown>
  collections: readonly Collection[]
}

export interface ReadCacheOptions {
  /** How many users' reads are kept. @default 10_000 */
  maxUsers?: number
}

export function createReadCache(storage: Storage, { maxUsers = 10_000 }: ReadCacheOptions = {}): ReadCache {
  const users = new LRUCache<string, Map<string, Entry>>({ max: maxUsers })
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
      const entry: Entry = { value: load(), collections }
      entries.set(name, entry)
      // A failure is told to those who wait for it and is not kept.
      entry.value.catch(() => entries.get(name) === entry && entries.delete(name))
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

function drop(entries: Map<string, Entry>, collection: Collection): void {
  for (const [name, entry] of entries) if (entry.collections.includes(collection)) entries.delete(name)
}
