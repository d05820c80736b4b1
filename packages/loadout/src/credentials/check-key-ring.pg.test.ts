import { afterAll, describe, inject, it } from 'vitest'
import { createDatabase } from '../../../../test/database.ts'
import { postgres } from '../storage/postgres.ts'
import { keyCheckCases } from '../testing/key-check-cases.ts'

describe('the keys at a start, on PostgreSQL', async () => {
  const { url, drop } = await createDatabase(inject('postgresUrl'))
  const storage = postgres({ url })
  afterAll(async () => {
    await storage.close()
    await drop()
  })
  for (const { name, run } of await keyCheckCases(storage)) it(name, run)
})
