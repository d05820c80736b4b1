import { afterAll, describe, expect, it } from 'vitest'
import { HOSTILE_LIMITS, HOSTILE_SAMPLE } from '../../test/hostile/programs.ts'
import { hostHarm, runHostile } from '../../test/hostile/run.ts'
import { executorSuite } from '../testing/suites/executor/suite.ts'
import { worker } from './worker.ts'

const WASM = new URL('../../../../node_modules/quickjs-wasi/quickjs.wasm', import.meta.url)
const wasm = async () => (await fetch(WASM)).arrayBuffer()
const CANARY = 'canary-of-the-page-77aa'

describe('executor: worker, in a real browser', () => {
  const executor = worker({ wasm })
  afterAll(() => executor.close())
  for (const { name, run } of executorSuite(() => executor)) it(name, run)

  it('contains hostile programs', { timeout: 300_000 }, async () => {
    Object.assign(globalThis, { hostCanary: CANARY })
    const reports = await runHostile(executor, HOSTILE_SAMPLE, {
      limits: { ...HOSTILE_LIMITS, cpuMs: 500 },
      atOnce: 2,
      secrets: [CANARY],
    })
    const wrong = reports.filter((report) => report.wrong.length > 0)
    expect(wrong.map((report) => `${report.name} → ${report.wrong.join('; ')}`)).toEqual([])
    expect(hostHarm()).toEqual([])
  })
})
