import { afterAll, describe, it } from 'vitest'
import { executorSuite } from '../testing/executor-suite.ts'
import { quickjs } from './quickjs.ts'

describe('executor: quickjs, in threads', () => {
  const executor = quickjs()
  afterAll(() => executor.close())
  for (const { name, run } of executorSuite(() => executor)) it(name, run)
})
