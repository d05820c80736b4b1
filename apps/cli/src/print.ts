/** Output for people, or as JSON for programs. An error is one line that says what to do, and exit code 1. */
import { HostError } from 'loadout'

export interface Output {
  /** For people. */
  text: string
  /** For programs. */
  data: unknown
}

/** Runs a command's work and prints what it gives, or what went wrong. */
export async function print(json: boolean, work: () => Promise<Output>): Promise<void> {
  try {
    const { text, data } = await work()
    console.log(json ? JSON.stringify(data, null, 2) : text)
  } catch (thrown) {
    if (!HostError.is(thrown)) throw thrown
    const { code, message: detail, action, line } = thrown
    console.error(json ? JSON.stringify({ code, detail, action }) : line)
    process.exitCode = 1
  }
}

/** Columns of text, each as wide as its widest cell. */
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
