/**
 * A PGlite that is made and migrated once, in `LOADOUT_TEST_PGLITE`: who needs a server and not its first start begins from a
 * copy of it. First starts themselves are tested without.
 */
import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pglite } from '../packages/loadout/src/storage/pglite.ts'

/** Puts a copy of it into a data folder, where there is one. */
export async function copyPrepared(dataDir: string): Promise<void> {
  const prepared = process.env.LOADOUT_TEST_PGLITE
  if (prepared) await cp(prepared, dataDir, { recursive: true })
}

export default async function preparePglite(): Promise<() => Promise<void>> {
  // Projects of one run share it.
  if (process.env.LOADOUT_TEST_PGLITE !== undefined) return async () => {}
  const dataDir = await mkdtemp(join(tmpdir(), 'loadout-pglite-'))
  const storage = pglite({ dataDir })
  await storage.ready()
  await storage.close()
  process.env.LOADOUT_TEST_PGLITE = dataDir
  return () => rm(dataDir, { recursive: true, force: true })
}
