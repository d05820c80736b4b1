/** Cancelling loses races: against the process that works on the run, and against answers that wake it. */
import { expect, it } from 'vitest'
import { memory } from '../storage/memory.ts'
import type { Storage } from '../storage/storage.ts'
import { cancelRun } from './embedded.ts'
import { newRun } from './run-rows.ts'

/** One whose row has another status by the time that somebody cancels it, once. */
async function raced(status: 'queued' | 'completed') {
  const storage = memory()
  await storage.ready()
  const row = { ...newRun({ userId: 'ann', kind: 'program', input: {} }), status: 'paused' as const }
  await storage.transaction({ userId: 'ann' }, (tx) => tx.insert('runs', row))
  let isFirst = true
  const racing: Storage = {
    ...storage,
    transaction: (access, work) =>
      storage.transaction(access, (tx) =>
        work({
          ...tx,
          get: tx.get.bind(tx),
          async update(collection, id, change) {
            if (isFirst) await tx.update('runs', row.runId, { set: { status } })
            isFirst = false
            return tx.update(collection, id, change)
          },
        }),
      ),
  }
  const now = () => storage.transaction({ userId: 'ann' }, (tx) => tx.get('runs', row.runId))
  return { racing, ids: { userId: 'ann', runId: row.runId }, now }
}

it('cancelling a run that was woken meanwhile still cancels it', async () => {
  const { racing, ids, now } = await raced('queued')
  await cancelRun(racing, ids)
  expect((await now())?.status).toBe('cancelled')
})

it('cancelling a run that completed meanwhile fails with a conflict', async () => {
  const { racing, ids, now } = await raced('completed')
  await expect(cancelRun(racing, ids)).rejects.toMatchObject({ code: 'conflict' })
  expect((await now())?.status).toBe('completed')
})
