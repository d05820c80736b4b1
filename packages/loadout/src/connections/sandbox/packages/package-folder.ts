/**
 * The folder of fetched packages has a size. A fetch that grows beyond its share is ended; before a new one those that nobody
 * used for the longest time go. One in use is never taken away: whoever runs it, in any process, touches its folder while it
 * does. Where there is no room, nothing is fetched.
 */
import { randomUUID } from 'node:crypto'
import { lstat, readdir, rename, rm, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { HostError } from '../../../errors.ts'

export interface FolderLimits {
  /** One package with what it needs, in bytes. */
  packageBytes: number
  /** All of them. */
  packagesBytes: number
}

export interface PackageFolder {
  /** Room for one more package, or `stdio-refused`. It is kept free until the given function is called. */
  reserve(dir: string): Promise<() => void>
  /** Says that a package is in use, until the given function is called. */
  markInUse(folder: string): () => void
  /** Aborts when a folder grows beyond the share of one package; `stop` when it is done. */
  watch(folder: string): { signal: AbortSignal; stop(): Promise<void> }
}

const SIZE_CHECK_MS = 500
const TOUCH_MS = 5 * 60_000
/** Longer than it takes to see that it is in use. */
const IDLE_MS = 3 * TOUCH_MS
const MAX_FILES = 200_000
const COMPLETE = /^[0-9a-f]{64}$/
const UNFINISHED = /^(new|old)-/

export function createPackageFolder(limits: FolderLimits): PackageFolder {
  const inUse = new Map<string, number>()
  const sizes = new Map<string, number>()
  let reserved = 0
  let reserving: Promise<unknown> = Promise.resolve()
  let touching: ReturnType<typeof setInterval> | undefined

  const evictFor = async (dir: string) => {
    await sweepUnfinished(dir)
    const packages = await packagesIn(dir, sizes)
    let total = packages.reduce((sum, { bytes }) => sum + bytes, reserved + limits.packageBytes)
    for (const { path, usedAt, bytes } of packages.sort((a, b) => a.usedAt - b.usedAt)) {
      if (total <= limits.packagesBytes) break
      if (inUse.has(path) || Date.now() - usedAt < IDLE_MS) continue
      await removeAt(dir, path)
      sizes.delete(path)
      total -= bytes
    }
    if (total > limits.packagesBytes) throw full()
    reserved += limits.packageBytes
  }

  return {
    async reserve(dir) {
      // One at a time, so that two do not count on the same room.
      const room = reserving.then(() => evictFor(dir))
      reserving = room.catch(() => {})
      await room
      return once(() => {
        reserved -= limits.packageBytes
      })
    },
    markInUse(folder) {
      inUse.set(folder, (inUse.get(folder) ?? 0) + 1)
      touch(folder)
      touching ??= setInterval(() => [...inUse.keys()].forEach(touch), TOUCH_MS).unref()
      return once(() => {
        const remaining = (inUse.get(folder) ?? 1) - 1
        if (remaining > 0) inUse.set(folder, remaining)
        else inUse.delete(folder)
        if (inUse.size > 0) return
        clearInterval(touching)
        touching = undefined
      })
    },
    watch: (folder) => watchSize(folder, limits.packageBytes),
  }
}

function watchSize(folder: string, maxBytes: number) {
  const tooLarge = new AbortController()
  const checkSize = async () => {
    const { bytes, files } = await measure(folder)
    if (bytes > maxBytes || files > MAX_FILES) tooLarge.abort()
  }
  let checking: Promise<void> | undefined
  const timer = setInterval(() => {
    checking ??= checkSize().finally(() => {
      checking = undefined
    })
  }, SIZE_CHECK_MS)
  return {
    signal: tooLarge.signal,
    async stop() {
      clearInterval(timer)
      await checking
      await checkSize()
    },
  }
}

interface StoredPackage {
  path: string
  usedAt: number
  bytes: number
}

async function packagesIn(dir: string, sizes: Map<string, number>): Promise<StoredPackage[]> {
  const packages: StoredPackage[] = []
  for (const name of await readdir(dir).catch(() => []))
    if (COMPLETE.test(name)) {
      const path = join(dir, name)
      const stats = await lstat(path).catch(() => undefined)
      const bytes = sizes.get(path) ?? (await measure(path)).bytes
      sizes.set(path, bytes)
      if (stats) packages.push({ path, usedAt: stats.mtimeMs, bytes })
    }
  return packages
}

/** What a killed host left half-done. */
async function sweepUnfinished(dir: string): Promise<void> {
  for (const name of (await readdir(dir).catch(() => [])).filter((entry) => UNFINISHED.test(entry))) {
    const stats = await lstat(join(dir, name)).catch(() => undefined)
    if (stats && Date.now() - stats.mtimeMs > IDLE_MS)
      await rm(join(dir, name), { recursive: true, force: true }).catch(() => {})
  }
}

/** Out of the way first: half a package must not be found. */
async function removeAt(dir: string, path: string): Promise<void> {
  const away = join(dir, `old-${randomUUID()}`)
  await rename(path, away)
  await rm(away, { recursive: true, force: true })
}

/** As the disk has it; no link is followed. */
async function measure(path: string): Promise<{ bytes: number; files: number }> {
  const total = { bytes: 0, files: 0 }
  const add = async (current: string): Promise<void> => {
    const stats = await lstat(current).catch(() => undefined)
    if (!stats) return
    total.bytes += stats.blocks * 512
    total.files += 1
    if (!stats.isDirectory() || total.files > MAX_FILES) return
    for (const name of await readdir(current).catch(() => [])) await add(join(current, name))
  }
  await add(path)
  return total
}

const touch = (folder: string) => {
  const now = new Date()
  void utimes(folder, now, now).catch(() => {})
}

function once(work: () => void): () => void {
  let done = false
  return () => {
    if (!done) work()
    done = true
  }
}

const full = () =>
  new HostError('stdio-refused', {
    detail: 'The folder of packages is full, and those in it are in use.',
    action: 'Ask the operator for more room (LOADOUT_SANDBOX_MAX_BYTES), or use a remote server (a URL).',
  })
