/**
 * Messages between host and sandbox: plain values that survive structured clone and JSON. Program values travel as JSON
 * texts and are parsed only after validation.
 */
import type { LogLine, ProgramErrorCode, ProgramLimits } from '../executor.ts'

export type ToSandbox =
  | { type: 'run'; run: RunRequest }
  | { type: 'answers'; answers: CallReply[] }
  /** Resets the sandbox for the next program. */
  | { type: 'stop' }

export interface RunRequest {
  source: string
  /** JSON text. */
  input: string
  seed: string
  now: number
  functions: Readonly<Record<string, readonly string[]>>
  limits: ProgramLimits
}

export interface CallReply {
  seq: number
  ok: boolean
  /** JSON text of the value or of `{ code, message, data }`. */
  text: string
  at: number
}

export type FromSandbox =
  /** Ready, with no state of an earlier program. */
  | { type: 'ready'; threadMs?: number | undefined }
  | { type: 'turn'; turn: ProgramTurn }
  | { type: 'ended'; ended: Ended; turn: ProgramTurn }

/** Output since the last turn. */
export interface ProgramTurn {
  calls: SandboxCall[]
  logs: LogLine[]
  /** Number of messages read; the program waits if it equals the number sent. */
  read: number
  /** CPU time so far: exact at the end, an upper bound before. */
  cpuMs: number
  memoryBytes: number
}

export interface SandboxCall {
  seq: number
  object: string
  name: string
  /** JSON text of an array. */
  arguments: string
}

export type Ended =
  | { value: string }
  | { error: { code: ProgramErrorCode; message: string; stack?: string | undefined } }

/** File name of programs in stack traces. */
export const PROGRAM_FILE = 'program'

/** A process also reports the CPU time of its thread. */
export type ToProcess = ToSandbox | { type: 'thread' }
export type FromProcess = FromSandbox | { type: 'thread'; ms?: number | undefined }
