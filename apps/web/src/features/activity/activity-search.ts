/** URL search parameters of this page. */
import { pickStrings } from '../../lib/url-search.ts'

export const RANGES = ['1h', '24h', '7d', '30d'] as const
export type Range = (typeof RANGES)[number]

export interface ActivitySearch {
  tab?: string
  toolkit?: string
  tool?: string
  action?: string
  outcome?: string
  caller?: string
  decision?: string
  thread?: string
  /** Time range of the log: relative to now, or `from` and `to`. */
  range?: string
  from?: string
  to?: string
}

const KEYS = [
  'tab',
  'toolkit',
  'tool',
  'action',
  'outcome',
  'caller',
  'decision',
  'thread',
  'range',
  'from',
  'to',
] as const

export const readActivity = (search: Record<string, unknown>): ActivitySearch => pickStrings(search, KEYS)

const HOUR_MS = 3_600_000
const LENGTHS: Record<Range, number> = { '1h': HOUR_MS, '24h': 24 * HOUR_MS, '7d': 168 * HOUR_MS, '30d': 720 * HOUR_MS }

const isRange = (text: string | undefined): text is Range => RANGES.some((range) => range === text)
export const rangeOf = (text: string | undefined, fallback: Range): Range => (isRange(text) ? text : fallback)

/** Query of the audit API. Invalid URL values are ignored. */
export function auditQuery(search: ActivitySearch, now: Date) {
  const { toolkit, tool, action, outcome, thread, range } = search
  const caller = (['direct', 'code', 'workflow'] as const).find((value) => value === search.caller)
  const decision = (['allow', 'ask', 'deny'] as const).find((value) => value === search.decision)
  const from = isRange(range) ? new Date(now.getTime() - LENGTHS[range]).toISOString() : momentOf(search.from)
  const to = isRange(range) ? undefined : momentOf(search.to)
  const filters = { toolkit, ref: tool, action, outcome, threadId: thread, caller, decision, from, to }
  return Object.fromEntries(Object.entries(filters).filter(([, value]) => value)) as {
    [K in keyof typeof filters]?: NonNullable<(typeof filters)[K]>
  }
}

function momentOf(text: string | undefined): string | undefined {
  const moment = new Date(text ?? '')
  return Number.isNaN(moment.getTime()) ? undefined : moment.toISOString()
}

/** Number of active filters. A time range counts as one. */
export function countFilters({ tab: _, from, to, range, ...filters }: ActivitySearch): number {
  const time = from || to || range ? 1 : 0
  return Object.values(filters).filter(Boolean).length + time
}

export const hasFilters = (search: ActivitySearch): boolean => countFilters(search) > 0
