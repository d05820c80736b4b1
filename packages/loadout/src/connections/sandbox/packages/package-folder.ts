/**
 * Size limit of the package folder. A download above `packageBytes` is aborted. Before a download, the least recently
 * used packages are evicted. A package in use is never evicted: every process touches the folders that it uses. Without
 * enough space the download is refused.
 */
import { randomUUID } from 'node:crypto'
import { lstat, readdir, rename, rm, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { HostError } from '../../../errors.ts'

export interface FolderLimits {
  /** Largest package with its dependencies, in bytes. */
  packageBytes: number
  /** Total size of all packages, in bytes. */
  packagesBytes: number
}

export interface PackageFolder {
  /** Reserves space for one package, or throws `stdio-refused`. The returned function ends the reservation. */
  reserve(dir: string): Promise<() => void>
  /** Marks a package as in use until the returned function is called. */
  markInUse(folder: string): () => void
  /** Aborts `signal` when the folder exceeds `packageBytes`; call `stop` after the download. */
  watch(folder: string): { signal: AbortSignal; stop(): Promise<void> }
}

const SIZE_CHECK_MS = 500
const TOUCH_MS = 5 * 60_000
/** Longer than the touch interval, so that a package in use is not evicted. */
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
      // Serialized, so that two reservations do not use the same space.
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

/** Removes unfinished downloads of a killed host. */
async function sweepUnfinished(dir: string): Promise<void> {
  for (const name of (await readdir(dir).catch(() => [])).filter((entry) => UNFINISHED.test(entry))) {
    const stats = await lstat(join(dir, name)).catch(() => undefined)
    if (stats && Date.now() - stats.mtimeMs > IDLE_MS)
      await rm(join(dir, name), { recursive: true, force: true }).catch(() => {})
  }
}

/** Renames first, so that nobody finds a partial package. */
async function removeAt(dir: string, path: string): Promise<void> {
  const away = join(dir, `old-${randomUUID()}`)
  await rename(path, away)
  await rm(away, { recursive: true, force: true })
}

/** Size on disk; symbolic links are not followed. */
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
