/** Runs a process to completion with a timeout. */
import { onAbort } from '../../util/abort.ts'
import { createRingBuffer } from '../../util/ring-buffer.ts'
import type { ProcessGroups, ProcessSpec } from '../stdio/process-group.ts'

export interface RunOutcome {
  code: number | null
  /** Last 4096 bytes of output. */
  output: string
}

const OUTPUT_BYTES = 4096

/** Ends the process at the timeout or when `signal` aborts. */
export async function runOnce(
  groups: ProcessGroups,
  spec: ProcessSpec,
  { timeoutMs, signal }: { timeoutMs: number; signal?: AbortSignal },
): Promise<RunOutcome> {
  const group = await groups.start(spec)
  const { child } = group
  const output = createRingBuffer(OUTPUT_BYTES)
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk: Buffer) => output.write(chunk))
  for (const stream of [child.stdin, child.stdout, child.stderr]) stream?.on('error', () => {})
  child.stdin?.end()
  const end = () => void group.end()
  const timer = setTimeout(end, timeoutMs)
  const stopListening = onAbort(signal, end)
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
  clearTimeout(timer)
  stopListening()
  return { code, output: output.text().trim() }
}
