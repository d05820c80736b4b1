import { expect, it } from 'vitest'
import { backupWords } from './format-backup.ts'

it('backupWords offers a backup of the embedded database only', () => {
  expect(backupWords('pglite')).toMatchObject({ isHere: true, note: expect.stringContaining('loadout restore') })
  expect(backupWords('postgres')).toMatchObject({ isHere: false, note: expect.stringContaining('pg_dump') })
})
