/**
 * Reads on the way of every call, kept in memory and dropped when `watch()` tells of a change. The invariants:
 * a key always carries the user; nothing is kept while the watch is not live; what was loaded before a change is
 * never kept after it; memory is bounded, by users and by rows.
 */
import { LRUCache } from 'lru-cache'
import { APP_OWNER } from '../schema/ids.ts'
import type { CacheKey, Change, Collection, ReadCache, Storage } from './storage.ts'

/** Of one user: each thread is a read of its own. */
const MAX_NAMES = 1000

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

export function createReadCache(storage: Storage, options: ReadCacheOptions = {}): ReadCache {
  return new WatchedCache(storage, options)
}

class WatchedCache implements ReadCache {
  readonly #storage: Storage
  readonly #users: LRUCache<string, Map<string, Entry>>
  readonly #maxRows: number
  #rows = 0
  #live = false
  #closed = false
  #watching: Promise<void> | undefined
  #stop: (() => void) | undefined

  constructor(storage: Storage, { maxUsers = 10_000, maxRows = 100_000 }: ReadCacheOptions) {
    this.#storage = storage
    this.#maxRows = maxRows
    this.#users = new LRUCache({
      max: maxUsers,
      dispose: (entries) => {
        for (const entry of entries.values()) this.#rows -= entry.weight
        entries.clear()
      },
    })
  }

  // What is kept is given at once: several reads are on the way of every call.
  read<T>(key: CacheKey, collections: readonly Collection[], load: () => Promise<T>): Promise<T> {
    const cached = this.#live ? this.#users.get(key.userId)?.get(key.name) : undefined
    return cached ? (cached.value as Promise<T>) : this.#readFresh(key, collections, load)
  }

  close(): void {
    this.#closed = true
    this.#live = false
    this.#users.clear()
    this.#stop?.()
  }

  async #readFresh<T>(key: CacheKey, collections: readonly Collection[], load: () => Promise<T>): Promise<T> {
    this.#watching ??= this.#watch()
    await this.#watching
    if (!this.#live) return load()
    const entries = this.#users.get(key.userId) ?? new Map<string, Entry>()
    this.#users.set(key.userId, entries)
    const cached = entries.get(key.name)
    if (cached) return cached.value as Promise<T>
    const entry: Entry = { value: load(), collections, weight: 0 }
    if (entries.size >= MAX_NAMES) this.#forget(entries, entries.keys().next().value as string)
    entries.set(key.name, entry)
    // A failure is told to those who wait for it and is not kept.
    entry.value.then(
      (value) => entries.get(key.name) === entry && this.#weigh(entry, value),
      () => entries.get(key.name) === entry && entries.delete(key.name),
    )
    return entry.value as Promise<T>
  }

  async #watch(): Promise<void> {
    try {
      this.#stop = await this.#storage.watch((change) => this.#onChange(change))
      if (this.#closed) this.#stop()
    } catch {
      // Until a later read can watch, reads are not kept; what is wrong with the storage they say themselves.
      this.#watching = undefined
    }
  }

  #onChange(change: Change): void {
    if (change.kind !== 'row') {
      this.#live = change.kind === 'live' && !this.#closed
      this.#users.clear()
    } else if (change.userId === APP_OWNER)
      for (const entries of this.#users.values()) this.#drop(entries, change.collection)
    else {
      const entries = this.#users.get(change.userId)
      if (entries) this.#drop(entries, change.collection)
    }
  }

  #drop(entries: Map<string, Entry>, collection: Collection): void {
    for (const [name, entry] of entries) {
      if (!entry.collections.includes(collection)) continue
      entries.delete(name)
      this.#rows -= entry.weight
    }
  }

  #forget(entries: Map<string, Entry>, name: string): void {
    this.#rows -= entries.get(name)?.weight ?? 0
    entries.delete(name)
  }

  #weigh(entry: Entry, value: unknown): void {
    entry.weight = weightOf(value)
    this.#rows += entry.weight
    while (this.#rows > this.#maxRows && this.#users.size > 1) this.#users.pop()
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
