import { randomUUID } from 'node:crypto'
import { link, mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { HostError } from '../errors.ts'

/**
 * Lock of a data folder by one process: a file with its PID and start time. A dead process, also after `kill -9`,
 * leaves a stale lock, which the next process replaces. The start time detects a reused PID.
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

/** PID of the live process that holds the folder. */
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
  // A link appears with its content; a file written in place could be read half-written.
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
    // Absent, or half-written by a dead process: nobody holds the lock.
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

// Linux reports the start time of a process; elsewhere a live PID must be enough.
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
