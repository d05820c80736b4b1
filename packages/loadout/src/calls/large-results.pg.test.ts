import { inject, it } from 'vitest'
import { createDatabase } from '../../../../test/database.ts'
import { FILESYSTEM } from '../../../../test/real-servers.ts'
import { expectRead, runLarge } from '../../test/fixtures/large-run.ts'

it('50 MB of a real server, over stdio and over HTTP, kept in PostgreSQL: a preview under 2 KB, bounded memory, read right', async () => {
  const database = await createDatabase(inject('postgresUrl'))
  try {
    expectRead(await runLarge(FILESYSTEM, database.url))
  } finally {
    await database.drop()
  }
})
