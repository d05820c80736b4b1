/**
 * Bounded row cache for authentication, valid only while the storage watch is live. A row that was read before a
 * change is not cached after it. The library's read cache does not fit: its keys contain the user, whom authentication
 * looks up here.
 */
import type { Storage } from '@loadout/core'
import type { Change } from '@loadout/core/services'
import { LRUCache } from 'lru-cache'

const MAX_ROWS = 10_000

export interface RowCache<R> {
  /** Returns the cached row or the result of `load`. */
  get(key: string, load: () => Promise<R | undefined>): Promise<R | undefined>
}

export interface RowCacheOptions<R> {
  collection: string
  /** Whether a change with this id concerns the entry of this key. */
  isAbout: (key: string, row: R | undefined, id: string) => boolean
  /** Also caches missing rows. Only for keys that clients cannot make up. */
  keepMissing?: boolean
}

export function createRowCache<R>(storage: Storage, options: RowCacheOptions<R>): RowCache<R> {
  const { collection, isAbout, keepMissing = false } = options
  // Wrapped, because the cache does not store undefined.
  const rows = new LRUCache<string, { row: R | undefined }>({ max: MAX_ROWS })
  let live = false
  let generation = 0
  let watching: Promise<unknown> | undefined
  const onChange = (change: Change) => {
    if (change.kind === 'row' && change.collection !== collection) return
    generation++
    if (change.kind === 'row')
      for (const [key, { row }] of rows.entries()) if (isAbout(key, row, change.id)) rows.delete(key)
    if (change.kind === 'row') return
    live = change.kind === 'live'
    rows.clear()
  }
  return {
    async get(key, load) {
      watching ??= storage.watch(onChange).catch(() => {
        watching = undefined
      })
      await watching
      const cached = live ? rows.get(key) : undefined
      if (cached) return cached.row
      const before = generation
      const row = await load()
      if ((row === undefined && !keepMissing) || !live || generation !== before) return row
      rows.set(key, { row })
      return row
    },
  }
}
