import { HostError } from '../../errors.ts'
import { MIGRATIONS } from './migrations/embedded.ts'

/** Separate from the schema `mcp`, which a migration creates. */
const CONFIG = { migrationsFolder: '', migrationsSchema: 'loadout_migrations', migrationsTable: 'applied' }

/** Advisory lock ID: processes that start together migrate one after another. */
export const MIGRATION_LOCK = 7_283_461_029

/** Applies the embedded migrations that a database lacks. Bundlers cannot find a folder, so none is read. */
export async function migrate(db: object, migrations = MIGRATIONS): Promise<void> {
  const { dialect, session } = db as { dialect?: MigratingDialect; session?: unknown }
  if (!dialect) throw new HostError('internal', { detail: 'This version of drizzle-orm has no `dialect`.' })
  await dialect.migrate(migrations, session, CONFIG)
}

/** drizzle's own migrators call this method after they read the folder. */
interface MigratingDialect {
  migrate(migrations: typeof MIGRATIONS, session: unknown, config: typeof CONFIG): Promise<void>
}
