import { it } from 'vitest'
import { housekeepingCase } from '../../test/fixtures/housekeeping-case.ts'
import { indexedDb } from '../storage/indexeddb.ts'

it('what is over goes from the storage of a browser', async () => {
  const storage = indexedDb({ database: `test-${crypto.randomUUID()}` })
  await housekeepingCase(storage)
  await storage.close()
})
