/** Runs that nobody works on, whoever's they are. */
import type { RunRow } from '../schema/run.ts'
import type { Storage, Transaction } from '../storage/storage.ts'
import { ELSEWHERE, isGivenUp } from './provider-rows.ts'

const caller = 'run-engine'
const PAGE = 100

/** What is to be freed (left by processes that are gone, or past its time to wait), and what waits to begin. */
export function findLeft(
  storage: Storage,
  isLeft: (tx: Transaction, row: RunRow) => Promise<boolean>,
): Promise<{ freed: RunRow[]; queued: RunRow[] }> {
  return storage.transaction({ caller }, async (tx) => {
    const freed: RunRow[] = []
    for (const row of await tx.list('runs', { where: { status: 'running' } }))
      if (row.leaseOwner === ELSEWHERE ? isGivenUp(row) : await isLeft(tx, row)) freed.push(row)
    const late = await tx.list('runs', {
      ...{ where: { status: 'paused' }, between: { field: 'leaseUntil', to: new Date() }, limit: PAGE },
    })
    freed.push(...late)
    return { freed, queued: await tx.list('runs', { where: { status: 'queued' }, limit: PAGE }) }
  })
}

/** The newest of those that wait. */
export const pausedRuns = (storage: Storage): Promise<RunRow[]> =>
  storage.transaction({ caller }, (tx) => tx.list('runs', { where: { status: 'paused' }, order: 'desc', limit: PAGE }))
