/**
 * No process outlives its host. Servers here ignore SIGTERM and have children that do too; a host is closed, or killed
 * with SIGKILL, and then nothing of their groups is alive: by number, by group, and by command line.
 * `npm run prove:processes` does each 100 times.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { programPath } from '../../../../test/program-path.ts'
import { provenWithin } from '../../../../test/prove/work.ts'
import { sweepOrphans } from '../../src/connections/stdio/orphans.ts'
import { pidsOf, stubbornHost } from '../fixtures/host-process.ts'

const FULL = process.env.LOADOUT_PROVE === 'full'
const TIMES = FULL ? 100 : 1
const AT_ONCE = FULL ? 5 : 3
const GONE_MS = 2000
const LONG = FULL ? 900_000 : 120_000
const HOST = programPath(fileURLToPath(new URL('../fixtures/host-process.ts', import.meta.url)))

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'loadout-processes-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

async function startStubborn(run: string, options: { processDir?: string } = {}) {
  const { host, started } = stubbornHost(run, options)
  await started
  return host
}

const newFolder = () => mkdtempSync(join(folder, 'run-'))
const wait = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

interface Alive {
  pid: number
  parent: number
  group: number
  command: string
}

/** What runs on this machine. One that is dead and only waits to be counted does not. */
function processes(): Alive[] {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return []
    try {
      const line = readFileSync(`/proc/${name}/stat`, 'utf8')
      const [state, parent, group] = line.slice(line.lastIndexOf(')') + 2).split(' ')
      const command = readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ')
      if (state === 'Z' || state === 'X') return []
      return [{ pid: Number(name), parent: Number(parent), group: Number(group), command }]
    } catch {
      return []
    }
  })
}

const grandchildren = (run: string) =>
  [0, 1].map((index) => Number(/grandchild (\d+)/.exec(readFileSync(join(run, `${index}.log`), 'utf8'))?.[1]))

/** What is alive of these groups, of these numbers, or with this folder in its command line. */
function leftOf(run: string, pids: readonly number[]): Alive[] {
  return processes().filter(
    ({ pid, group, command }) => pids.includes(pid) || pids.includes(group) || command.includes(run),
  )
}

/** Nothing of them is alive; `prove:timing` says how soon. */
const gone = (run: string, pids: readonly number[]) =>
  provenWithin(GONE_MS, () => expect.poll(() => leftOf(run, pids), { timeout: 30_000 }).toEqual([]))

/** Both servers and their children, alive in two groups: what is then to be gone. */
function assertRunning(run: string, leaders: readonly number[]): number[] {
  const pids = [...leaders, ...grandchildren(run)]
  expect(new Set(pids).size).toBe(4)
  const alive = processes().filter(({ pid }) => pids.includes(pid))
  expect(alive.map(({ pid }) => pid).sort()).toEqual([...pids].sort())
  expect(new Set(alive.map(({ group }) => group))).toEqual(new Set(leaders))
  return pids
}

/** Runs it so many times, a few at once. */
async function repeat(times: number, work: (index: number) => Promise<void>): Promise<void> {
  for (let done = 0; done < times; done += AT_ONCE)
    await Promise.all(Array.from({ length: Math.min(AT_ONCE, times - done) }, (_, index) => work(done + index)))
}

