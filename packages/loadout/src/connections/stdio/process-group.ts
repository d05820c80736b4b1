/**
 * Processes of stdio servers. Each is started without a shell, as the leader of a group of its own, with the environment
 * it is given and nothing of ours. Ending one ends its group: SIGTERM, then SIGKILL. A small watcher holds a pipe to us:
 * when we die, also by `kill -9`, the pipe breaks and the watcher ends every group that was still ours.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Writable } from 'node:stream'
import { HostError } from '../../errors.ts'
import { type LeftProcess, leftProcesses, newMark } from './left-processes.ts'
import { type GroupNote, noteGroup, signalGroup } from './orphans.ts'

const TERM_MS = 1500
const KILL_MS = 500
const REWATCH_MS = 200

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
  /** What it reads from descriptors 3, 4 and so on: what must be on no command line. */
  inputs?: readonly string[]
  /** Whom it runs as, where we may choose. */
  uid?: number | undefined
  /** Done with its number before its program begins, which waits for a line on the descriptor after the inputs. */
  admit?: (pid: number) => Promise<void>
  /** Told once, when it is gone or did not start. */
  onEnd?: () => void
}

export interface ProcessGroup {
  child: ChildProcess
  /** Ends the group; resolves when its leader is gone and SIGKILL was sent to the rest. */
  end(): Promise<void>
}

export interface ProcessGroups {
  start(spec: ProcessSpec): Promise<ProcessGroup>
  /** How many run. */
  count(): number
  /** Ends all groups and the watcher. */
  close(): Promise<void>
}

export interface ProcessGroupsOptions {
  /** A folder to note running groups in, so that the next start can sweep what a crash of the machine's making left. */
  noteDir?: string | undefined
  /** Told of processes that a command detached and that outlive it. Sandboxed commands leave none: their namespace ends with them. */
  onLeft?: ((left: readonly LeftProcess[]) => void) | undefined
}

export function createProcessGroups({ noteDir, onLeft }: ProcessGroupsOptions = {}): ProcessGroups {
  const running = new Set<ProcessGroup>()
  const watcher = createWatcher(() => [...running].flatMap(({ child }) => child.pid ?? []))
  let closed = false
  const scans = new Set<Promise<void>>()
  const reportLeft = (mark: Record<string, string>, command: string) => {
    const scan = leftProcesses(mark, command).then((left) => void (left.length > 0 && onLeft?.(left)))
    scans.add(scan)
    return scan.finally(() => scans.delete(scan))
  }

  return {
    async start(spec) {
      if (closed) {
        spec.onEnd?.()
        throw new HostError('shutting-down')
      }
      // The watcher is there before the process is, so that no moment is unwatched.
      watcher.start()
      const mark = onLeft ? newMark() : undefined
      const child = spawnLeader(mark ? { ...spec, env: { ...spec.env, ...mark } } : spec)
      if (child.pid === undefined) await waitForSpawn(child, spec)
      const group: ProcessGroup = { child, end: onceOnly(() => endGroup(child)) }
      let note: Promise<GroupNote | undefined> | undefined
      // From here on it is known to all who may have to end it, before anything is waited for.
      running.add(group)
      watcher.send(`add ${child.pid}`)
      child.once('exit', () => {
        // A leader that ended may have left others of its group behind.
        signalGroup(child.pid, 'SIGKILL')
        running.delete(group)
        watcher.send(`del ${child.pid}`)
        spec.onEnd?.()
        if (mark) void reportLeft(mark, spec.command)
        note?.then((noted) => noted?.remove()).catch(() => {})
      })
      await waitForSpawn(child, spec)
      // The note is for a later host, so nobody waits for it; a folder that cannot be written costs only the sweep.
      if (noteDir !== undefined && child.pid !== undefined) note = noteGroup(noteDir, child.pid).catch(() => undefined)
      return group
    },
    count: () => running.size,
    async close() {
      closed = true
      await Promise.all([...running].map((group) => group.end()))
      await Promise.all(scans)
      watcher.close()
    },
  }
}

function spawnLeader(spec: ProcessSpec): ChildProcess {
  const { inputs = [], uid, admit } = spec
  const child = spawn(spec.command, [...spec.args], {
    cwd: spec.cwd,
    env: { ...spec.env },
    stdio: ['pipe', 'pipe', 'pipe', ...inputs.map(() => 'pipe' as const), ...(admit ? ['pipe' as const] : [])],
    detached: true,
    shell: false,
    windowsHide: true,
    ...(uid === undefined ? {} : { uid, gid: uid }),
  })
  const writeInput = (index: number, text: string) => {
    const stream = child.stdio[index + 3] as Writable | null | undefined
    stream?.on('error', () => {})
    stream?.end(text)
  }
  inputs.forEach((input, index) => {
    writeInput(index, input)
  })
  // Who is not admitted reads the end of it, and ends.
  if (child.pid !== undefined)
    admit?.(child.pid).then(
      () => writeInput(inputs.length, '\n'),
      () => writeInput(inputs.length, ''),
    )
  return child
}

/** The watcher's process, started again where something ended it. */
function createWatcher(groups: () => number[]) {
  let current: ChildProcess | undefined
  let closed = false
  const start = () => {
    if (current || closed) return
    const watcher = spawn('/bin/sh', ['-c', WATCHER], {
      stdio: ['pipe', 'ignore', 'ignore'],
      detached: true,
      env: { PATH: '/usr/bin:/bin' },
    })
    current = watcher
    watcher.on('error', () => {})
    watcher.stdin?.on('error', () => {})
    watcher.once('exit', () => {
      current = undefined
      setTimeout(() => groups().length > 0 && start(), REWATCH_MS).unref()
    })
    watcher.unref()
    for (const pid of groups()) watcher.stdin?.write(`add ${pid}\n`)
  }
  return {
    start,
    send: (line: string) => void current?.stdin?.write(`${line}\n`),
    close() {
      closed = true
      current?.stdin?.end()
    },
  }
}

async function waitForSpawn(child: ChildProcess, { command, cwd, onEnd }: ProcessSpec): Promise<void> {
  try {
    await once(child, 'spawn')
  } catch (error) {
    onEnd?.()
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

// The rest of a group is killed when its leader exits. Later its number may be another's, so nothing is sent then.
async function endGroup(child: ChildProcess): Promise<void> {
  const hasExited = () => child.exitCode !== null || child.signalCode !== null
  if (hasExited()) return
  const exited = once(child, 'exit').catch(() => {})
  child.stdin?.destroy()
  signalGroup(child.pid, 'SIGTERM')
  await Promise.race([exited, wait(TERM_MS)])
  if (hasExited()) return
  signalGroup(child.pid, 'SIGKILL')
  await Promise.race([exited, wait(KILL_MS)])
}

/** Holds no process up: while a child runs, the child does. */
const wait = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms).unref())

function onceOnly(work: () => Promise<void>): () => Promise<void> {
  let done: Promise<void> | undefined
  return () => {
    done ??= work()
    return done
  }
}
