/**
 * Records the calls of a node through its log. A failed node may be retried only if none of its unrepeatable calls ran
 * or may have run. The state comes from the log, so it survives a crash.
 */

import type { ActiveRun, RunLog, StepOutcome, StepResult } from '../../runs/engine.ts'
import type { Json, JsonObject } from '../../schema/json.ts'

export interface RecordedCalls {
  log: RunLog
  /** Number of calls, without those reused from another run. */
  readonly count: number
  /** Adds usage and whether a retry is safe to an error. */
  failed(result: Failed, usage?: JsonObject): Failed
}

type Failed = Extract<StepResult, { error: unknown }>

export interface WatchOptions extends Pick<ActiveRun, 'startedAt'> {
  /** Reads the error code from a stored value, for calls whose outcome is a value in any case. */
  errorIn?: ((value: Json) => string | undefined) | undefined
}

export function watchCalls(log: RunLog, { startedAt, errorIn }: WatchOptions): RecordedCalls {
  let count = 0
  let unrepeatable = 0
  const watched: RunLog = {
    has: log.has,
    within: log.within,
    get recorded() {
      return log.recorded
    },
    get unasked() {
      return log.unasked
    },
    async step(request, work) {
      if (request.kind !== 'call') return log.step(request, work)
      count++
      // A call counts as made until it is known to have failed.
      if (!request.repeatable) unrepeatable++
      const answer = await log.step(request, work)
      if (isReused(answer, startedAt)) count--
      if (!request.repeatable && !mayBeDone(answer, errorIn)) unrepeatable--
      return answer
    },
  }
  return {
    log: watched,
    get count() {
      return count
    },
    failed({ error }, usage) {
      const used = { ...usage, ...(count > 0 ? { calls: count } : {}) }
      const data = {
        ...(error.data as JsonObject | undefined),
        usage: used,
        ...(unrepeatable > 0 ? { mayRepeat: false } : {}),
      }
      return { error: { ...error, data } }
    },
  }
}

/** True if the step was completed by an earlier run. */
export const isReused = (answer: StepOutcome, startedAt: Date) => 'at' in answer && answer.at < startedAt.getTime()

interface FailureData {
  mayRepeat?: boolean
  usage?: Record<string, number>
}

/** Failure data stored with a failed node. */
export const failureData = ({ error }: Failed): FailureData => (error.data ?? {}) as FailureData

function mayBeDone(answer: StepOutcome, errorIn: WatchOptions['errorIn']): boolean {
  if ('suspended' in answer) return answer.suspended === 'outcome-unknown'
  const code = 'error' in answer ? answer.error.code : errorIn?.(answer.value)
  return code === undefined || OUTCOME_UNKNOWN_CODES.has(code)
}

/** Error codes after which the server may have executed the call. */
export const OUTCOME_UNKNOWN_CODES: ReadonlySet<string> = new Set([
  'server-timeout',
  'session-lost',
  'server-crashed',
  'protocol-error',
  'response-too-large',
  'internal',
  'cancelled',
  'outcome-unknown',
])
