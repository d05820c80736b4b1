import { it } from 'vitest'
import { indexedDb } from '../storage/indexeddb.ts'
import { housekeepingCase } from '../testing/housekeeping-case.ts'

it('what is over goes from the storage of a browser', async () => {
  const storage = indexedDb({ database: `test-${crypto.randomUUID()}` })
  await housekeepingCase(storage)
  await storage.close()
})
