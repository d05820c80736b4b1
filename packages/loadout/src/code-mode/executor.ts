/**
 * Contract of executors: they run a program in isolation, within limits, with the bridge as its only way out. Every
 * driver guarantees:
 *
 * - `execute` never throws, and the host's event loop stays free.
 * - A program has no network, files, environment, clock or randomness of its own: `Date.now()` is the time of the last
 *   reply (or of its last timer, if later), and `Math.random()` derives from the seed. The same program with the same
 *   replies in the same order does the same, so a paused program can be replayed.
 * - Replies reach the program in the order in which the bridge returns them.
 * - A reached limit ends the program soon with the error of that limit, and never before.
 */
import type { Json } from '../schema/json.ts'

export interface Program {
  /** Body of an async function in JavaScript; its return value is the result. */
  source: string
  /** Value of `input` in the program. */
  input?: Json | undefined
  /** Seed of `Math.random()`. */
  seed: string
  /** Program time until the first reply, in ms since 1970. */
  now: number
}

export interface BridgeCall {
  /** Sequence number from 0, in call order. */
  seq: number
  /** Object of the function, such as `github`; empty for a global function. */
  object: string
  name: string
  arguments: Json[]
}

export type BridgeResult =
  /** `at`: program time from here on. */
  | { value: Json; at: number }
  /** Thrown in the program as an exception with a code. */
  | { error: { code: string; message: string; data?: Json | undefined }; at: number }
  /** Suspends the program; it is replayed later. */
  | { pause: true }

export interface Bridge {
  /** Owner of the program, for a fair share of sandboxes. */
  readonly owner?: string | undefined
  /** Number of programs that wait for this one, directly or indirectly; it gets a slot beyond theirs. @default 0 */
  readonly depth?: number | undefined
  /** Async functions of the program: `{ github: ['list_issues'], '': ['search'] }`. */
  functions: Readonly<Record<string, readonly string[]>>
  /** Never throws. Calls can run in parallel. */
  call(call: BridgeCall): Promise<BridgeResult>
}

export interface ProgramLimits {
  /** @default 64 MiB */
  memoryBytes: number
  /** CPU time in ms, without waiting. @default 5_000 */
  cpuMs: number
  /** Total time in ms, with waiting. @default 60_000 */
  wallMs: number
  /** @default 1_000 */
  calls: number
  /** Max parallel calls. @default 200 */
  parallelCalls: number
  /** Bytes of all logs. @default 256 KiB */
  logBytes: number
  /** Bytes of the returned value. @default 1 MiB */
  resultBytes: number
  /** Bytes of one call's arguments. @default 256 KiB */
  argumentBytes: number
  /** Nested values and keys in one call's arguments, because the host visits each several times. @default 10_000 */
  argumentValues: number
}

export const PROGRAM_ERRORS = [
  'program-error',
  'syntax-error',
  'memory-limit',
  'cpu-limit',
  'time-limit',
  'call-limit',
  'parallel-limit',
  'log-limit',
  'result-limit',
  'argument-limit',
  'cancelled',
  /** The sandbox died for a reason that no limit covers. */
  'sandbox-lost',
] as const
export type ProgramErrorCode = (typeof PROGRAM_ERRORS)[number]

export interface ProgramError {
  code: ProgramErrorCode
  message: string
  /** Line in the program, if known. */
  line?: number | undefined
  stack?: string | undefined
}

export interface LogLine {
  level: 'log' | 'info' | 'warn' | 'error' | 'debug'
  text: string
}

export interface ProgramUsage {
  calls: number
  cpuMs: number
  wallMs: number
  /** Peak memory, if the driver knows it. */
  memoryBytes?: number | undefined
}

export type Execution = { logs: LogLine[]; usage: ProgramUsage } & (
  | { status: 'completed'; value: Json }
  | { status: 'failed'; error: ProgramError }
  /** The bridge suspended the program. */
  | { status: 'paused' }
)

export interface ExecuteOptions {
  limits?: Partial<ProgramLimits> | undefined
  signal?: AbortSignal | undefined
}

export interface Executor {
  readonly name: string
  /** Default limits of this executor. */
  readonly limits?: Partial<ProgramLimits> | undefined
  execute(program: Program, bridge: Bridge, options?: ExecuteOptions): Promise<Execution>
  close(): Promise<void>
}
