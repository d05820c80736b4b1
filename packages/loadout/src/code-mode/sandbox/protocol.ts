/**
 * What is said between a host and a sandbox, in plain values that survive a structured clone and a line of JSON alike.
 * Values of the program are texts of JSON on the way: nothing of a program is ever an object of ours before it was read.
 */
import type { LogLine, ProgramErrorCode, ProgramLimits } from '../executor.ts'

export type ToSandbox =
  | { type: 'run'; run: RunRequest }
  | { type: 'answers'; answers: CallReply[] }
  /** The program is over for us; make a fresh place for the next. */
  | { type: 'stop' }

export interface RunRequest {
  source: string
  /** As JSON. */
  input: string
  seed: string
  now: number
  functions: Readonly<Record<string, readonly string[]>>
  limits: ProgramLimits
}

export interface CallReply {
  seq: number
  ok: boolean
  /** The value, or `{ code, message, data }`, as JSON. */
  text: string
  at: number
}

export type FromSandbox =
  /** Warm, and nothing of an earlier program is left. */
  | { type: 'ready'; threadMs?: number | undefined }
  | { type: 'turn'; turn: ProgramTurn }
  | { type: 'ended'; ended: Ended; turn: ProgramTurn }

/** What a program did since the last one. */
export interface ProgramTurn {
  calls: SandboxCall[]
  logs: LogLine[]
  /** How many messages it has read; it waits when that is how many were sent. */
  read: number
  /** What it computed so far: at its end as exactly as anybody knows, before that no less. */
  cpuMs: number
  memoryBytes: number
}

export interface SandboxCall {
  seq: number
  object: string
  name: string
  /** An array, as JSON. */
  arguments: string
}

export type Ended =
  | { value: string }
  | { error: { code: ProgramErrorCode; message: string; stack?: string | undefined } }

/** How programs are named in stacks; what else is named there is not theirs. */
export const PROGRAM_FILE = 'program'

/** With a process between, its thread's clock is asked for over the same line. */
export type ToProcess = ToSandbox | { type: 'thread' }
export type FromProcess = FromSandbox | { type: 'thread'; ms?: number | undefined }
