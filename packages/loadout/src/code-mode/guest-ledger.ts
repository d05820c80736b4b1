/** What a program takes to the outside: its calls and its logs, each counted when it is made. What is too much is said to `fail`. */
import type { LogLine, ProgramErrorCode, ProgramLimits } from './executor.ts'
import type { DoorArguments } from './sandbox-engine.ts'
import { tooManyBytes, tooManyValues, WAITING_ARGUMENTS } from './sandbox-limits.ts'
import type { SandboxCall } from './sandbox-protocol.ts'
import { hasMoreValues } from './sandbox-values.ts'

export type Fail = (code: ProgramErrorCode, message: string) => void
export type Ledger = ReturnType<typeof createLedger>

const LEVELS = ['log', 'info', 'warn', 'error', 'debug']

export function createLedger(limits: ProgramLimits, fail: Fail) {
  const sizes = new Map<number, number>()
  let [made, waitingBytes, logBytes] = [0, 0, 0]
  let out = { calls: [] as SandboxCall[], logs: [] as LogLine[], bytes: 0 }

  const tooMuch = (args: DoorArguments): [ProgramErrorCode, string] | undefined => {
    if (made + 1 > limits.calls) return ['call-limit', `The program made more than ${limits.calls} calls.`]
    if (sizes.size + 1 > limits.parallelCalls)
      return ['parallel-limit', `More than ${limits.parallelCalls} calls waited for an answer at once.`]
    // A character is a byte at least, so that what is far too long need not be copied.
    if (args.number(4) > limits.argumentBytes) return ['argument-limit', tooManyBytes(limits)]
    return undefined
  }

  return {
    waiting: () => sizes.size,
    /** What lies here to be told. */
    bytes: () => out.bytes,
    take() {
      const { calls, logs } = out
      out = { calls: [], logs: [], bytes: 0 }
      return { calls, logs }
    },
    call(args: DoorArguments) {
      const over = tooMuch(args)
      if (over) return fail(...over)
      const { text, bytes } = args.sized(3)
      if (bytes > limits.argumentBytes) return fail('argument-limit', tooManyBytes(limits))
      if (hasMoreValues(text, limits.argumentValues)) return fail('argument-limit', tooManyValues(limits))
      if (waitingBytes + bytes > limits.argumentBytes * WAITING_ARGUMENTS)
        return fail('argument-limit', 'The arguments of the calls that wait for an answer take too much together.')
      out.calls.push({ seq: made, object: args.text(1), name: args.text(2), arguments: text })
      out.bytes += bytes
      waitingBytes += bytes
      sizes.set(made++, bytes)
    },
    /** False where no call with this number waits. */
    answered(seq: number): boolean {
      waitingBytes -= sizes.get(seq) ?? 0
      return sizes.delete(seq)
    },
    log(args: DoorArguments) {
      const line = args.number(3) > limits.logBytes ? undefined : args.sized(2)
      // As it would be written: with an end of its line.
      logBytes += (line?.bytes ?? limits.logBytes) + 1
      if (!line || logBytes > limits.logBytes)
        return fail('log-limit', `The program logged more than ${limits.logBytes} bytes.`)
      const level = LEVELS.find((known) => known === args.text(1)) ?? 'log'
      out.logs.push({ level: level as LogLine['level'], text: line.text })
      out.bytes += line.bytes + 1
    },
  }
}
