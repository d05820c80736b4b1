/**
 * Writes records of finished calls in batches after a short delay. The caller already has the outcome, so records that
 * cannot be written are dropped.
 */
import type { CallRow } from '../../schema/records/call.ts'
import type { Storage } from '../../storage/storage.ts'
import { missingResult } from './outcome-json.ts'

export interface WriteBehind {
  add(row: CallRow): void
  /** Drops pending records of a user who is being removed. */
  forget(userId: string): void
  /** Writes all pending records. */
  flush(): Promise<void>
}

const FLUSH_MS = 200
const MAX_PENDING = 10_000
const BATCH = 500

export function createWriteBehind(storage: Storage): WriteBehind {
  let pending: CallRow[] = []
  let timer: ReturnType<typeof setTimeout> | undefined
  let writing: Promise<void> = Promise.resolve()

  const write = async () => {
    for (let batch = pending.splice(0, BATCH); batch.length > 0; batch = pending.splice(0, BATCH))
      for (const [userId, rows] of Map.groupBy(batch, (row) => row.userId))
        await storage
          .transaction({ userId }, (tx) => tx.insertAll('calls', rows))
          .catch(() => oneByOne(storage, userId, rows))
  }
  const flush = () => {
    clearTimeout(timer)
    timer = undefined
    writing = writing.then(write)
    return writing
  }
  return {
    add(row) {
      if (pending.length >= MAX_PENDING) pending.shift()
      pending.push(row)
      if (timer !== undefined) return
      timer = setTimeout(() => void flush(), FLUSH_MS)
      if (typeof timer === 'object' && 'unref' in timer) timer.unref()
    },
    forget(userId) {
      pending = pending.filter((row) => row.userId !== userId)
    },
    flush,
  }
}

/** Writes one by one, so that an invalid record does not block the others. */
async function oneByOne(storage: Storage, userId: string, rows: readonly CallRow[]): Promise<void> {
  const insert = (row: CallRow) => storage.transaction({ userId }, (tx) => tx.insert('calls', row))
  for (const row of rows)
    await insert(row)
      .catch(() => insert({ ...row, outcomeJson: missingResult(row.status as never) }))
      .catch(() => {})
}
