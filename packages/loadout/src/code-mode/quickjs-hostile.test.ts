import { availableParallelism, loadavg } from 'node:os'
import { afterAll, describe, expect, it } from 'vitest'
import { heldDuring } from '../../test/fixtures/event-loop-lag.ts'
import { HOSTILE_LIMITS, HOSTILE_PROGRAMS } from '../../test/hostile/programs.ts'
import { hostHarm, runHostile } from '../../test/hostile/run.ts'
import { quickjs } from './quickjs.ts'

const CANARY = 'canary-of-the-host-8d1f'
/** On a machine that nobody else uses, none. */
const byLoad = () => Math.max(1, (3 * (loadavg()[0] ?? 0)) / availableParallelism())
const isFull = process.env.LOADOUT_PROVE === 'full'

describe('hostile programs: quickjs, in threads', () => {
  const executor = quickjs()
  afterAll(() => executor.close())

  it(`contains all ${HOSTILE_PROGRAMS.length}`, { timeout: 1_800_000 }, async () => {
    Object.assign(globalThis, { hostCanary: CANARY })
    process.env.HOST_CANARY = CANARY
    const options = isFull
      ? { limits: { ...HOSTILE_LIMITS, memoryBytes: 64 << 20, cpuMs: 1_000 }, atOnce: 1, slack: byLoad }
      : { limits: HOSTILE_LIMITS, atOnce: 3, slack: () => 40 }
    const { result: reports, heldMs } = await heldDuring(() =>
      runHostile(executor, HOSTILE_PROGRAMS, { ...options, secrets: [CANARY] }),
    )
    const wrong = reports.filter((report) => report.wrong.length > 0)
    expect(wrong.map((report) => `${report.name} → ${report.wrong.join('; ')}`)).toEqual([])
    expect(reports).toHaveLength(HOSTILE_PROGRAMS.length)
    expect(hostHarm()).toEqual([])
    expect(heldMs).toBeLessThan(100)
  })
})
