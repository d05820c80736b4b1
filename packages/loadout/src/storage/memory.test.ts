import { describe, it } from 'vitest'
import { storageSuite } from '../testing/suites/storage/suite.ts'
import { memory } from './memory.ts'

describe('storage: memory', () => {
  for (const { name, run } of storageSuite(memory)) it(name, run)
})
