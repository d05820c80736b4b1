import { fileURLToPath } from 'node:url'

export const migrationsFolder = fileURLToPath(new URL('./migrations', import.meta.url))

/** Separate from the schema `mcp`, which a migration creates. */
export const MIGRATION_CONFIG = {
  migrationsFolder,
  migrationsSchema: 'loadout_migrations',
  migrationsTable: 'applied',
}

/** Advisory lock ID: processes that start together migrate one after another. */
export const MIGRATION_LOCK = 7_283_461_029
