import { afterAll, describe, expect, it } from 'vitest'
import { preparedBackup } from '../../../../test/prepare-pglite.ts'
import { keyCheckCases } from '../../test/fixtures/key-check-cases.ts'
import { createServices } from '../host/create-services.ts'
import { memory } from '../storage/memory.ts'
import { pglite } from '../storage/pglite.ts'
import { processKeyRing } from './aes-key-ring.ts'

describe('the startup key check on PGlite', async () => {
  const storage = pglite(await preparedBackup())
  afterAll(() => storage.close())
  for (const { name, run } of await keyCheckCases(storage)) it(name, run)
})

it('the startup key check ignores storage that ends with the process', async () => {
  const storage = memory()
  for (const keyRing of [processKeyRing(), processKeyRing()]) {
    const host = createServices({ storage: { ...storage, close: async () => {} }, keyRing })
    await host.ready()
    await host.close()
  }
  expect(await storage.transaction({ caller: 'key-rotation' }, (tx) => tx.list('credentials', {}))).toEqual([])
})
