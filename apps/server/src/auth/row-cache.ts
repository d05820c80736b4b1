/**
 * A bounded memory of rows on the way of every request, trusted only while the watch is live. A row that was read before a
 * change was told is not kept after it, so that what is over is not remembered by a reader that was slow.
 */
import type { Storage } from '@loadout/core'
import type { Change } from '@loadout/core/services'

const MAX_ROWS = 10_000

export interface RowCache<R> {
  /** The kept row, or what `load` finds. */
  get(key: string, load: () => Promise<R | undefined>): Promise<R | undefined>
}

export interface RowCacheOptions<R> {
  collection: string
  /** Whether what is kept under a key is what a change with this id is about. */
  isAbout: (key: string, row: R | undefined, id: string) => boolean
  /** Whether it is kept that there is nothing. Only where keys are not made up by whoever asks. */
  keepMissing?: boolean
}

export function createRowCache<R>(storage: Storage, options: RowCacheOptions<R>): RowCache<R> {
  const { collection, isAbout, keepMissing = false } = options
  const rows = new Map<string, R | undefined>()
  let live = false
  let generation = 0
  let watching: Promise<unknown> | undefined
  const onChange = (change: Change) => {
    if (change.kind === 'row' && change.collection !== collection) return
    generation++
    if (change.kind === 'row') for (const [key, row] of rows) if (isAbout(key, row, change.id)) rows.delete(key)
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
      if (live && rows.has(key)) return rows.get(key)
      const before = generation
      const row = await load()
      if ((row === undefined && !keepMissing) || !live || generation !== before) return row
      if (rows.size >= MAX_ROWS) rows.clear()
      rows.set(key, row)
      return row
    },
  }
}
