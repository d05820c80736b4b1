/**
 * Process groups of stdio servers. Each process starts without a shell, as the leader of its own group, with only the
 * given environment. Ending it ends the group: SIGTERM, then SIGKILL. A watcher process holds a pipe to this host; when
 * the host dies, even by `kill -9`, the watcher ends all groups.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Writable } from 'node:stream'
import { HostError } from '../../errors.ts'
import { sleep } from '../../util/abort.ts'
import { type LeftProcess, leftProcesses, newMark } from './left-processes.ts'
import { type GroupNote, noteGroup, signalGroup } from './orphans.ts'

const TERM_MS = 1500
const KILL_MS = 500
const REWATCH_MS = 200

/** Reads "add <pgid>" and "del <pgid>"; at the end of its input it ends the remaining groups. */
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
  /** Input for descriptors 3, 4 and so on, for data that must not appear on a command line. */
  inputs?: readonly string[]
  /** uid of the process, if the host may choose it. */
  uid?: number | undefined
  /** Runs with the PID before the program starts; the program waits for a line on the descriptor after `inputs`. */
  admit?: (pid: number) => Promise<void>
  /** Called once, when the process has ended or failed to start. */
  onEnd?: () => void
}

export interface ProcessGroup {
  child: ChildProcess
  /** Ends the group. Resolves when its leader has exited and the rest got SIGKILL. */
  end(): Promise<void>
}

export interface ProcessGroups {
  start(spec: ProcessSpec): Promise<ProcessGroup>
  /** Number of running groups. */
  count(): number
  /** Ends all groups and the watcher. */
  close(): Promise<void>
}

export interface ProcessGroupsOptions {
  /** Folder with notes of running groups, so that the next start can end leftovers of a crash. */
  noteDir?: string | undefined
  /**
   * Called with detached processes that outlive a command. Sandboxed commands leave none, because their PID namespace
   * ends with them.
   */
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
      // The watcher starts before the process, so that it covers its whole lifetime.
      watcher.start()
      const mark = onLeft ? newMark() : undefined
      const child = spawnLeader(mark ? { ...spec, env: { ...spec.env, ...mark } } : spec)
      if (child.pid === undefined) await waitForSpawn(child, spec)
      const group: ProcessGroup = { child, end: onceOnly(() => endGroup(child)) }
      let note: Promise<GroupNote | undefined> | undefined
      // Registered before the first await, so that `close` and the watcher can end it.
      running.add(group)
      watcher.send(`add ${child.pid}`)
      child.once('exit', () => {
        // The leader may leave other processes of its group behind.
        signalGroup(child.pid, 'SIGKILL')
        running.delete(group)
        watcher.send(`del ${child.pid}`)
        spec.onEnd?.()
        if (mark) void reportLeft(mark, spec.command)
        note?.then((noted) => noted?.remove()).catch(() => {})
      })
      await waitForSpawn(child, spec)
      // Not awaited: the note is for a later host, and a failed write only costs its sweep.
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
  // Without admission the program reads the end of input and exits.
  if (child.pid !== undefined)
    admit?.(child.pid).then(
      () => writeInput(inputs.length, '\n'),
      () => writeInput(inputs.length, ''),
    )
  return child
}

/** Restarts the watcher process if it ends. */
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

// A group is killed when its leader exits; later its number may belong to another group.
async function endGroup(child: ChildProcess): Promise<void> {
  const hasExited = () => child.exitCode !== null || child.signalCode !== null
  if (hasExited()) return
  // An idle sandbox does not keep this process alive; the caller of `end` waits for its exit.
  child.ref()
  const exited = once(child, 'exit').catch(() => {})
  child.stdin?.destroy()
  signalGroup(child.pid, 'SIGTERM')
  await Promise.race([exited, sleep(TERM_MS)])
  if (hasExited()) return
  signalGroup(child.pid, 'SIGKILL')
  await Promise.race([exited, sleep(KILL_MS)])
}

function onceOnly(work: () => Promise<void>): () => Promise<void> {
  let done: Promise<void> | undefined
  return () => {
    done ??= work()
    return done
  }
}
