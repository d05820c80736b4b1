import { readFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { migrationsModule } from '../../../../../scripts/write-migrations.ts'

it('the embedded migrations equal the SQL files; `npm run migrations` writes both', async () => {
  const embedded = await readFile(new URL('./migrations/embedded.ts', import.meta.url), 'utf8')
  expect(embedded).toBe(migrationsModule())
})
