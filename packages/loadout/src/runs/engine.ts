/**
 * The contract of what keeps runs going: a run is stored before anything of it is done, and somebody finishes it whatever
 * happens to whoever began. What holds of every driver, and is tested by one suite:
 *
 * - A run is worked on by one process at a time; with that process gone, another takes it over.
 * - What its log has as completed is never done again (`decide.ts`).
 * - A run that waits holds nothing but its row; what it waits for wakes it, in whichever process.
 * - A run that was cancelled does nothing more.
 */
import type { HostError } from '../errors.ts'
import type { Json, JsonObject } from '../schema/json.ts'
import type { RunRow, RunToolkits, RunView, StepRow } from '../schema/records/run.ts'
import type { StepRequest } from './decide.ts'

export interface NewRun {
  /** Where it was given one before it began. `conflict` where there is such a run. */
  runId?: string | undefined
  userId: string
  kind: RunRow['kind']
  threadId?: string | undefined
  workflowVersionId?: string | undefined
  input: JsonObject
  /** What of another run is taken over: completed, and not done again. */
  steps?: readonly ReusedStep[] | undefined
  /** A run that holds a place waits for it: it needs none of its own. */
  isInside?: boolean | undefined
  /** Given up where this is aborted before it was begun, or while it is worked on here. */
  signal?: AbortSignal | undefined
}

/** A step of another run, as it is taken over. */
export type ReusedStep = Pick<
  StepRow,
  'seq' | 'key' | 'kind' | 'status' | 'requestJson' | 'resultJson' | 'startedAt' | 'endedAt'
>

/** What came of a step: a value, or an error with its code. */
export type StepResult = { value: Json } | { error: { code: string; message: string; data?: Json | undefined } }

export type StepOutcome =
  /** `at`: when it ended, the first time. */
  (StepResult & { at: number }) | Suspended

/** The run stands: for an answer, or because nobody knows. */
export interface Suspended {
  suspended: 'paused' | 'outcome-unknown'
}

/** What executes a step. */
export interface StepWork {
  /** What is shown of it. */
  request: Json
  execute(step: {
    stepId: string
    approvalId: string | undefined
  }): Promise<StepResult | { pause: { approvalId: string; until: Date } } | Suspended>
}

export interface RunLog {
  /** Does a step, or gives what came of it before. Throws `run-drift` where the log has another at its place. */
  step(request: StepRequest, work: StepWork): Promise<StepOutcome>
  /** A log within this one: of a program that is a step of something larger. Its numbers begin at 0. */
  within(path: string): RunLog
  /** Whether it has a step at a place. */
  has(path: string | number): boolean
  /** How many steps are in the log from before. */
  readonly recorded: number
  /** How many recorded results nobody asked for yet, where they have an order. */
  readonly unasked: number
}

/** A run that is worked on here. */
export interface ActiveRun {
  runId: string
  userId: string
  threadId: string | undefined
  workflowVersionId: string | undefined
  input: JsonObject
  startedAt: Date
  /** Aborted when it is cancelled, its process closes, or another took it over. */
  signal: AbortSignal
  log: RunLog
}

interface RunReport {
  logs?: Json | undefined
  /** Toolkits that did not start, and that were left out. */
  toolkits?: RunToolkits | undefined
}

export type RunEnd = RunReport &
  (
    | { status: 'completed'; output: Json; usage?: JsonObject | undefined }
    | {
        status: 'failed'
        error: HostError
        /** What else is known of it. */
        about?: JsonObject | undefined
        usage?: JsonObject | undefined
      }
    /** It goes on when what its log waits for is there. */
    | { status: 'paused' | 'outcome-unknown' }
  )

export type RunWork = (run: ActiveRun) => Promise<RunEnd>

export interface Engine {
  readonly name: string
  /** Stores it, and begins. */
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
  /** The run as soon as it is over or stands. */
  settled(userId: string, runId: string, options?: { signal?: AbortSignal | undefined }): Promise<RunView>
  /** Something that it waited for may be there. */
  wake(userId: string, runId: string): Promise<void>
  cancel(userId: string, runId: string): Promise<RunView>
  /** Where nobody knows what came of a step: do it again, or take it for failed. */
  resolve(userId: string, runId: string, answer: { stepId: string; decision: 'repeat' | 'fail' }): Promise<RunView>
  /** Takes up what others left, and follows what they do. */
  open(): Promise<void>
  /** Whose runs are worked on here. */
  users(): string[]
  /** Ends what of a user is worked on here. */
  forget(userId: string): Promise<void>
  /** What is worked on here is left to others, or to the next start. */
  close(): Promise<void>
}
