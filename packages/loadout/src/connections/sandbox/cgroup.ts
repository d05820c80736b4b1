/**
 * Limits a whole sandbox by cgroup: memory, including its files, and processes. It needs root or a delegated part of
 * the cgroup tree; without it only the limits per process apply. A process joins its cgroup before its program starts.
 * Cgroups of dead hosts are removed by the next host.
 */
import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, rmdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { sleep } from '../../util/abort.ts'
import type { SandboxLimits } from './limits.ts'

export interface Cgroup {
  /** Adds a process. */
  admit(pid: number): Promise<void>
  /** Removes the cgroup once it is empty. */
  remove(): Promise<void>
}

export interface Cgroups {
  /** Creates a cgroup with these limits; undefined if that is not possible. */
  open(limits: Required<SandboxLimits>): Promise<Cgroup | undefined>
  /** Waits for pending removals. */
  close(): Promise<void>
}

const ROOT = '/sys/fs/cgroup'
const NAME = /^loadout-(\d+)-/
const TRIES = 20
const RETRY_MS = 50

export function createCgroups(): Cgroups {
  const removing = new Set<Promise<unknown>>()
  const swept = new Map<string, Promise<void>>()
  return {
    async open(limits) {
      const name = `loadout-${process.pid}-${randomUUID()}`
      const folders = (await unified(name, limits)) ?? (await separate(name, limits))
      if (!folders) return undefined
      for (const parent of folders.map((folder) => dirname(folder)))
        if (!swept.has(parent)) swept.set(parent, sweep(parent))
      return {
        admit: async (pid) => {
          for (const folder of folders) await writeFile(join(folder, 'cgroup.procs'), String(pid))
        },
        remove: async () => {
          const removal = Promise.all(folders.map((folder) => removeWhenEmpty(folder)))
          removing.add(removal)
          await removal.finally(() => removing.delete(removal))
        },
      }
    },
    async close() {
      await Promise.all([...removing, ...swept.values()])
    },
  }
}

/** Cgroup v2: one tree. A cgroup with processes cannot have limited children, so the parent is tried too. */
async function unified(name: string, limits: Required<SandboxLimits>): Promise<string[] | undefined> {
  const own = existsSync(join(ROOT, 'cgroup.controllers')) ? await ownPath('') : undefined
  if (own === undefined) return undefined
  for (const parent of new Set([join(ROOT, own), join(ROOT, dirname(own))])) {
    await writeFile(join(parent, 'cgroup.subtree_control'), '+memory +pids').catch(() => {})
    const wanted = { 'memory.max': limits.memoryBytes, 'pids.max': limits.processes }
    const folder = await createFolder(join(parent, name), wanted)
    // Not every kernel accounts swap.
    if (folder) await writeFile(join(folder, 'memory.swap.max'), '0').catch(() => {})
    if (folder) return [folder]
  }
  return undefined
}

/** Cgroup v1: one tree per controller. */
async function separate(name: string, limits: Required<SandboxLimits>): Promise<string[] | undefined> {
  const cgroupPath = async (controller: string) => join(ROOT, controller, (await ownPath(controller)) ?? '/', name)
  const memory = await createFolder(await cgroupPath('memory'), { 'memory.limit_in_bytes': limits.memoryBytes })
  const pids = memory && (await createFolder(await cgroupPath('pids'), { 'pids.max': limits.processes }))
  if (memory && !pids) await rmdir(memory).catch(() => {})
  return memory && pids ? [memory, pids] : undefined
}

/** This process's path in a controller's tree. */
async function ownPath(controller: string): Promise<string | undefined> {
  const lines = (await readFile('/proc/self/cgroup', 'utf8').catch(() => '')).split('\n')
  return lines.map((line) => line.split(':')).find(([, names = '']) => names.split(',').includes(controller))?.[2]
}

async function createFolder(folder: string, limits: Record<string, number>): Promise<string | undefined> {
  try {
    await mkdir(folder)
    for (const [file, value] of Object.entries(limits)) await writeFile(join(folder, file), String(value))
    return folder
  } catch {
    await rmdir(folder).catch(() => {})
    return undefined
  }
}

async function removeWhenEmpty(folder: string): Promise<void> {
  for (let tries = 0; tries < TRIES; tries++) {
    const done = await rmdir(folder).then(
      () => true,
      () => false,
    )
    if (done) return
    await sleep(RETRY_MS, { keepAlive: true })
  }
}

async function sweep(parent: string): Promise<void> {
  for (const name of await readdir(parent).catch(() => [])) {
    const host = NAME.exec(name)?.[1]
    if (host !== undefined && !existsSync(`/proc/${host}`)) await rmdir(join(parent, name)).catch(() => {})
  }
}
