/** How good an order is, and how sure that is. */
import type { BenchQuery } from './sets.ts'

export interface Quality {
  recall: Record<1 | 3 | 5 | 10, number>
  ndcg: number
  mrr: number
  /** Of R@5, 95 %. */
  interval: [number, number]
}

const RESAMPLES = 1000

/** All in per cent, over the queries; `found` in the order of the queries. */
export function qualityOf(queries: readonly BenchQuery[], found: ReadonlyArray<readonly string[]>): Quality {
  const each = queries.map(({ groups }, index) => ofOne(groups, found[index] ?? []))
  const fives = each.map(({ recall }) => recall[5])
  return {
    recall: {
      1: percent(each.map(({ recall }) => recall[1])),
      3: percent(each.map(({ recall }) => recall[3])),
      5: percent(fives),
      10: percent(each.map(({ recall }) => recall[10])),
    },
    ndcg: percent(each.map(({ ndcg }) => ndcg)),
    mrr: percent(each.map(({ mrr }) => mrr)),
    interval: bootstrap(fives),
  }
}

function ofOne(groups: readonly string[][], found: readonly string[]) {
  const ranks = groups
    .map((group) => found.findIndex((id) => group.includes(id)))
    .filter((rank) => rank >= 0)
    .sort((a, b) => a - b)
  const within = (k: number) => ranks.filter((rank) => rank < k).length / groups.length
  const gain = (rank: number) => 1 / Math.log2(rank + 2)
  const ideal = groups.slice(0, 10).reduce((sum, _, rank) => sum + gain(rank), 0)
  const gained = ranks.filter((rank) => rank < 10).reduce((sum, rank) => sum + gain(rank), 0)
  const [first] = ranks
  return {
    recall: { 1: within(1), 3: within(3), 5: within(5), 10: within(10) },
    ndcg: gained / ideal,
    mrr: first === undefined ? 0 : 1 / (first + 1),
  }
}

const percent = (values: readonly number[]) => (100 * values.reduce((sum, one) => sum + one, 0)) / values.length

/** Drawn again and again from what there is, always the same draws. */
function bootstrap(values: readonly number[]): [number, number] {
  const random = seeded(7)
  const means = Array.from({ length: RESAMPLES }, () => {
    let sum = 0
    for (let i = 0; i < values.length; i++) sum += values[Math.floor(random() * values.length)] as number
    return (100 * sum) / values.length
  }).sort((a, b) => a - b)
  return [at(means, 0.025), at(means, 0.975)]
}

function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32
  }
}

/** The value below which a share of them lies; sorted ones. */
export const at = (sorted: readonly number[], share: number) =>
  sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN
