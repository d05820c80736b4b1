import { defineConfig } from 'drizzle-kit'

export default defineConfig({
  dialect: 'postgresql',
  schema: './packages/loadout/src/storage/sql/tables.ts',
  out: './packages/loadout/src/storage/sql/migrations',
  schemaFilter: ['mcp'],
})
