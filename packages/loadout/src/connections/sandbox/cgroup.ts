/**
 * The kernel's account of a whole sandbox: its memory, also of files in it, and its processes. It can be had by root, and by
 * others where the system gave them a part of the tree. Where it cannot be had the limits of each process hold alone.
 * A process is put in before its program starts, so that nothing of it is ever outside. Accounts of hosts that are gone are
 * taken away by the next one: the kernel lets go only of those that nobody is in.
 */
import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, rmdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { SandboxLimits } from './limits.ts'

export interface Cgroup {
  /** Puts a process in. */
  admit(pid: number): Promise<void>
  /** Takes the account away, as soon as nobody is in it. */
  remove(): Promise<void>
}

export interface Cgroups {
  /** A new account with these limits, or undefined where there can be none. */
  open(limits: Required<SandboxLimits>): Promise<Cgroup | undefined>
  /** Takes away what is left. */
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

/** One tree for all (version 2). A folder with processes cannot have a part with limits, so its parent is tried too. */
async function unified(name: string, limits: Required<SandboxLimits>): Promise<string[] | undefined> {
  const own = existsSync(join(ROOT, 'cgroup.controllers')) ? await ownPath('') : undefined
  if (own === undefined) return undefined
  for (const parent of new Set([join(ROOT, own), join(ROOT, dirname(own))])) {
    await writeFile(join(parent, 'cgroup.subtree_control'), '+memory +pids').catch(() => {})
    const wanted = { 'memory.max': limits.memoryBytes, 'pids.max': limits.processes }
    const folder = await createFolder(join(parent, name), wanted)
    // Not every kernel counts what it swaps.
    if (folder) await writeFile(join(folder, 'memory.swap.max'), '0').catch(() => {})
    if (folder) return [folder]
  }
  return undefined
}

/** A tree for each (version 1). */
async function separate(name: string, limits: Required<SandboxLimits>): Promise<string[] | undefined> {
  const cgroupPath = async (controller: string) => join(ROOT, controller, (await ownPath(controller)) ?? '/', name)
  const memory = await createFolder(await cgroupPath('memory'), { 'memory.limit_in_bytes': limits.memoryBytes })
  const pids = memory && (await createFolder(await cgroupPath('pids'), { 'pids.max': limits.processes }))
  if (memory && !pids) await rmdir(memory).catch(() => {})
  return memory && pids ? [memory, pids] : undefined
}

/** Where we are ourselves in the tree of a controller. */
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
    await new Promise<void>((resolve) => setTimeout(resolve, RETRY_MS))
  }
}

async function sweep(parent: string): Promise<void> {
  for (const name of await readdir(parent).catch(() => [])) {
    const host = NAME.exec(name)?.[1]
    if (host !== undefined && !existsSync(`/proc/${host}`)) await rmdir(join(parent, name)).catch(() => {})
  }
}
