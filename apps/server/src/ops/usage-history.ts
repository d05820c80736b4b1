/** Counts a user's calls over time from their audit entries, at most the newest 50,000. */
import type { Audit, AuditView } from '@loadout/core/services'

export const RANGES = ['1h', '24h', '7d', '30d'] as const
export type Range = (typeof RANGES)[number]

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const SIZES: Record<Range, { bucketMs: number; count: number }> = {
  '1h': { bucketMs: 5 * MINUTE_MS, count: 12 },
  '24h': { bucketMs: HOUR_MS, count: 24 },
  '7d': { bucketMs: 6 * HOUR_MS, count: 28 },
  '30d': { bucketMs: 24 * HOUR_MS, count: 30 },
}
const PAGE = 1000
const MAX_ENTRIES = 50_000
const MAX_TOOLS = 10

const ERRORS = new Set(['tool-error', 'failed'])
const REFUSED = new Set(['denied', 'limited', 'sign-in-needed'])

export interface HistoryInput {
  userId: string
  range: Range
  /** Only this tool. */
  ref?: string | undefined
  /** @default now */
  now?: Date
}

export async function usageHistory(audit: Pick<Audit, 'list'>, { userId, range, ref, now = new Date() }: HistoryInput) {
  const { bucketMs, count } = SIZES[range]
  const end = (Math.floor(now.getTime() / bucketMs) + 1) * bucketMs
  const start = end - count * bucketMs
  const buckets = Array.from({ length: count }, () => new Tally())
  const tools = new Map<string, Tally>()
  const total = new Tally()
  const filter = { action: 'mcp_tool_call', ref, from: new Date(start), to: now }
  let cursor: string | undefined
  let entriesRead = 0
  do {
    const page = await audit.list({ userId }, filter, { limit: PAGE, cursor })
    for (const entry of page.items) {
      // A call can have two entries; the `started` entry is skipped.
      if (entry.outcome === 'started') continue
      const bucket = buckets[Math.floor((new Date(entry.at).getTime() - start) / bucketMs)]
      for (const tally of [bucket, total, tallyOf(tools, entry.ref ?? '')]) tally?.add(entry)
    }
    entriesRead += page.items.length
    cursor = page.nextCursor
  } while (cursor !== undefined && entriesRead < MAX_ENTRIES)
  const topTools = [...tools].sort(([, a], [, b]) => b.calls - a.calls).slice(0, MAX_TOOLS)
  return {
    from: new Date(start).toISOString(),
    bucketMs,
    complete: cursor === undefined,
    total: total.view(),
    buckets: buckets.map((tally, index) => ({ at: new Date(start + index * bucketMs).toISOString(), ...tally.view() })),
    tools: topTools.map(([name, tally]) => {
      const { resultBytes: _, ...view } = tally.view()
      return { ref: name, ...view }
    }),
  }
}

function tallyOf(tools: Map<string, Tally>, ref: string): Tally {
  const tally = tools.get(ref) ?? new Tally()
  tools.set(ref, tally)
  return tally
}

class Tally {
  calls = 0
  #errors = 0
  #refused = 0
  #resultBytes = 0
  readonly #durations: number[] = []

  add({ outcome, detail }: AuditView): void {
    this.calls++
    if (ERRORS.has(outcome ?? '')) this.#errors++
    if (REFUSED.has(outcome ?? '')) this.#refused++
    else if (typeof detail.durationMs === 'number') this.#durations.push(detail.durationMs)
    if (typeof detail.resultSize === 'number') this.#resultBytes += detail.resultSize
  }

  view() {
    const sorted = [...this.#durations].sort((a, b) => a - b)
    const p50 = percentile(sorted, 0.5)
    const p95 = percentile(sorted, 0.95)
    return {
      calls: this.calls,
      errors: this.#errors,
      refused: this.#refused,
      resultBytes: this.#resultBytes,
      ...(p50 === undefined ? {} : { p50 }),
      ...(p95 === undefined ? {} : { p95 }),
    }
  }
}

/** Nearest-rank percentile, which is always a measured value. */
const percentile = (sorted: readonly number[], share: number): number | undefined =>
  sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)]
