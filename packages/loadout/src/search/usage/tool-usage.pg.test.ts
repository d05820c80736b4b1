import { expect, inject, it } from 'vitest'
import { createDatabase } from '../../../../../test/database.ts'
import { removedAt } from '../../calls/stages/with-learning.ts'
import { postgres } from '../../storage/postgres.ts'
import { createReadCache } from '../../storage/read-cache.ts'
import { createToolUsage } from './tool-usage.ts'

it('learned usage from several processes is counted without loss and visible in each', async () => {
  const { url, drop } = await createDatabase(inject('postgresUrl'))
  const storages = [postgres({ url, maxConnections: 2 }), postgres({ url, maxConnections: 2 })]
  const all = storages.map((storage) =>
    createToolUsage({ storage, cache: createReadCache(storage), goneSince: removedAt }),
  )
  for (let round = 0; round < 10; round++) {
    for (const [process, learned] of all.entries())
      learned.note({
        userId: 'ann',
        uscoId: 'usco_files',
        tool: 'read_file',
        succeeded: true,
        at: new Date(),
        prompt: () => `question ${process} ${round}`,
      })
    await Promise.all(all.map((learned) => learned.flush()))
  }
  for (const learned of all) await expect.poll(() => learned.list('ann')).toMatchObject([{ calls: 20, successes: 20 }])
  expect((await all[0]?.list('ann'))?.[0]?.examples).toHaveLength(20)
  expect(await all[1]?.list('bob')).toEqual([])
  await Promise.all(storages.map((storage) => storage.close()))
  await drop()
})
