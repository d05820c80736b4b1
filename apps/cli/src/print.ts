/** Prints command output as text or JSON. An error is one line with its fix, and exit code 1. */
import { HostError } from '@loadout/core'

export interface Output {
  /** For a terminal. */
  text: string
  /** For `--json`. */
  data: unknown
}

/** Runs a command and prints its output or its error. */
export async function print(json: boolean, work: () => Promise<Output>): Promise<void> {
  try {
    const { text, data } = await work()
    console.log(json ? JSON.stringify(data, null, 2) : text)
  } catch (thrown) {
    const { code, message: detail, action, line } = HostError.is(thrown) ? thrown : fromFile(thrown)
    console.error(json ? JSON.stringify({ code, detail, action }) : line)
    process.exitCode = 1
  }
}

/** Text columns, each as wide as its widest cell. */
export function table(rows: string[][]): string {
  const widths = rows.reduce<number[]>((widest, row) => row.map((cell, i) => Math.max(widest[i] ?? 0, cell.length)), [])
  return rows
    .map((row) =>
      row
        .map((cell, i) => cell.padEnd(widths[i] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

// Maps file errors to problems that the user can fix; other errors are rethrown.
function fromFile(thrown: unknown): HostError {
  const { code, path } = thrown as NodeJS.ErrnoException
  if (code === 'EEXIST')
    return new HostError('conflict', {
      detail: `The file ${path} is there already.`,
      action: 'Choose another name, or move it away.',
    })
  if (code === 'ENOENT')
    return new HostError('not-found', { detail: `There is no file ${path}.`, action: 'Check the name.' })
  if (code === 'EACCES' || code === 'EISDIR' || code === 'ENOTDIR')
    return new HostError('forbidden', {
      detail: `${path} cannot be used (${code}).`,
      action: 'Check that it is a file that you may use.',
    })
  throw thrown
}