function startHost(run: string, processDir?: string): ChildProcess {
  return spawn(process.execPath, [HOST, run, ...(processDir ? [processDir] : [])], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
}

async function ready(child: ChildProcess): Promise<number[]> {
  const [line] = (await once(createInterface({ input: child.stdout as NodeJS.ReadableStream }), 'line')) as [string]
  return line.split(' ').slice(1).map(Number)
}

async function kill(child: ChildProcess): Promise<void> {
  const exited = once(child, 'exit')
  child.kill('SIGKILL')
  await exited
}

/** Waits until it is so, for at most half a minute. */
async function until(isSo: () => boolean): Promise<void> {
  for (let tries = 0; tries < 1500 && !isSo(); tries++) await wait(20)
  expect(isSo()).toBe(true)
}

const watcherOf = (host: ChildProcess) =>
  processes().find(({ parent, command }) => parent === host.pid && command.startsWith('/bin/sh'))?.pid as number

describe('server processes', () => {
  it(
    `are gone after their host closes, ${TIMES} times`,
    () =>
      repeat(TIMES, async () => {
        const run = newFolder()
        const host = await startStubborn(run)
        const pids = assertRunning(run, pidsOf(host))
        await host.close()
        await gone(run, pids)
      }),
    LONG,
  )

  it(
    `are gone after their host closes during startup, ${TIMES} times`,
    () =>
      repeat(TIMES, async (index) => {
        const run = newFolder()
        const { host, started } = stubbornHost(run)
        const settled = Promise.allSettled([started])
        await until(() => leftOf(run, []).length > 0)
        const pids = leftOf(run, []).map(({ pid }) => pid)
        await wait(index)
        await host.close()
        await settled
        await gone(run, pids)
      }),
    LONG,
  )

  it(
    `are gone after a kill -9 of their host, ${TIMES} times`,
    () =>
      repeat(TIMES, async () => {
        const run = newFolder()
        const host = startHost(run)
        const pids = assertRunning(run, await ready(host))
        const watcher = watcherOf(host)
        await kill(host)
        await gone(run, [...pids, watcher])
      }),
    LONG,
  )

  it(
    `are gone after a kill -9 of their host during startup, ${TIMES} times`,
    () =>
      repeat(TIMES, async () => {
        const [run, notes] = [newFolder(), newFolder()]
        const host = startHost(run, notes)
        await until(() => readdirSync(notes).length > 0)
        await kill(host)
        const pids = leftOf(run, []).map(({ group }) => group)
        await gone(run, pids)
      }),
    LONG,
  )
})

describe('the watchdog', () => {
  it('restarts after it was killed and still ends orphaned processes', async () => {
    const run = newFolder()
    const host = startHost(run)
    const pids = assertRunning(run, await ready(host))
    const first = watcherOf(host)
    process.kill(first, 'SIGKILL')
    await until(() => (watcherOf(host) ?? first) !== first)
    await kill(host)
    await gone(run, pids)
  })
})

describe('the startup sweep', () => {
  /** A host and its watcher are killed; its servers live on. */
  async function orphaned() {
    const [run, notes] = [newFolder(), newFolder()]
    const host = startHost(run, notes)
    const leaders = await ready(host)
    const pids = assertRunning(run, leaders)
    await until(() => readdirSync(notes).length === 2)
    // Stopped, it cannot start another watcher.
    host.kill('SIGSTOP')
    process.kill(watcherOf(host), 'SIGKILL')
    await kill(host)
    return { run, notes, leaders, pids }
  }
  const endAll = (pids: readonly number[]) => {
    for (const pid of pids)
      try {
        process.kill(pid, 'SIGKILL')
      } catch {
        // Gone already.
      }
  }

  it('ends processes of a dead host whose watchdog is dead too', async () => {
    const { run, notes, pids } = await orphaned()
    await wait(500)
    expect(leftOf(run, pids)).not.toEqual([])
    const [nextRun, next] = [newFolder(), { processDir: notes }]
    const host = await startStubborn(nextRun, next)
    await gone(run, pids)
    expect(processes().filter(({ pid }) => pidsOf(host).includes(pid))).toHaveLength(2)
    await host.close()
  })

  it('ends a process group whose leader is gone', async () => {
    const { run, notes, leaders, pids } = await orphaned()
    endAll(leaders)
    await until(() => !processes().some(({ pid }) => leaders.includes(pid)))
    expect(leftOf(run, pids)).toHaveLength(2)
    expect(await sweepOrphans(notes)).toBe(2)
    await until(() => leftOf(run, pids).length === 0)
    expect(readdirSync(notes)).toEqual([])
  })

  it('ignores a process group whose ID was reused, with or without a leader', async () => {
    const { run, notes, leaders, pids } = await orphaned()
    for (const name of readdirSync(notes)) {
      const [host, hostBirth, group, birth, session] = name.split('-')
      rmSync(join(notes, name))
      writeFileSync(join(notes, [host, hostBirth, group, Number(birth) - 1, Number(session) - 1].join('-')), '')
    }
    const copies = newFolder()
    for (const name of readdirSync(notes)) writeFileSync(join(copies, name), '')
    expect(await sweepOrphans(notes)).toBe(0)
    expect(readdirSync(notes)).toEqual([])
    endAll(leaders)
    await until(() => !processes().some(({ pid }) => leaders.includes(pid)))
    expect(await sweepOrphans(copies)).toBe(0)
    expect(leftOf(run, pids)).toHaveLength(2)
    endAll(pids)
  })

  it('ignores processes of a live host and unrelated files', async () => {
    const [run, notes] = [newFolder(), newFolder()]
    const host = await startStubborn(run, { processDir: notes })
    await until(() => readdirSync(notes).length === 2)
    writeFileSync(join(notes, '1-1-1-1-1'), '')
    writeFileSync(join(notes, 'readme'), '')
    mkdirSync(join(notes, '0--0-'))
    expect(await sweepOrphans(notes)).toBe(0)
    assertRunning(run, pidsOf(host))
    await host.close()
    await until(() => readdirSync(notes).length === 0)
  })
})
