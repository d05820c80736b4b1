/** PGlite: PostgreSQL inside this process, on disk or in memory. One process holds its folder. */

import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { link, mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { PGlite } from '@electric-sql/pglite'
import { z } from 'zod'
import { keyFileRing } from '../credentials/key-file.ts'
import { HostError } from '../errors.ts'
import { connectPglite } from './sql/connect-pglite.ts'
import { createSqlStorage, type SqlConnection } from './sql/sql-storage.ts'
import type { BackupStorage } from './storage.ts'

export interface PgliteOptions {
  /** The folder to keep the data in, and the key file (`keys.json`) of a host without a key ring. Without it everything is in memory. */
  dataDir?: string
  /** A backup to begin from, for an in-memory database. */
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

/** Put a backup into a folder that holds no database yet. */
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

// Beside its place, and moved there once it opens: a backup that does not leaves nothing behind.
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
    // Before the lock: who takes it next must not meet an engine that still writes.
    await engine?.close().catch(() => {})
    await lock?.release()
    throw error
  }
}

/**
 * One process holds a data folder. The lock is a file with the holder's pid and birth; a holder that is gone (also by
 * `kill -9`) leaves a stale one, which the next taker replaces. The birth tells a reused pid from the real holder.
 */
export interface FolderLock {
  release(): Promise<void>
}

const holder = z.object({ pid: z.number().int(), birth: z.string(), token: z.string() })
type Holder = z.infer<typeof holder>

const TAKEOVER_STALE_MS = 10_000

export async function lockFolder(folder: string): Promise<FolderLock> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const path = join(folder, 'lock')
  const me: Holder = { pid: process.pid, birth: await birthOf(process.pid), token: randomUUID() }
  if (!(await create(path, me))) await takeOver(folder, path, me)
  return {
    async release() {
      const current = await readHolder(path)
      if (current?.token === me.token) await rm(path, { force: true })
    },
  }
}

/** The pid that holds a folder, where a live process does. */
export async function folderHolder(folder: string): Promise<number | undefined> {
  const current = await readHolder(join(folder, 'lock'))
  return current && (await isAlive(current)) ? current.pid : undefined
}

// Two processes may find the same stale lock; a second exclusive file lets one of them replace it.
async function takeOver(folder: string, path: string, me: Holder): Promise<void> {
  const current = await readHolder(path)
  if (current && (await isAlive(current))) throw locked(folder, current.pid)
  const guard = join(folder, 'lock.takeover')
  if (!(await create(guard, me))) {
    const age = await stat(guard).then(
      (found) => Date.now() - found.mtimeMs,
      () => 0,
    )
    if (age > TAKEOVER_STALE_MS) await rm(guard, { force: true })
    throw locked(folder, current?.pid)
  }
  try {
    const still = await readHolder(path)
    if (still && (await isAlive(still))) throw locked(folder, still.pid)
    await rm(path, { force: true })
    if (!(await create(path, me))) throw locked(folder, undefined)
  } finally {
    await rm(guard, { force: true })
  }
}

async function create(path: string, content: Holder): Promise<boolean> {
  // A link appears with its content; a file that is written in place could be read half.
  const draft = `${path}.${content.token}`
  await writeFile(draft, JSON.stringify(content), { mode: 0o600 })
  try {
    await link(draft, path)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  } finally {
    await rm(draft, { force: true })
  }
}

async function readHolder(path: string): Promise<Holder | undefined> {
  try {
    return holder.parse(JSON.parse(await readFile(path, 'utf8')))
  } catch {
    // Absent, or half-written by a holder that died: nobody holds it.
    return undefined
  }
}

async function isAlive({ pid, birth }: Holder): Promise<boolean> {
  try {
    process.kill(pid, 0)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false
  }
  return (await birthOf(pid)) === birth
}

// Linux tells a process's start; elsewhere a live pid has to be enough.
async function birthOf(pid: number): Promise<string> {
  try {
    const line = await readFile(`/proc/${pid}/stat`, 'utf8')
    return line.slice(line.lastIndexOf(')') + 2).split(' ')[19] ?? ''
  } catch {
    return ''
  }
}

function locked(folder: string, pid: number | undefined): HostError {
  return new HostError('storage-locked', {
    detail: `The data folder "${folder}" is held by ${pid === undefined ? 'another process' : `process ${pid}`}.`,
  })
}
