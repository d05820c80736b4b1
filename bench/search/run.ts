/** One contender on one set: how good, how fast, how large. */
import { at, type Quality, qualityOf } from './measures.ts'
import type { Contender } from './peers.ts'
import type { BenchSet } from './sets.ts'

export interface Row extends Quality {
  contender: string
  ours: boolean
  p50: number
  p95: number
  buildMs: number
  megabytes: number
}

const LIMIT = 10
const WARM_UP = 50
/** Latency is that of the fastest of some rounds: others are at work on the machine. */
const ROUNDS = 5
const MOST_MS = 10_000

export async function measure({ name, ours, build }: Contender, { tools, reported }: BenchSet): Promise<Row> {
  const before = memory()
  const started = performance.now()
  const find = await build(tools)
  const buildMs = performance.now() - started
  const megabytes = (memory() - before) / 2 ** 20
  for (const { query } of reported.slice(0, WARM_UP)) await find(query, LIMIT)
  const found: Array<readonly string[]> = []
  let times: number[] = []
  const until = performance.now() + MOST_MS
  for (let round = 0; round < ROUNDS && (round === 0 || performance.now() < until); round++) {
    const own: number[] = []
    for (const [index, { query }] of reported.entries()) {
      const start = performance.now()
      found[index] = await find(query, LIMIT)
      own.push(performance.now() - start)
    }
    own.sort((a, b) => a - b)
    if (round === 0 || at(own, 0.95) < at(times, 0.95)) times = own
  }
  return {
    ...{ contender: name, ours, buildMs, megabytes, p50: at(times, 0.5), p95: at(times, 0.95) },
    ...qualityOf(reported, found),
  }
}

/** What is held after a collection: `--expose-gc`. */
function memory(): number {
  globalThis.gc?.()
  globalThis.gc?.()
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}
