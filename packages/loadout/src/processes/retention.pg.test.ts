import { expect, inject, it } from 'vitest'
import { createDatabase } from '../../../../test/database.ts'
import { housekeepingCase } from '../../test/fixtures/housekeeping-case.ts'
import { postgres } from '../storage/postgres.ts'
import { sampleCallRow } from '../testing/suites/storage/rows.ts'
import { createHousekeeping } from './retention.ts'

it('housekeeping deletes only expired rows, and two concurrent sweeps delete each row once', async () => {
  const { url, drop } = await createDatabase(inject('postgresUrl'))
  const storage = postgres({ url, maxConnections: 4 })
  await housekeepingCase(storage)
  // Its process is closed by now, and with it the rest is over.
  await createHousekeeping(storage).sweep()
  const rows = Array.from({ length: 1000 }, (_, index) =>
    sampleCallRow(`user-${index % 20}`, { expiresAt: new Date(0) }),
  )
  for (const [userId, own] of Map.groupBy(rows, (row) => row.userId))
    await storage.transaction({ userId }, (tx) => tx.insertAll('calls', own))
  const removed = await Promise.all(
    [createHousekeeping(storage), createHousekeeping(storage)].map((one) => one.sweep()),
  )
  expect(removed.reduce((sum, one) => sum + one, 0)).toBe(rows.length)
  await storage.close()
  await drop()
})
