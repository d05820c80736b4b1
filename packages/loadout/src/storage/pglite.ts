/** PGlite: PostgreSQL inside this process, on disk or in memory. One process locks the data folder. */

import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { PGlite } from '@electric-sql/pglite'
import { keyFileRing } from '../credentials/key-file.ts'
import { HostError } from '../errors.ts'
import { type FolderLock, lockFolder } from './folder-lock.ts'
import { connectPglite } from './sql/connect-pglite.ts'
import { createSqlStorage, type SqlConnection } from './sql/sql-storage.ts'
import type { BackupStorage } from './storage.ts'

export interface PgliteOptions {
  /**
   * Folder for the data and, without a configured key ring, the key file (`keys.json`). Without it all data is in
   * memory.
   */
  dataDir?: string
  /** Backup to start from, for an in-memory database. */
  from?: Uint8Array
}

export function pglite({ dataDir, from }: PgliteOptions = {}): BackupStorage {
  let engine: PGlite | undefined
  const storage = createSqlStorage({
    name: 'pglite',
    async open() {
      const opened = await openPglite(dataDir, from)
      engine = opened.engine
      return opened
    },
  })
  return {
    ...storage,
    ...(dataDir === undefined ? {} : { keyRing: () => keyFileRing(join(dataDir, 'keys.json')) }),
    async backup() {
      await storage.ready()
      if (!engine) throw new HostError('internal', { detail: 'The database is not open.' })
      const dump = await engine.dumpDataDir('gzip')
      return new Uint8Array(await dump.arrayBuffer())
    },
  }
}

/** Restores a backup into a folder without a database. */
export async function restorePglite(dataDir: string, backup: Uint8Array): Promise<void> {
  const lock = await lockFolder(dataDir)
  try {
    if (existsSync(databaseFolder(dataDir)))
      throw new HostError('conflict', {
        detail: `The folder "${dataDir}" holds a database already.`,
        action: 'Restore into an empty folder, or move the old database away first.',
      })
    await unpack(databaseFolder(dataDir), backup)
  } finally {
    await lock.release()
  }
}

// Unpacks beside the target and renames after a successful open, so that an invalid backup leaves nothing behind.
async function unpack(folder: string, backup: Uint8Array): Promise<void> {
  const draft = `${folder}.${randomUUID()}`
  try {
    const engine = await PGlite.create({ dataDir: draft, loadDataDir: new Blob([backup as BlobPart]) }).catch(
      (cause: unknown) => {
        throw new HostError('invalid-input', {
          detail: 'The backup cannot be read as a database.',
          action: 'Give the whole, unchanged file that `loadout backup` wrote.',
          cause,
        })
      },
    )
    await engine.close()
    await rename(draft, folder)
  } finally {
    await rm(draft, { recursive: true, force: true })
  }
}

const databaseFolder = (dataDir: string) => join(dataDir, 'pglite')

async function openPglite(
  dataDir: string | undefined,
  from: Uint8Array | undefined,
): Promise<SqlConnection & { engine: PGlite }> {
  let lock: FolderLock | undefined
  if (dataDir !== undefined) {
    await mkdir(dataDir, { recursive: true, mode: 0o700 })
    lock = await lockFolder(dataDir)
  }
  let engine: PGlite | undefined
  try {
    engine = await PGlite.create({
      ...(dataDir === undefined ? {} : { dataDir: databaseFolder(dataDir) }),
      ...(from === undefined ? {} : { loadDataDir: new Blob([from as BlobPart]) }),
    })
    const connection = await connectPglite(engine)
    const close = async () => {
      await connection.close()
      await lock?.release()
    }
    return { engine, transaction: connection.transaction, close }
  } catch (error) {
    // Closed before the lock is released, so that the next process meets no running engine.
    await engine?.close().catch(() => {})
    await lock?.release()
    throw error
  }
}
