import { beforeAll, describe, it } from 'vitest'
import { embeddedPlace } from '../../test/fixtures/embedded-place.ts'
import { memory } from '../storage/memory.ts'
import { pglite } from '../storage/pglite.ts'
import { engineSuite } from '../testing/engine-suite.ts'

describe('the embedded engine in memory', { timeout: 20_000 }, () => {
  for (const { name, run } of engineSuite(async () => embeddedPlace(memory()))) it(name, run)
})

describe('the embedded engine on PGlite', { timeout: 60_000 }, () => {
  let empty: Uint8Array
  beforeAll(async () => {
    const storage = pglite()
    empty = await storage.backup()
    await storage.close()
  })
  const open = async () => {
    const storage = pglite({ from: empty })
    return embeddedPlace(storage, () => storage.close())
  }
  for (const { name, run } of engineSuite(open)) it(name, run)
})
