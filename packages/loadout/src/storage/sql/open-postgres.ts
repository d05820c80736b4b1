/** A pool for the work, one connection that listens, and migrations that run once however many processes start. */
import { drizzle } from 'drizzle-orm/node-postgres'
import { migrate } from 'drizzle-orm/node-postgres/migrator'
import pg from 'pg'
import { HostError } from '../../errors.ts'
import { MIGRATION_CONFIG, MIGRATION_LOCK } from './migrations.ts'
import { fromDatabase } from './sql-errors.ts'
import type { SqlConnection } from './sql-storage.ts'
import type { Database } from './sql-transaction.ts'
import { verifyTenancy } from './verify-tenancy.ts'

export interface PostgresOptions {
  url: string
  /** Connections for work; one more listens. @default 10 */
  maxConnections?: number
  /** How long to wait for a connection. @default 10_000 */
  connectTimeoutMs?: number
}

const RELISTEN_FIRST_MS = 200
const RELISTEN_MOST_MS = 10_000

export async function openPostgres({
  url,
  maxConnections = 10,
  connectTimeoutMs = 10_000,
}: PostgresOptions): Promise<SqlConnection> {
  const base = { connectionString: url, connectionTimeoutMillis: connectTimeoutMs, keepAlive: true }
  await migrateOnce(base)
  const pool = new pg.Pool({ ...base, max: maxConnections })
  // An idle connection that breaks is replaced at the next use; without a listener it would end the process.
  pool.on('error', () => {})
  const listener = createListener(base)
  return {
    db: drizzle(pool) as unknown as Database,
    listen: listener.start,
    async close() {
      await listener.stop()
      await pool.end()
    },
  }
}

/** Processes that start together migrate one after another; all but the first find nothing to do. */
async function migrateOnce(config: pg.ClientConfig): Promise<void> {
  const client = new pg.Client(config)
  try {
    await client.connect()
    await client.query('select pg_advisory_lock($1)', [MIGRATION_LOCK])
    const db = drizzle(client)
    await migrate(db, MIGRATION_CONFIG)
    const problems = await verifyTenancy(db as unknown as Database)
    if (problems.length > 0) throw new HostError('storage-unsafe', { detail: problems.join('; ') })
  } catch (error) {
    throw fromDatabase(error)
  } finally {
    await client.end().catch(() => {})
  }
}

function createListener(config: pg.ClientConfig) {
  let client: pg.Client | undefined
  let stopped = false
  let timer: ReturnType<typeof setTimeout> | undefined

  async function connect(hear: (payload: string) => void, status: (live: boolean) => void): Promise<void> {
    const next = new pg.Client(config)
    client = next
    next.on('notification', ({ payload }) => payload && hear(payload))
    next.on('error', () => {})
    next.on('end', () => {
      if (stopped || client !== next) return
      status(false)
      retry(RELISTEN_FIRST_MS, hear, status)
    })
    await next.connect()
    await next.query('listen loadout_changes')
    status(true)
  }

  function retry(delay: number, hear: (payload: string) => void, status: (live: boolean) => void): void {
    client = undefined
    timer = setTimeout(() => {
      connect(hear, status).catch(() => {
        if (!stopped) retry(Math.min(delay * 2, RELISTEN_MOST_MS), hear, status)
      })
    }, delay)
  }

  return {
    start: connect,
    async stop() {
      stopped = true
      clearTimeout(timer)
      await client?.end().catch(() => {})
    },
  }
}
