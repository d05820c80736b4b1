import { openPostgres, type PostgresOptions } from './sql/open-postgres.ts'
import { createSqlStorage } from './sql/sql-storage.ts'
import type { Storage } from './storage.ts'

export type { PostgresOptions }

/** PostgreSQL, for any number of processes. Code shared with PGlite is in `sql/`. */
export function postgres(options: PostgresOptions): Storage {
  return createSqlStorage({ name: 'postgres', open: () => openPostgres(options) })
}
