/** Backup note by storage: a download for the embedded database, a hint for PostgreSQL. */
export function formatBackup(storage: string): { isHere: boolean; note: string } {
  if (storage === 'postgres')
    return {
      isHere: false,
      note: 'The data is in PostgreSQL: back it up with its own tools, for example pg_dump. Secrets in it stay encrypted; keep the master key beside it.',
    }
  return {
    isHere: true,
    note: 'A copy of the embedded database with everything in it, for “loadout restore”. Secrets in it stay encrypted; keep the key file beside it.',
  }
}
