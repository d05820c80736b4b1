/**
 * Contract of run engines: a run is stored before its first step and finishes even if its process dies. One test suite
 * checks every driver:
 *
 * - One process executes a run at a time; if it dies, another takes over.
 * - A completed step never runs again (`decide.ts`).
 * - A suspended run holds only its row; an answer wakes it in any process.
 * - A cancelled run does nothing more.
 */
import type { HostError } from '../errors.ts'
import type { Json, JsonObject } from '../schema/json.ts'
import type { RunRow, RunToolkits, RunView, StepRow } from '../schema/records/run.ts'
import type { StepRequest } from './decide.ts'

export interface NewRun {
  /** Preassigned ID; `conflict` if it exists. */
  runId?: string | undefined
  userId: string
  kind: RunRow['kind']
  threadId?: string | undefined
  workflowVersionId?: string | undefined
  input: JsonObject
  /** Completed steps of another run to reuse. */
  steps?: readonly ReusedStep[] | undefined
  /** True if a run that holds a slot waits for this one; it then needs no slot. */
  isInside?: boolean | undefined
  /** Cancels the run if aborted before its start or while it runs here. */
  signal?: AbortSignal | undefined
}

/** A step reused from another run. */
export type ReusedStep = Pick<
  StepRow,
  'seq' | 'key' | 'kind' | 'status' | 'requestJson' | 'resultJson' | 'startedAt' | 'endedAt'
>

/** Step result: a value, or an error with its code. */
export type StepResult = { value: Json } | { error: { code: string; message: string; data?: Json | undefined } }

export type StepOutcome =
  /** `at`: time when the step first ended. */
  (StepResult & { at: number }) | Suspended

/** The run waits for an answer or has an unknown outcome. */
export interface Suspended {
  suspended: 'paused' | 'outcome-unknown'
}

export interface StepWork {
  /** Request as the run view shows it. */
  request: Json
  execute(step: {
    stepId: string
    approvalId: string | undefined
  }): Promise<StepResult | { pause: { approvalId: string; until: Date } } | Suspended>
}

export interface RunLog {
  /** Executes a step or replays its result. Throws `run-drift` if the log has a different step there. */
  step(request: StepRequest, work: StepWork): Promise<StepOutcome>
  /** Nested log of a program that is itself a step. Its sequence numbers start at 0. */
  within(path: string): RunLog
  /** True if the log has a step at this path. */
  has(path: string | number): boolean
  /** Number of steps recorded before this start. */
  readonly recorded: number
  /** Number of ordered results that were not requested yet. */
  readonly unasked: number
}

/** One stored output part of a run, with its number. */
export interface RunPart {
  /** Counts from 1 and never repeats within a run. */
  number: number
  part: JsonObject
  /** Set on a marker: parts with this number and later ones were discarded before the marker was stored. */
  discards?: number | undefined
}

/**
 * Output of a run while it goes on, for readers in any process. Parts are stored in the step log and written only while
 * this process owns the run.
 */
export interface RunParts {
  /** Parts that earlier executions of the run stored, in order. */
  readonly stored: readonly RunPart[]
  append(parts: readonly JsonObject[]): Promise<void>
  /** Deletes the parts from this number on, and stores a marker for readers that have seen them. */
  discard(from: number, marker: JsonObject): Promise<void>
}

/** A run that this process executes. */
export interface ActiveRun {
  runId: string
  userId: string
  threadId: string | undefined
  workflowVersionId: string | undefined
  input: JsonObject
  startedAt: Date
  /** Aborts on cancel, process shutdown, or takeover by another process. */
  signal: AbortSignal
  log: RunLog
  parts: RunParts
}

interface RunReport {
  logs?: Json | undefined
  /** Toolkits that failed or were dropped. */
  toolkits?: RunToolkits | undefined
}

export type RunEnd = RunReport &
  (
    | { status: 'completed'; output: Json; usage?: JsonObject | undefined }
    | {
        status: 'failed'
        error: HostError
        /** Additional error details. */
        about?: JsonObject | undefined
        usage?: JsonObject | undefined
      }
    /** The run resumes when its log has an answer. */
    | { status: 'paused' | 'outcome-unknown' }
  )

export type RunWork = (run: ActiveRun) => Promise<RunEnd>

export interface Engine {
  readonly name: string
  /** Stores and starts a run. */
  start(run: NewRun): Promise<RunView>
  get(userId: string, runId: string): Promise<RunView>
  list(
    userId: string,
    page?: {
      cursor?: string | undefined
      limit?: number | undefined
      threadId?: string | undefined
      workflowId?: string | undefined
    },
  ): Promise<RunView[]>
  /** Resolves when the run finishes or pauses. */
  settled(userId: string, runId: string, options?: { signal?: AbortSignal | undefined }): Promise<RunView>
  /** Resumes a paused run whose answer may exist. */
  wake(userId: string, runId: string): Promise<void>
  cancel(userId: string, runId: string): Promise<RunView>
  /** Decides a step with an unknown outcome: repeat it or mark it as failed. */
  resolve(userId: string, runId: string, answer: { stepId: string; decision: 'repeat' | 'fail' }): Promise<RunView>
  /** Sets the work of a run kind that this process learns to do after its start. */
  serve(kind: RunRow['kind'], work: RunWork): void
  /** Takes over orphaned runs and watches row changes. */
  open(): Promise<void>
  /** Users with runs in this process. */
  users(): string[]
  /** Cancels all runs of a user in this process. */
  forget(userId: string): Promise<void>
  /** Stops this process; its runs are queued for others. */
  close(): Promise<void>
}
