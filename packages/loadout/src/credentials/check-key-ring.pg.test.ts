import { afterAll, describe, inject, it } from 'vitest'
import { createDatabase } from '../../../../test/database.ts'
import { keyCheckCases } from '../../test/fixtures/key-check-cases.ts'
import { postgres } from '../storage/postgres.ts'

describe('the startup key check on PostgreSQL', async () => {
  const { url, drop } = await createDatabase(inject('postgresUrl'))
  const storage = postgres({ url })
  afterAll(async () => {
    await storage.close()
    await drop()
  })
  for (const { name, run } of await keyCheckCases(storage)) it(name, run)
})
