import type { ProcessGroups, ProcessSpec } from '../process-group.ts'
import { createRing } from '../ring.ts'

export interface RunOutcome {
  code: number | null
  /** The end of what it said. */
  output: string
}

const OUTPUT_BYTES = 4096

/** Runs something to its end, or ends it when its time is over. */
export async function runOnce(groups: ProcessGroups, spec: ProcessSpec, timeoutMs: number): Promise<RunOutcome> {
  const group = await groups.start(spec)
  const { child } = group
  const output = createRing(OUTPUT_BYTES)
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk: Buffer) => output.write(chunk))
  for (const stream of [child.stdin, child.stdout, child.stderr]) stream?.on('error', () => {})
  child.stdin?.end()
  const timer = setTimeout(() => void group.end(), timeoutMs)
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
  clearTimeout(timer)
  return { code, output: output.text().trim() }
}
