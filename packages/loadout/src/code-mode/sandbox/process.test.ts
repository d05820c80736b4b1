import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { afterAll, describe, expect, it } from 'vitest'
import { HOSTILE_LIMITS, HOSTILE_PROGRAMS, HOSTILE_SAMPLE } from '../../../test/hostile/programs.ts'
import { runHostile } from '../../../test/hostile/run.ts'
import { expectFailure, expectValue, run } from '../../testing/suites/executor/case.ts'
import { executorSuite } from '../../testing/suites/executor/suite.ts'
import { quickjs } from '../quickjs.ts'

const isFull = process.env.LOADOUT_PROVE === 'full'
/** Each program is a process here, so that without a reason only some of all are run. */
const SOME =
  /^(tools are|calls start|a tool failure|log entries|answers|the time limit|errors have|a bridge failure|cancellation)/
const ISOLATIONS = ['process', 'bubblewrap'] as const
const CANARY = 'canary-of-the-environment-4c2a'

/** The processes of programs that are ours. */
function guests(): number[] {
  return readdirSync('/proc').flatMap((pid) => {
    if (!/^\d+$/.test(pid) || !existsSync(`/proc/${pid}/cmdline`)) return []
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('process-entry') && isOurs(Number(pid))
        ? Number(pid)
        : []
    } catch {
      return []
    }
  })
}

/** Its parent in the sandbox may have gone first, and taken it along. */
function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {}
}

function isOurs(pid: number): boolean {
  if (pid === process.pid) return true
  const parent = Number(
    readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) \S /s, '')
      .split(' ')[0],
  )
  return parent > 1 && isOurs(parent)
}

for (const isolation of ISOLATIONS)
  describe(`executor: quickjs, isolation ${isolation}`, () => {
    process.env.PROGRAM_CANARY = CANARY
    const executor = quickjs({ isolation })
    afterAll(() => executor.close())
    const cases = executorSuite(() => executor)

    for (const one of cases.filter(({ name }) => isFull || SOME.test(name))) it(one.name, { timeout: 120_000 }, one.run)

    it('contains hostile programs', { timeout: 900_000 }, async () => {
      const programs = isFull
        ? HOSTILE_PROGRAMS
        : HOSTILE_SAMPLE.filter((_, n) => n % 2 === ISOLATIONS.indexOf(isolation))
      const options = { limits: HOSTILE_LIMITS, atOnce: 2, secrets: [CANARY] }
      const reports = await runHostile(executor, programs, options)
      const wrong = reports.filter((report) => report.wrong.length > 0)
      expect(wrong.map((report) => `${report.name} → ${report.wrong.join('; ')}`)).toEqual([])
    })
  })

for (const isolation of ISOLATIONS)
  describe(`program processes with isolation ${isolation}`, () => {
    it('do not inherit the host environment', async () => {
      const executor = quickjs({ isolation, spares: 1 })
      const called = Promise.withResolvers<void>()
      const call = () => {
        called.resolve()
        return new Promise<never>(() => {})
      }
      const running = run(executor, 'await kit.slow()', { bridge: { call } })
      await called.promise
      const found = guests()
      expect(found.length).toBeGreaterThan(0)
      for (const pid of found) expect(readFileSync(`/proc/${pid}/environ`, 'utf8')).not.toContain(CANARY)
      await executor.close()
      expect((await running).status).toBe('failed')
    })

    it('end their program when killed, and the next program uses a new process', async () => {
      const executor = quickjs({ isolation, spares: 0 })
      const called = Promise.withResolvers<void>()
      const call = () => {
        called.resolve()
        return new Promise<never>(() => {})
      }
      const lost = expectFailure(executor, 'await kit.slow()', { bridge: { call } })
      await called.promise
      const before = guests()
      for (const pid of before) kill(pid)
      expect((await lost).code).toBe('sandbox-lost')
      expect(await expectValue(executor, 'return 1')).toBe(1)
      await expect.poll(() => guests()).toEqual([])
      await executor.close()
    })

    it('are all gone after the executor closes', async () => {
      const executor = quickjs({ isolation, spares: 1 })
      await Promise.all([1, 2, 3].map((n) => expectValue(executor, `return ${n}`)))
      await run(executor, 'for (;;);', { limits: { cpuMs: 50 } })
      await executor.close()
      await expect.poll(() => guests()).toEqual([])
      expect((await expectFailure(executor, 'return 1')).code).toBe('sandbox-lost')
    })
  })
