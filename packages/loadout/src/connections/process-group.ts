/**
 * Processes of stdio servers. Each is started without a shell, as the leader of a group of its own, with the environment
 * it is given and nothing of ours. Ending one ends its group: SIGTERM, then SIGKILL. A small watcher holds a pipe to us:
 * when we die, also by `kill -9`, the pipe breaks and the watcher ends every group that was still ours.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { HostError } from '../errors.ts'

const TERM_MS = 1500
const KILL_MS = 500

/** Reads "add <pgid>" and "del <pgid>"; at the end of its input it ends all groups that are left. */
const WATCHER = `
trap '' INT TERM HUP QUIT
groups=""
while read -r op group; do
  case "$op" in
    add) groups="$groups $group" ;;
    del) rest=""; for g in $groups; do [ "$g" = "$group" ] || rest="$rest $g"; done; groups="$rest" ;;
  esac
done
for g in $groups; do kill -TERM "-$g" 2>/dev/null; done
[ -z "$groups" ] || sleep 0.3
for g in $groups; do kill -KILL "-$g" 2>/dev/null; done
`

export interface ProcessSpec {
  command: string
  args: readonly string[]
  env: Readonly<Record<string, string>>
  cwd?: string | undefined
}

export interface ProcessGroup {
  child: ChildProcess
  /** Ends the group; resolves when its leader is gone and SIGKILL was sent to the rest. */
  end(): Promise<void>
}

export interface ProcessGroups {
  start(spec: ProcessSpec): Promise<ProcessGroup>
  /** Ends all groups and the watcher. */
  close(): Promise<void>
}

export interface ProcessGroupsOptions {
  /** A folder to note running groups in, so that the next start can sweep what a crash of the machine's making left. */
  noteDir?: string | undefined
}

export function createProcessGroups({ noteDir }: ProcessGroupsOptions = {}): ProcessGroups {
  const running = new Set<ProcessGroup>()
  let watcher: ChildProcess | undefined
  const watch = (line: string) => {
    if (!watcher || watcher.exitCode !== null) {
      watcher = spawn('/bin/sh', ['-c', WATCHER], {
        stdio: ['pipe', 'ignore', 'ignore'],
        detached: true,
        env: { PATH: '/usr/bin:/bin' },
      })
      watcher.on('error', () => {})
      watcher.stdin?.on('error', () => {})
      watcher.unref()
      for (const { child } of running) watcher.stdin?.write(`add ${child.pid}\n`)
    }
    watcher.stdin?.write(`${line}\n`)
  }

  return {
    async start(spec) {
      // The watcher is there before the process is, so that no moment is unwatched.
      watch('')
      const child = spawn(spec.command, [...spec.args], {
        cwd: spec.cwd,
        env: { ...spec.env },
        stdio: ['pipe', 'pipe', 'pipe'],
        detached: true,
        shell: false,
        windowsHide: true,
      })
      if (child.pid !== undefined) watch(`add ${child.pid}`)
      await started(child, spec)
      const group: ProcessGroup = { child, end: onceOnly(() => endGroup(child)) }
      running.add(group)
      const note = await writeNote(noteDir, child.pid)
      child.once('exit', () => {
        // A leader that ended may have left others of its group behind.
        signalGroup(child.pid, 'SIGKILL')
        running.delete(group)
        watch(`del ${child.pid}`)
        if (note) rm(note, { force: true }).catch(() => {})
      })
      return group
    },
    async close() {
      await Promise.all([...running].map((group) => group.end()))
      watcher?.stdin?.end()
      watcher = undefined
    },
  }
}

/** Ends groups whose host is gone: what is left after a power cut of the watcher. Says how many. */
export async function sweepOrphans(noteDir: string): Promise<number> {
  const names = await readdir(noteDir).catch(() => [])
  let swept = 0
  for (const name of names) {
    const [host = '', group = '', birth = ''] = name.split('-')
    if (await isSame(Number(host), await readFile(join(noteDir, name), 'utf8').catch(() => ''))) continue
    if (await isSame(Number(group), birth)) {
      signalGroup(Number(group), 'SIGKILL')
      swept++
    }
    await rm(join(noteDir, name), { force: true })
  }
  return swept
}

async function started(child: ChildProcess, { command, cwd }: ProcessSpec): Promise<void> {
  try {
    await once(child, 'spawn')
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code
    const why =
      code === 'ENOENT'
        ? cwd
          ? 'is not there, or its folder is not'
          : 'is not there'
        : `could not be started (${code})`
    throw new HostError('spawn-failed', { detail: `The command "${command}" ${why}.`, cause: error })
  }
}

async function endGroup(child: ChildProcess): Promise<void> {
  const gone = () => child.exitCode !== null || child.signalCode !== null
  if (!gone()) {
    const exited = once(child, 'exit').catch(() => {})
    child.stdin?.destroy()
    signalGroup(child.pid, 'SIGTERM')
    await Promise.race([exited, wait(TERM_MS)])
    if (!gone()) {
      signalGroup(child.pid, 'SIGKILL')
      await Promise.race([exited, wait(KILL_MS)])
    }
  }
  signalGroup(child.pid, 'SIGKILL')
}

function signalGroup(pid: number | undefined, signal: NodeJS.Signals): void {
  if (pid === undefined || pid <= 1) return
  try {
    process.kill(-pid, signal)
  } catch {
    // Nobody of the group is left.
  }
}

async function writeNote(noteDir: string | undefined, pid: number | undefined): Promise<string | undefined> {
  if (noteDir === undefined || pid === undefined) return undefined
  await mkdir(noteDir, { recursive: true, mode: 0o700 })
  const path = join(noteDir, `${process.pid}-${pid}-${await birthOf(pid)}`)
  await writeFile(path, await birthOf(process.pid), { mode: 0o600 })
  return path
}

async function isSame(pid: number, birth: string): Promise<boolean> {
  return Number.isInteger(pid) && pid > 1 && birth !== '' && (await birthOf(pid)) === birth
}

// The kernel's start time tells a process from a later one with the same number.
async function birthOf(pid: number): Promise<string> {
  const line = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  return line.slice(line.lastIndexOf(')') + 2).split(' ')[19] ?? ''
}

const wait = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

function onceOnly(work: () => Promise<void>): () => Promise<void> {
  let done: Promise<void> | undefined
  return () => {
    done ??= work()
    return done
  }
}
