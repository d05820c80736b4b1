import { afterAll, describe, expect, it } from 'vitest'
import { newWork } from '../../../../test/prove/work.ts'
import { quickjs } from '../../src/code-mode/quickjs.ts'
import { HOSTILE_LIMITS, HOSTILE_PROGRAMS } from '../hostile/programs.ts'
import { hostHarm, runHostile } from '../hostile/run.ts'

const CANARY = 'canary-of-the-host-8d1f'
const work = newWork()
/** What the host does for programs within 50 ms, however many turns of its event loop that takes. */
const TURNS = { steps: 5_000_000, ms: 100, everyMs: 50 }
const isFull = process.env.LOADOUT_PROVE === 'full'

describe('the quickjs executor in threads', () => {
  const executor = quickjs()
  afterAll(() => executor.close())

  it(`contains all ${HOSTILE_PROGRAMS.length} hostile programs`, { timeout: 1_800_000 }, async () => {
    Object.assign(globalThis, { hostCanary: CANARY })
    process.env.HOST_CANARY = CANARY
    const options = isFull
      ? { limits: { ...HOSTILE_LIMITS, memoryBytes: 64 << 20, cpuMs: 1_000 }, atOnce: 1, slack: 3 }
      : { limits: HOSTILE_LIMITS, atOnce: 3 }
    const reports = await work.perTurn(TURNS, () =>
      runHostile(executor, HOSTILE_PROGRAMS, { ...options, secrets: [CANARY] }),
    )
    const wrong = reports.filter((report) => report.wrong.length > 0)
    expect(wrong.map((report) => `${report.name} → ${report.wrong.join('; ')}`)).toEqual([])
    expect(reports).toHaveLength(HOSTILE_PROGRAMS.length)
    expect(hostHarm()).toEqual([])
  })
})
