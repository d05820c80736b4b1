import type { PGlite } from '@electric-sql/pglite'
import { drizzle } from 'drizzle-orm/pglite'
import { HostError } from '../../errors.ts'
import { migrate } from './migrations.ts'
import type { SqlConnection } from './sql-storage.ts'
import type { Database } from './sql-transaction.ts'
import { verifyTenancy } from './verify-tenancy.ts'

/** Migrates the database and verifies tenant isolation. Closing the connection closes the engine. */
export async function connectPglite(engine: PGlite): Promise<SqlConnection> {
  const db = drizzle(engine)
  await migrate(db)
  const problems = await verifyTenancy(db as unknown as Database)
  if (problems.length > 0) throw new HostError('storage-unsafe', { detail: problems.join('; ') })
  return {
    transaction: (work) => db.transaction((tx) => work(tx as unknown as Database)),
    close: () => engine.close(),
  }
}
