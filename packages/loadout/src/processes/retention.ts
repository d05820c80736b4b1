/**
 * Takes away what is over, whoever's it is: nothing stays behind in the storage. Once at the start and then every so often,
 * in small pieces, behind everything else. Several processes may do it at once: what one took away, another does not find.
 */

import type { Collection, ListQuery, Row, Storage, Transaction } from '../storage/storage.ts'
import { DAY_MS } from '../util/durations.ts'
import { isAlive } from './heartbeat.ts'

export interface Housekeeping {
  /** Begins, and waits for nothing. */
  start(): void
  /** Takes away all that is over by now. How many rows went, those that go with them not counted. */
  sweep(now?: Date): Promise<number>
  stop(): Promise<void>
}

/** What is over in one collection. */
interface Rule<C extends Collection = Collection> {
  collection: C
  id: keyof Row<C> & string
  expired: NonNullable<ListQuery<C>['between']>
  /** Whether it is needed all the same. */
  isProtected?: (tx: Transaction, row: Row<C>) => Promise<boolean>
  /** A row that is used again: it goes only where this field is as it was when it was looked at. */
  unchanged?: keyof Row<C> & string
}

const caller = 'housekeeping'
const EVERY_MS = 15 * 60_000
const PAGE = 200
const HOUR_MS = DAY_MS / 24
/** People look up what they answered, and what they used. */
const APPROVALS_RETENTION_MS = 7 * DAY_MS
const USAGE_RETENTION_MS = 8 * DAY_MS
const RUNS_RETENTION_MS = 30 * DAY_MS
/** Counters of runs begin with windows of a year, and count as long. */
const YEAR_MS = 365 * DAY_MS
/** What a dead process left may be shipped that much later. */
const REMOVALS_RETENTION_MS = YEAR_MS

/** What searches keep, and for how many days without use. */
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
  // What cannot be taken away now is taken away the next time.
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
      // Whether somebody operates already is asked under this one.
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

/** Windows that ended before: all of last year's, and those since that are not a year's. */
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
    // Written as it was, the row is ours until the end of the transaction; who came between keeps it.
    const same = unchanged === undefined ? {} : { [unchanged]: row[unchanged] }
    if (unchanged !== undefined && !(await tx.update(collection, rowId, { set: same, where: same }))) continue
    if (await tx.delete(collection, rowId)) removed++
  }
  return removed
}
