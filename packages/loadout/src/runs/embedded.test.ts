import { afterAll, beforeAll, describe, it } from 'vitest'
import { embeddedPlace } from '../../test/fixtures/embedded-place.ts'
import { type SharedPglite, sharedPglite } from '../../test/fixtures/shared-pglite.ts'
import { memory } from '../storage/memory.ts'
import { engineSuite } from '../testing/suites/engine/suite.ts'

describe('the embedded engine in memory', () => {
  for (const { name, run } of engineSuite(async () => embeddedPlace(memory()))) it(name, run)
})

describe('the embedded engine on PGlite', () => {
  let engine: SharedPglite
  beforeAll(async () => {
    engine = await sharedPglite()
  })
  afterAll(() => engine.close())
  const open = async () => {
    const storage = engine.open()
    return embeddedPlace(storage, () => storage.close())
  }
  for (const { name, run } of engineSuite(open)) it(name, run)
})
