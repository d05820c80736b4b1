/** Ends a run for good, whatever else happens to it meanwhile. */
import { HostError } from '../errors.ts'
import type { RunRow } from '../schema/run.ts'
import type { Storage } from '../storage/storage.ts'
import { CANCELLED, noRun, OVER } from './run-rows.ts'

/** Who loses a race looks again: what won it may be the end, and then that is told. */
export async function cancelRun(storage: Storage, { userId, runId }: Pick<RunRow, 'userId' | 'runId'>): Promise<void> {
  for (;;) {
    const isCancelled = await storage.transaction({ userId }, async (tx) => {
      const row = await tx.get('runs', runId)
      if (!row) throw noRun()
      if (OVER.has(row.status))
        throw new HostError('conflict', { detail: `The run is ${row.status} already.`, action: 'Nothing: it is over.' })
      return tx.update('runs', runId, { set: CANCELLED(), where: { status: row.status } })
    })
    if (isCancelled) return
  }
}
