/**
 * Deletes expired rows of all users: at startup and then every 15 minutes, in small pages, in the background. Several
 * processes may run it at once.
 */

import type { Collection, Row, RowQuery, Storage, Transaction } from '../storage/storage.ts'
import { DAY_MS } from '../util/durations.ts'
import { isAlive } from './heartbeat.ts'

export interface Housekeeping {
  /** Starts in the background. */
  start(): void
  /** Deletes all expired rows. Returns their number, without cascaded ones. */
  sweep(now?: Date): Promise<number>
  stop(): Promise<void>
}

/** Expiry rule of one collection. */
interface Rule<C extends Collection = Collection> {
  collection: C
  id: keyof Row<C> & string
  expired: NonNullable<RowQuery<C>['between']>
  /** Whether an expired row must stay. */
  isProtected?: (tx: Transaction, row: Row<C>) => Promise<boolean>
  /** For rows that may be used again: delete only if this field is unchanged since the read. */
  unchanged?: keyof Row<C> & string
}

const caller = 'housekeeping'
const EVERY_MS = 15 * 60_000
const PAGE = 200
const HOUR_MS = DAY_MS / 24
/** Users look up past approvals and usage. */
const APPROVALS_RETENTION_MS = 7 * DAY_MS
const USAGE_RETENTION_MS = 8 * DAY_MS
const RUNS_RETENTION_MS = 30 * DAY_MS
/** Run counters use windows of one year. */
const YEAR_MS = 365 * DAY_MS
/** Entries of a dead process may ship up to this much later. */
const REMOVALS_RETENTION_MS = YEAR_MS

/** Search data: days without use after which rows expire. */
const UNUSED_RETENTION_DAYS = [
  ['loadedTools', 'loadedToolId', 'usedAt', 365],
  ['toolUses', 'toolUseId', 'lastUsedAt', 180],
  ['toolVectors', 'toolVectorId', 'usedAt', 60],
] as const

export function createHousekeeping(storage: Storage, everyMs = EVERY_MS): Housekeeping {
  let timer: ReturnType<typeof setInterval> | undefined
  let sweeping: Promise<number> | undefined
  let stopped = false
  const sweepAll = async (now: Date): Promise<number> => {
    let removed = 0
    for (const rule of rulesAt(now.getTime())) removed += await sweepOne(storage, rule, () => stopped)
    return removed
  }
  const sweep = (now = new Date()) => {
    sweeping ??= sweepAll(now).finally(() => {
      sweeping = undefined
    })
    return sweeping
  }
  // A failed sweep is repeated at the next tick.
  const tick = () => void sweep().catch(() => {})
  return {
    sweep,
    start() {
      if (stopped || timer !== undefined) return
      timer = setInterval(tick, everyMs)
      if (typeof timer === 'object' && 'unref' in timer) timer.unref()
      tick()
    },
    async stop() {
      stopped = true
      clearInterval(timer)
      await sweeping?.catch(() => {})
    },
  }
}

function rulesAt(now: number): Rule[] {
  const before = (ms: number) => new Date(now - ms)
  return [
    rule({ collection: 'results', id: 'resultId', expired: { field: 'expiresAt', to: before(0) } }),
    rule({
      collection: 'approvals',
      id: 'approvalId',
      expired: { field: 'expiresAt', to: before(APPROVALS_RETENTION_MS) },
    }),
    rule({
      collection: 'calls',
      id: 'callId',
      expired: { field: 'expiresAt', to: before(0) },
      isProtected: async (tx, row) => row.finishedAt === null && isAlive(tx, row.processId),
    }),
    ...expiredUsage(now - USAGE_RETENTION_MS).map((range) =>
      rule({ collection: 'usage', id: 'usageId', expired: { field: 'windowStart', ...range } }),
    ),
    rule({
      collection: 'places',
      id: 'placesId',
      expired: { field: 'updatedAt', to: before(HOUR_MS) },
      isProtected: async (tx, row) => {
        for (const processId of Object.keys(row.holdersJson)) if (await isAlive(tx, processId)) return true
        return false
      },
      unchanged: 'version',
    }),
    rule({
      collection: 'removedUsers',
      id: 'removalId',
      unchanged: 'removedAt',
      expired: { field: 'removedAt', to: before(REMOVALS_RETENTION_MS) },
    }),
    ...UNUSED_RETENTION_DAYS.map(([collection, id, field, days]) =>
      rule({ collection, id, unchanged: field, expired: { field, to: before(days * DAY_MS) } } as never),
    ),
    rule({
      collection: 'runs',
      id: 'runId',
      unchanged: 'updatedAt',
      expired: { field: 'updatedAt', to: before(RUNS_RETENTION_MS) },
      isProtected: async (_, { status }) => status === 'queued' || status === 'running',
    }),
    rule({
      collection: 'sessions',
      id: 'sessionId',
      expired: { field: 'expiresAt', to: before(0) },
      unchanged: 'expiresAt',
    }),
    rule({
      collection: 'signInLinks',
      id: 'linkId',
      expired: { field: 'expiresAt', to: before(0) },
      // The setup link records whether the host has an operator.
      isProtected: async (_, { kind }) => kind === 'setup',
    }),
    rule({
      collection: 'signInAttempts',
      id: 'attemptsId',
      unchanged: 'endsAt',
      expired: { field: 'endsAt', to: before(0) },
    }),
    rule({
      collection: 'processes',
      id: 'processId',
      expired: { field: 'aliveUntil', to: before(HOUR_MS) },
      unchanged: 'aliveUntil',
    }),
  ]
}

/** Usage windows that have ended: last year's, and later ones that are shorter than a year. */
function expiredUsage(end: number): Array<{ from?: Date; to: Date }> {
  const year = Math.floor((end + USAGE_RETENTION_MS) / YEAR_MS) * YEAR_MS
  const within = (start: number) => ({
    from: new Date(start + 1),
    to: new Date(Math.min(start + YEAR_MS - 1, end)),
  })
  return [{ to: new Date(end - YEAR_MS) }, within(year - YEAR_MS), within(year)]
}

const rule = <C extends Collection>(input: Rule<C>): Rule => input as unknown as Rule

async function sweepOne(storage: Storage, rule: Rule, isStopped: () => boolean): Promise<number> {
  const { collection, id, expired } = rule
  let removed = 0
  for (let after: string | undefined; !isStopped(); ) {
    const query = { between: expired, limit: PAGE, ...(after === undefined ? {} : { after }) }
    const rows: RowObject[] = await storage.transaction({ caller }, (tx) => tx.list(collection, query))
    for (const [userId, ownRows] of Map.groupBy(rows, ownerOf))
      if (!isStopped()) removed += await storage.transaction({ caller, userId }, (tx) => remove(tx, rule, ownRows))
    if (rows.length < PAGE) break
    after = String(rows.at(-1)?.[id])
  }
  return removed
}

type RowObject = Record<string, unknown>

const ownerOf = (row: RowObject) => String(row.userId ?? '')

async function remove(
  tx: Transaction,
  { collection, id, isProtected, unchanged }: Rule,
  rows: RowObject[],
): Promise<number> {
  let removed = 0
  for (const row of rows) {
    const rowId = String(row[id])
    if (await isProtected?.(tx, row as never)) continue
    // Writing the unchanged value locks the row until the transaction ends; a concurrent change keeps the row.
    const same = unchanged === undefined ? {} : { [unchanged]: row[unchanged] }
    if (unchanged !== undefined && !(await tx.update(collection, rowId, { set: same, where: same }))) continue
    if (await tx.delete(collection, rowId)) removed++
  }
  return removed
}
