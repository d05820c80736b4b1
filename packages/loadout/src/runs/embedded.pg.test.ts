import { describe, inject, it } from 'vitest'
import { createDatabase } from '../../../../test/database.ts'
import { embeddedEngines } from '../../test/fixtures/embedded-engines.ts'
import { postgres } from '../storage/postgres.ts'
import { engineSuite } from '../testing/suites/engine/suite.ts'

describe('the embedded engine on PostgreSQL', () => {
  const open = async () => {
    const { url, drop } = await createDatabase(inject('postgresUrl'))
    const storage = postgres({ url, maxConnections: 4 })
    await storage.ready()
    return embeddedEngines(storage, async () => {
      await storage.close()
      await drop()
    })
  }
  for (const { name, run } of engineSuite(open)) it(name, run)
})
