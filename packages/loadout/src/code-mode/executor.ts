/**
 * The contract of what runs a program: somewhere else, within limits, and with one door to the outside. What holds of every driver:
 *
 * - It never throws, whatever the program does; the host lives and its event loop is free.
 * - The program has no network, no files, no environment, no clock and no randomness of its own: `Date.now()` is the time that
 *   the last answer carried (or what it slept to, where that is later: nobody waits for its timers), and `Math.random()` is the seed's. The same program with the same answers in the same order does
 *   the same, so that a program that paused is run again to where it stood.
 * - Answers reach the program in the order in which the bridge gives them.
 * - A limit that is reached ends the program with the limit's own error, soon after it, and never before.
 */
import type { Json } from '../schema/json.ts'

export interface Program {
  /** The body of an async function, in JavaScript: what it returns is its value. */
  source: string
  /** What it reads as `input`. */
  input?: Json | undefined
  /** Where its randomness begins. */
  seed: string
  /** Its time until the first answer, in milliseconds since 1970. */
  now: number
}

/** One call that a program makes. */
export interface BridgeCall {
  /** Its place among the calls of the program, from 0, in the order in which they were made. */
  seq: number
  /** The object that it was called on: `github`; empty for a function by itself. */
  object: string
  name: string
  arguments: Json[]
}

export type BridgeResult =
  /** `at`: the program's time from here on. */
  | { value: Json; at: number }
  /** An exception in the program, with its code. */
  | { error: { code: string; message: string; data?: Json | undefined }; at: number }
  /** The program ends here, to be run again later. */
  | { pause: true }

export interface Bridge {
  /** Whose program it is: one owner's never take all the places. */
  readonly owner?: string | undefined
  /** How many programs wait for what this one gives, one for the other: it does not wait for their places. @default 0 */
  readonly depth?: number | undefined
  /** What the program finds: `{ github: ['list_issues'], '': ['search'] }`. All of them are async. */
  functions: Readonly<Record<string, readonly string[]>>
  /** Never throws. May be asked many at once. */
  call(call: BridgeCall): Promise<BridgeResult>
}

export interface ProgramLimits {
  /** @default 64 MiB */
  memoryBytes: number
  /** What it computes itself, without waiting. @default 5_000 */
  cpuMs: number
  /** In all, with waiting. @default 60_000 */
  wallMs: number
  /** @default 1_000 */
  calls: number
  /** Calls that wait for an answer at once. @default 200 */
  parallelCalls: number
  /** Of all that it logs. @default 256 KiB */
  logBytes: number
  /** Of the value that it returns. @default 1 MiB */
  resultBytes: number
  /** Of the arguments of one call. @default 256 KiB */
  argumentBytes: number
  /** Values and names in the arguments of one call, wherever they are: the host looks at each, many times. @default 10_000 */
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
  /** The sandbox died of something that no limit names. */
  'sandbox-lost',
] as const
export type ProgramErrorCode = (typeof PROGRAM_ERRORS)[number]

export interface ProgramError {
  code: ProgramErrorCode
  message: string
  /** Where in the program, where that is known: of its own lines only. */
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
  /** The most that it had at once, where the driver knows. */
  memoryBytes?: number | undefined
}

export type Execution = { logs: LogLine[]; usage: ProgramUsage } & (
  | { status: 'completed'; value: Json }
  | { status: 'failed'; error: ProgramError }
  /** The bridge said so. */
  | { status: 'paused' }
)

export interface ExecuteOptions {
  limits?: Partial<ProgramLimits> | undefined
  signal?: AbortSignal | undefined
}

export interface Executor {
  readonly name: string
  /** What it was made with: they hold where whoever asks says nothing of them. */
  readonly limits?: Partial<ProgramLimits> | undefined
  execute(program: Program, bridge: Bridge, options?: ExecuteOptions): Promise<Execution>
  close(): Promise<void>
}
