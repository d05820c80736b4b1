/**
 * Bounds the work of a piece of code in two units. `npm test` counts blocks of source that V8 ran, which no load on the machine
 * changes. `npm run prove:timing` measures milliseconds and bytes instead; nothing else may compare a clock in a test.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { expect } from 'vitest'
import type { CoveredFile } from './coverage.ts'

export const isTiming = process.env.LOADOUT_PROVE === 'timing'

export interface Bound {
  /** Blocks of source that run: functions, branches and rounds of loops. */
  steps: number
  /** The same bound in time, for a machine that does nothing else. */
  ms: number
}

export interface Work {
  /** Runs it, and fails where it took more. */
  within<T>(bound: Bound, work: () => T): T
  /** Runs it, and fails where one turn of the event loop took more; with `everyMs`, where all turns of so long did. */
  perTurn<T>(bound: Bound & { everyMs?: number }, work: () => Promise<T>): Promise<T>
}

const UNCOUNTED = /node_modules\/(@vitest|vitest|vite|chai|fast-check|tiny\w+)\/|\/test\/prove\/|\.test\.ts$/
const isCounted = (url: string) => /^(file:|\/)/.test(url) && !UNCOUNTED.test(url)

/** Reads the counts of this process. `start-counting.ts` sets it once, whichever file of a process comes first. */
const shared = globalThis as { loadoutCounting?: { read?: () => CoveredFile[] } }
shared.loadoutCounting ??= {}
export const counting = shared.loadoutCounting

/** The blocks that ran since the last call. */
function countBlocks(): () => number {
  const { read } = counting
  if (!read) throw new Error('This process counts no blocks. Add the test file to COUNTED in vitest.config.ts.')
  return () => {
    let blocks = 0
    for (const { url, functions } of read())
      if (isCounted(url)) for (const { ranges } of functions) for (const { count } of ranges) blocks += count
    return blocks
  }
}

/** Far less than any bound takes. */
const SHORT_MS = 5

/** Awaits what is a promise, and nothing else. */
const after = <T>(result: T, end: () => void): T => {
  if (result instanceof Promise) return result.finally(end) as T
  end()
  return result
}

function counted(): Work {
  const take = countBlocks()
  return {
    within({ steps }, work) {
      take()
      return after(work(), () => expect(take(), 'blocks of source that ran').toBeLessThanOrEqual(steps))
    },
    async perTurn({ steps, everyMs }, work) {
      let [isOver, most, from] = [false, 0, performance.now()]
      const next = () => (everyMs ? setTimeout(turn, everyMs) : setImmediate(turn))
      const turn = () => {
        // Reading the counts takes milliseconds. Turns shorter than that are counted together, which is stricter.
        if (performance.now() - from > SHORT_MS) {
          most = Math.max(most, take())
          from = performance.now()
        }
        if (!isOver) next()
      }
      take()
      next()
      const result = await work().finally(() => {
        isOver = true
      })
      most = Math.max(most, take())
      expect(most, 'blocks of source that ran in one turn of the event loop').toBeLessThanOrEqual(steps)
      return result
    },
  }
}

const measured = (): Work => ({
  within({ ms }, work) {
    const started = performance.now()
    return after(work(), () => expect(performance.now() - started, 'milliseconds').toBeLessThan(ms))
  },
  async perTurn({ ms }, work) {
    const { result, lagMs } = await lagDuring(work)
    expect(lagMs, 'milliseconds that the event loop was held up').toBeLessThan(ms)
    return result
  },
})

/** Only for files of the project `counted`. */
export const newWork = (): Work => (isTiming ? measured() : counted())

/** Runs it; `prove:timing` fails where it takes longer than this. */
export async function provenWithin<T>(ms: number, work: () => Promise<T>): Promise<T> {
  return isTiming ? measured().within({ ms, steps: 0 }, work) : work()
}

/** Runs it; `prove:timing` fails where the process grows by more than this. */
export async function provenGrowth<T>(bytes: number, work: () => Promise<T>): Promise<T> {
  if (!isTiming) return work()
  const before = process.memoryUsage().rss
  let most = before
  const timer = setInterval(() => {
    most = Math.max(most, process.memoryUsage().rss)
  }, 5)
  const result = await work().finally(() => clearInterval(timer))
  expect(most - before, 'bytes by which the process grew').toBeLessThan(bytes)
  return result
}

/** The longest time that the event loop was held up while the work ran, in milliseconds. */
async function lagDuring<T>(work: () => Promise<T>): Promise<{ result: T; lagMs: number }> {
  const monitor = monitorEventLoopDelay({ resolution: 10 })
  monitor.enable()
  try {
    const result = await work()
    await new Promise((resolve) => setTimeout(resolve, 30))
    return { result, lagMs: monitor.max / 1e6 }
  } finally {
    monitor.disable()
  }
}
