import { inject, it } from 'vitest'
import { createDatabase } from '../../../../test/database.ts'
import { FILESYSTEM } from '../../../../test/real-servers.ts'
import { MEGABYTES } from '../fixtures/large-rows.ts'
import { expectRead, runLarge } from '../fixtures/large-run.ts'

it(`keeps a result of ${MEGABYTES} MB in PostgreSQL and gives the model a preview under 2 KB, over stdio and HTTP`, async () => {
  const database = await createDatabase(inject('postgresUrl'))
  try {
    expectRead(await runLarge(FILESYSTEM, database.url))
  } finally {
    await database.drop()
  }
})
