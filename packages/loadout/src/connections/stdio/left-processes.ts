/**
 * Finds processes that a command detached into their own session, which ending its process group does not reach. They
 * inherit a marker variable. Linux only; elsewhere none are found.
 */
import { readdir, readFile, readlink } from 'node:fs/promises'

const MARK = 'LOADOUT_COMMAND'

export interface LeftProcess {
  pid: number
  /** Program without arguments, which may contain secrets. */
  program: string
  /** Command that started the process. */
  command: string
}

export const newMark = (): Record<string, string> => ({ [MARK]: crypto.randomUUID() })

/** Running processes with the marker. Unreadable processes belong to other users and are skipped. */
export async function leftProcesses(mark: Readonly<Record<string, string>>, command: string): Promise<LeftProcess[]> {
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
