import { it } from 'vitest'
import { housekeepingCase } from '../../test/fixtures/housekeeping-case.ts'
import { indexedDb } from '../storage/indexeddb.ts'

it('housekeeping deletes expired rows from browser storage', async () => {
  const storage = indexedDb({ database: `test-${crypto.randomUUID()}` })
  await housekeepingCase(storage)
  await storage.close()
})
