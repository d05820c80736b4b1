import { afterAll, beforeAll, describe, it } from 'vitest'
import { embeddedEngines } from '../../test/fixtures/embedded-engines.ts'
import { type SharedPglite, sharedPglite } from '../../test/fixtures/shared-pglite.ts'
import { memory } from '../storage/memory.ts'
import { engineSuite } from '../testing/suites/engine/suite.ts'

describe('the embedded engine in memory', () => {
  for (const { name, run } of engineSuite(async () => embeddedEngines(memory()))) it(name, run)
})

describe('the embedded engine on PGlite', () => {
  let engine: SharedPglite
  beforeAll(async () => {
    engine = await sharedPglite()
  })
  afterAll(() => engine.close())
  const open = async () => {
    const storage = engine.open()
    return embeddedEngines(storage, () => storage.close())
  }
  for (const { name, run } of engineSuite(open)) it(name, run)
})
