/** One contender on one set: how good, how fast, how large. */
import { at, type Quality, qualityOf } from './measures.ts'
import type { Contender } from './peers.ts'
import type { BenchSet } from './sets.ts'

export interface Row extends Quality {
  contender: string
  ours: boolean
  p50: number
  p95: number
  /** Of all times as they were measured, whatever else the machine did. */
  plainP95: number
  buildMs: number
  megabytes: number
}

const LIMIT = 10
const WARM_UP = 50
/** A query's time is its least of some rounds: others are at work on the machine. */
const ROUNDS = 5
const FEWEST_ROUNDS = 2
const MOST_MS = 5000

export async function measure({ name, ours, build }: Contender, { tools, reported }: BenchSet): Promise<Row> {
  const before = memory()
  const [find, first] = await timed(() => build(tools))
  const megabytes = (memory() - before) / 2 ** 20
  const [, second] = await timed(() => build(tools))
  for (const { query } of reported.slice(0, WARM_UP)) await find(query, LIMIT)
  const found: Array<readonly string[]> = []
  const times: number[] = reported.map(() => Number.POSITIVE_INFINITY)
  const all: number[] = []
  const until = performance.now() + MOST_MS
  for (let round = 0; round < ROUNDS && (round < FEWEST_ROUNDS || performance.now() < until); round++)
    for (const [index, { query }] of reported.entries()) {
      const start = performance.now()
      found[index] = await find(query, LIMIT)
      const ms = performance.now() - start
      all.push(ms)
      times[index] = Math.min(times[index] as number, ms)
    }
  for (const one of [times, all]) one.sort((a, b) => a - b)
  return {
    contender: name,
    ours,
    megabytes,
    buildMs: Math.min(first, second),
    p50: at(times, 0.5),
    p95: at(times, 0.95),
    plainP95: at(all, 0.95),
    ...qualityOf(reported, found),
  }
}

async function timed<T>(work: () => T | Promise<T>): Promise<[T, number]> {
  const started = performance.now()
  return [await work(), performance.now() - started]
}

/** What is held after a collection: `--expose-gc`. */
function memory(): number {
  globalThis.gc?.()
  globalThis.gc?.()
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}
