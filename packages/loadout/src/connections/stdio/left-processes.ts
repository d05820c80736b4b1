/**
 * Finds processes that a command detached into their own session, which ending its process group does not reach. They
 * inherit a marker variable. Linux only; elsewhere none are found.
 */
import { readdir, readFile, readlink } from 'node:fs/promises'
import { sleep } from '../../util/abort.ts'

const MARK = 'LOADOUT_COMMAND'
/** The kernel kills the processes of a sandbox one after the other; a busy machine takes its time. */
const LOOKS = 6
const LOOK_MS = 200

export interface LeftProcess {
  pid: number
  /** Program without arguments, which may contain secrets. */
  program: string
  /** Command that started the process. */
  command: string
}

export const newMark = (): Record<string, string> => ({ [MARK]: crypto.randomUUID() })

/** Processes with the marker that keep running. */
export async function leftProcesses(mark: Readonly<Record<string, string>>, command: string): Promise<LeftProcess[]> {
  let left = await markedProcesses(mark, command)
  for (let look = 1; look < LOOKS && left.length > 0; look++) {
    await sleep(LOOK_MS, { keepAlive: true })
    left = await markedProcesses(mark, command)
  }
  return left
}

/** Unreadable processes belong to other users and are skipped. */
async function markedProcesses(mark: Readonly<Record<string, string>>, command: string): Promise<LeftProcess[]> {
  const text = `${MARK}=${mark[MARK]}`
  const pids = (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name))
  const found = await Promise.all(
    pids.map(async (pid) => {
      const environment = await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '')
      if (!environment.split('\0').includes(text)) return []
      return [{ pid: Number(pid), program: await readlink(`/proc/${pid}/exe`).catch(() => ''), command }]
    }),
  )
  // A zombie has no program.
  return found.flat().filter(({ program }) => program !== '')
}
