/**
 * Processes that a command detached into a session of their own: ending the command's group does not reach them. They are found by a
 * variable that every process of a command inherits. Linux only; elsewhere none are found.
 */
import { readdir, readFile, readlink } from 'node:fs/promises'

const MARK = 'LOADOUT_COMMAND'

export interface LeftProcess {
  pid: number
  /** The program that it runs, without its arguments, which may contain secrets. */
  program: string
  /** The command that started it. */
  command: string
}

export const newMark = (): Record<string, string> => ({ [MARK]: crypto.randomUUID() })

/** Those that still run and inherited the mark. What may not be read is another user's, and none of them. */
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
  // The kernel keeps a killed process without its program until its parent has read its end.
  return found.flat().filter(({ program }) => program !== '')
}
