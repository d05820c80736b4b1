import { fileURLToPath } from 'node:url'

export const migrationsFolder = fileURLToPath(new URL('./migrations', import.meta.url))

/** Kept apart from `mcp`, whose creation is itself a migration. */
export const MIGRATION_CONFIG = {
  migrationsFolder,
  migrationsSchema: 'loadout_migrations',
  migrationsTable: 'applied',
}

/** Any number that is ours: it makes processes that start together migrate one after another. */
export const MIGRATION_LOCK = 7_283_461_029
