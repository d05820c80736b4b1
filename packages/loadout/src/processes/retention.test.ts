import { describe, expect, it } from 'vitest'
import { housekeepingCase } from '../../test/fixtures/housekeeping-case.ts'
import { createServices } from '../host/create-services.ts'
import { rule } from '../policy/rules.ts'
import { memory } from '../storage/memory.ts'
import { pglite } from '../storage/pglite.ts'
import type { Storage } from '../storage/storage.ts'
import { placesRow, sampleCallRow } from '../testing/suites/storage/rows.ts'
import { createHousekeeping } from './retention.ts'

const DAY_MS = 86_400_000
const drivers: Record<string, () => Storage> = { memory, pglite }

describe('housekeeping', () => {
  for (const [name, open] of Object.entries(drivers))
    it(`deletes only expired rows in ${name}`, async () => {
      const storage = open()
      await housekeepingCase(storage)
      await storage.close()
    })
})

it('housekeeping keeps a row that is used again during the sweep', async () => {
  const storage = memory()
  const ann = { userId: 'ann' }
  const row = placesRow('ann', { updatedAt: new Date(Date.now() - DAY_MS) })
  await storage.transaction(ann, (tx) => tx.insert('places', row))
  let looked = 0
  const between: Storage = {
    ...storage,
    name: storage.name,
    async transaction(access, work) {
      const result = await storage.transaction(access, work)
      // Somebody takes a place right after it was looked at.
      if (Array.isArray(result) && result[0]?.placesId && looked++ === 0)
        await storage.transaction(ann, (tx) =>
          tx.update('places', row.placesId, { set: { version: 2, holdersJson: { p: 1 } } }),
        )
      return result
    },
  }
  expect(await createHousekeeping(between).sweep()).toBe(0)
  expect(looked).toBe(1)
  expect(await storage.transaction(ann, (tx) => tx.list('places'))).toMatchObject([{ version: 2 }])
})

it('a host deletes expired rows in the background at startup and keeps the call count of a run', async () => {
  const storage = memory()
  await storage.transaction({ userId: 'ann' }, (tx) =>
    tx.insert('calls', sampleCallRow('ann', { expiresAt: new Date(0) })),
  )
  const look = { name: 'look', inputSchema: { type: 'object' }, execute: () => 'seen' }
  const host = createServices({
    storage,
    tools: [look] as never,
    policy: [rule('*', 'allow')],
    app: { limits: { maxCallsPerRun: 2 } },
  })
  const call = async () =>
    (
      await host.calls.start({
        userId: 'ann',
        toolkit: 'app',
        tool: 'look',
        arguments: {},
        caller: { type: 'direct' },
        runId: 'r',
      }).outcome
    ).status
  await host.ready()
  await expect.poll(() => storage.transaction({ userId: 'ann' }, (tx) => tx.list('calls'))).toEqual([])
  expect([await call(), await call()]).toEqual(['ok', 'ok'])
  await host.budgets.close()
  await createHousekeeping(storage).sweep()
  expect(await call()).toBe('limited')
  await host.close()
})
