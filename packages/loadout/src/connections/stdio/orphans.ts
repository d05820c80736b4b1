/**
 * Notes of running process groups, so that the next host can end them after a host and its watcher died. A note is an
 * empty file whose name contains all data, so it is never half-written. The kernel reuses PIDs, so a process is
 * identified by PID and start time, and a group without its leader by its session.
 */
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

export interface GroupNote {
  remove(): Promise<void>
}

/** Writes a note. Returns undefined without `/proc` or if the process has ended. */
export async function noteGroup(noteDir: string, pid: number): Promise<GroupNote | undefined> {
  const [ours, leader, session] = await Promise.all([readStat(process.pid), readStat(pid), readSession(pid)])
  if (!ours || !leader) return undefined
  await mkdir(noteDir, { recursive: true, mode: 0o700 })
  const path = join(noteDir, [process.pid, ours.birth, pid, leader.birth, session].join('-'))
  await writeFile(path, '', { mode: 0o600 })
  return { remove: () => rm(path, { force: true }) }
}

/** Ends groups whose host is gone and returns their number. */
export async function sweepOrphans(noteDir: string): Promise<number> {
  let swept = 0
  for (const name of await readdir(noteDir).catch(() => [])) {
    const [host = '', hostBirth = '', group = '', birth = '', session = ''] = name.split('-')
    if (await isSameProcess(host, hostBirth)) continue
    if ((await isSameProcess(group, birth)) || (await hasLeftovers(group, session))) {
      signalGroup(Number(group), 'SIGKILL')
      swept++
    }
    await rm(join(noteDir, name), { force: true, recursive: true }).catch(() => {})
  }
  return swept
}

export function signalGroup(pid: number | undefined, signal: NodeJS.Signals): void {
  if (pid === undefined || !Number.isInteger(pid) || pid <= 1) return
  try {
    process.kill(-pid, signal)
  } catch {
    // The group has no processes.
  }
}

async function isSameProcess(pid: string, birth: string): Promise<boolean> {
  const stat = await readStat(Number(pid))
  return stat !== undefined && stat.birth === birth
}

/** Whether a group outlives its leader: members with its number in the noted session. */
async function hasLeftovers(group: string, session: string): Promise<boolean> {
  if (session === '' || (await readStat(Number(group)))) return false
  for (const name of await readdir('/proc').catch(() => [])) {
    const stat = await readStat(Number(name))
    if (stat?.group === group && (await readSession(Number(name))) === session) return true
  }
  return false
}

async function readStat(pid: number): Promise<{ group: string; birth: string } | undefined> {
  if (!Number.isInteger(pid) || pid <= 1) return undefined
  const line = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  const fields = line.slice(line.lastIndexOf(')') + 2).split(' ')
  const group = fields[2]
  const birth = fields[19]
  return group === undefined || birth === undefined ? undefined : { group, birth }
}

/** Autogroup number, which the kernel never reuses. Empty if it is not available. */
async function readSession(pid: number): Promise<string> {
  const line = await readFile(`/proc/${pid}/autogroup`, 'utf8').catch(() => '')
  return /^\/autogroup-(\d+) /.exec(line)?.[1] ?? ''
}
