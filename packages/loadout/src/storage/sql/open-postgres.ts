/**
 * Opens PostgreSQL: a pool for transactions, one listening connection, and migrations that run once for all processes.
 */
import { sql } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/node-postgres'
import pg from 'pg'
import { HostError } from '../../errors.ts'
import { MIGRATION_LOCK, migrate } from './migrations.ts'
import { createListener } from './postgres-listener.ts'
import { fromConnecting, fromMigrating } from './sql-errors.ts'
import type { SqlConnection } from './sql-storage.ts'
import type { Database } from './sql-transaction.ts'
import { verifyTenancy } from './verify-tenancy.ts'

export interface PostgresOptions {
  url: string
  /** Pool size; one more connection listens. @default 10 */
  maxConnections?: number
  /** Milliseconds to wait for a connection. @default 10_000 */
  connectTimeoutMs?: number
}

export async function openPostgres({
  url,
  maxConnections = 10,
  connectTimeoutMs = 10_000,
}: PostgresOptions): Promise<SqlConnection> {
  const base = { connectionString: url, connectionTimeoutMillis: connectTimeoutMs, keepAlive: true }
  await migrateOnce(base)
  const pool = new pg.Pool({ ...base, max: maxConnections })
  // The pool replaces broken connections; without handlers their errors would end the process.
  pool.on('error', () => {})
  pool.on('connect', (client) => client.on('error', () => {}))
  const listener = createListener(base)
  return {
    async transaction(work) {
      const client = await connectPooled(pool)
      try {
        // Drizzle leaks a pooled connection if BEGIN fails, so the client is taken and released here.
        return await drizzle(client).transaction((tx) => work(tx as unknown as Database))
      } finally {
        client.release()
      }
    },
    async listen(handler) {
      await listener.start(handler).catch((error: unknown) => {
        throw fromConnecting(error)
      })
    },
    async close() {
      await listener.stop()
      await pool.end()
    },
  }
}

async function connectPooled(pool: pg.Pool): Promise<pg.PoolClient> {
  try {
    return await pool.connect()
  } catch (error) {
    throw fromConnecting(error)
  }
}

/** Processes that start together migrate one after another; all but the first find nothing to do. */
async function migrateOnce(config: pg.ClientConfig): Promise<void> {
  const client = await connectClient(config)
  try {
    const db = drizzle(client)
    await db.execute(sql`select pg_advisory_lock(${MIGRATION_LOCK})`)
    await migrate(db)
    const problems = await verifyTenancy(db as unknown as Database)
    if (problems.length > 0) throw new HostError('storage-unsafe', { detail: problems.join('; ') })
  } catch (error) {
    throw fromMigrating(error)
  } finally {
    await client.end().catch(() => {})
  }
}

async function connectClient(config: pg.ClientConfig): Promise<pg.Client> {
  try {
    const client = new pg.Client(config)
    client.on('error', () => {})
    await client.connect()
    return client
  } catch (error) {
    throw fromConnecting(error)
  }
}
