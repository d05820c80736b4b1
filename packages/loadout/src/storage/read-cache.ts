/**
 * Caches reads that every call needs, and drops them when `watch()` reports a change. Invariants: a key always contains
 * the user; nothing is cached while the watch is not live; a value loaded before a change is never cached after it;
 * memory is bounded by users and rows.
 */
import { LRUCache } from 'lru-cache'
import { APP_OWNER } from '../schema/ids.ts'
import type { CacheKey, Change, Collection, ReadCache, Storage } from './storage.ts'

/** Entries per user; each thread has its own. */
const MAX_NAMES = 1000

interface Entry {
  value: Promise<unknown>
  collections: readonly Collection[]
  /** Approximate number of rows, once loaded. */
  weight: number
}

export interface ReadCacheOptions {
  /** Users to cache. @default 10_000 */
  maxUsers?: number
  /** Rows to cache in total; the least recently used users are evicted first. @default 100_000 */
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

  // Synchronous lookup, because every call reads several entries.
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
    // A failure reaches the current callers and is not cached.
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
      // Without a watch nothing is cached; the reads themselves report a broken storage.
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

/** Lists and maps of lists count their rows; anything else counts as one. */
function weightOf(value: unknown): number {
  if (Array.isArray(value)) return value.length
  if (!(value instanceof Map)) return 1
  let sum = 0
  for (const inner of value.values()) sum += weightOf(inner)
  return sum
}
