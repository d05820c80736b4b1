/**
 * Creates and migrates one PGlite for the whole run, in `LOADOUT_TEST_PGLITE`. A test whose subject is not the first start
 * begins from a copy of it, because a first start takes six seconds of CPU time.
 */
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pglite } from '../packages/loadout/src/storage/pglite.ts'

/** Copies the prepared database into a data folder. Does nothing outside a run that prepared one. */
export async function copyPrepared(dataDir: string): Promise<void> {
  const prepared = process.env.LOADOUT_TEST_PGLITE
  if (prepared) await cp(join(prepared, 'data'), dataDir, { recursive: true })
}

/** The prepared database as a backup, for `pglite({ from })`. */
export async function preparedBackup(): Promise<{ from?: Uint8Array }> {
  const prepared = process.env.LOADOUT_TEST_PGLITE
  return prepared ? { from: await readFile(join(prepared, 'backup')) } : {}
}

export default async function preparePglite(): Promise<() => Promise<void>> {
  // Projects of one run share it.
  if (process.env.LOADOUT_TEST_PGLITE !== undefined) return async () => {}
  const folder = await mkdtemp(join(tmpdir(), 'loadout-pglite-'))
  const storage = pglite({ dataDir: join(folder, 'data') })
  await writeFile(join(folder, 'backup'), await storage.backup())
  await storage.close()
  process.env.LOADOUT_TEST_PGLITE = folder
  return () => rm(folder, { recursive: true, force: true })
}
