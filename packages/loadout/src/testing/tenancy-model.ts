/**
 * Users at work on one database, at random, with a model of what each of them must see. Anything that a user reads and
 * does not own is a cross read; anything of theirs that is not as they left it is a cross write. Besides honest work
 * they try others' ids, fail in the middle, and there are borrowers of a connection that forget to say who they are.
 */
import { sql } from 'drizzle-orm'
import pg from 'pg'
import { createReadCache } from '../storage/read-cache.ts'
import { openPostgres } from '../storage/sql/open-postgres.ts'
import { createSqlStorage, enterTransaction } from '../storage/sql/sql-storage.ts'
import type { CacheKey } from '../storage/storage.ts'
import { type Model, OPERATIONS, pick, type TenancyReport, USERS, type World } from './tenancy-operations.ts'

export interface TenancyOptions {
  url: string
  operations: number
  seed: number
  /** How a transaction takes its user. A planted mistake goes here. */
  enter?: typeof enterTransaction
  /** The key that a cached read is kept under. A planted mistake goes here. */
  cacheKey?: (userId: string) => CacheKey
  /** Done once the storage is open, whose own check at the start would refuse some mistakes. */
  plant?: () => Promise<void>
  /** End at the first finding. */
  stopEarly?: boolean
}

export async function runTenancy(options: TenancyOptions): Promise<TenancyReport> {
  const { url, operations, seed, enter = enterTransaction, cacheKey = ownKey, stopEarly = false } = options
  // Fewer connections than users, so that each is borrowed by all of them in turn.
  const open = () => openPostgres({ url, maxConnections: 3 })
  const storage = createSqlStorage({ name: 'postgres', open, enter: forgetting(enter) })
  await storage.ready()
  await options.plant?.()
  const views = new pg.Pool({ connectionString: url, max: 1 })
  const models = new Map(USERS.map((userId) => [userId, { userId, threads: new Map(), configs: new Map() }]))
  const report: TenancyReport = { operations: 0, failedTransactions: 0, crossReads: 0, crossWrites: 0, findings: [] }
  const world: World = {
    storage,
    cache: createReadCache(storage),
    cacheKey,
    views,
    models,
    random: randomFrom(seed),
    report,
  }
  const worker = async (model: Model) => {
    while (report.operations < operations && !(stopEarly && report.findings.length > 0)) {
      report.operations++
      await pick(world.random, OPERATIONS)(world, model)
    }
  }
  try {
    await Promise.all([...models.values()].map(worker))
    return report
  } finally {
    world.cache.close()
    await Promise.all([storage.close(), views.end()])
  }
}

const ownKey = (userId: string): CacheKey => ({ userId, name: 'threads' })

function forgetting(enter: typeof enterTransaction): typeof enterTransaction {
  return async (tx, access, origin) => {
    if (!access.userId?.startsWith('forgetful:')) return enter(tx, access, origin)
    const role = access.userId.slice('forgetful:'.length)
    await tx.execute(sql`select set_config('role', ${role}, true)`)
  }
}

/** Small, seeded, good enough to shuffle work: a failing run can be run again. */
function randomFrom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
