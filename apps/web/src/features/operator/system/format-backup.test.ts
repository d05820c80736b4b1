import { expect, it } from 'vitest'
import { formatBackup } from './format-backup.ts'

it('formatBackup offers a backup of the embedded database only', () => {
  expect(formatBackup('pglite')).toMatchObject({ isHere: true, note: expect.stringContaining('loadout restore') })
  expect(formatBackup('postgres')).toMatchObject({ isHere: false, note: expect.stringContaining('pg_dump') })
})
