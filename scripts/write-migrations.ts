/** Embeds the SQL files of `storage/sql/migrations` in a module, because a bundler cannot find a folder. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readMigrationFiles } from 'drizzle-orm/migrator'

const folder = join(import.meta.dirname, '../packages/loadout/src/storage/sql/migrations')

export const migrationsModule = (): string => {
  const entries = readMigrationFiles({ migrationsFolder: folder }).map((entry) => JSON.stringify(entry))
  return [
    '// Written by `npm run migrations`.',
    "import type { MigrationMeta } from 'drizzle-orm/migrator'",
    '',
    `export const MIGRATIONS: readonly MigrationMeta[] = [\n${entries.map((entry) => `  ${entry},\n`).join('')}]\n`,
  ].join('\n')
}

if (import.meta.main) writeFileSync(join(folder, 'embedded.ts'), migrationsModule())
