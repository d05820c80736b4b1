/**
 * Notes of running process groups, so that the next host can end what is left when a host and its watcher both died.
 * A note is an empty file whose name says it all, so there is never half of one. A number alone is no proof: the kernel
 * gives it out again, so each process is known by its number and its birth, and a group whose leader is gone by its session.
 */
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

export interface GroupNote {
  remove(): Promise<void>
}

/** Notes a group of ours. Nothing is noted where there is no `/proc`, or when the process is already gone. */
export async function noteGroup(noteDir: string, pid: number): Promise<GroupNote | undefined> {
  const [ours, leader, session] = await Promise.all([readStat(process.pid), readStat(pid), readSession(pid)])
  if (!ours || !leader) return undefined
  await mkdir(noteDir, { recursive: true, mode: 0o700 })
  const path = join(noteDir, [process.pid, ours.birth, pid, leader.birth, session].join('-'))
  await writeFile(path, '', { mode: 0o600 })
  return { remove: () => rm(path, { force: true }) }
}

/** Ends groups whose host is gone. Says how many. */
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
    // Nobody of the group is left.
  }
}

async function isSameProcess(pid: string, birth: string): Promise<boolean> {
  const stat = await readStat(Number(pid))
  return stat !== undefined && stat.birth === birth
}

/** Whether a group lives on without its leader: members of that number, in the very session that was noted. */
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

/** The kernel counts sessions and never gives a count out again. Empty where it does not say. */
async function readSession(pid: number): Promise<string> {
  const line = await readFile(`/proc/${pid}/autogroup`, 'utf8').catch(() => '')
  return /^\/autogroup-(\d+) /.exec(line)?.[1] ?? ''
}
