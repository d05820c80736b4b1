/**
 * The calls of a node that makes several, as they go through its log. A node that failed is tried again only where none of them
 * was done, or may have been, that must not be done twice. It is asked of the log, so that it is the same after a crash.
 */

import type { ActiveRun, RunLog, StepOutcome, StepResult } from '../../runs/engine.ts'
import type { Json, JsonObject } from '../../schema/json.ts'

export interface RecordedCalls {
  log: RunLog
  /** How many, without those that another run made. */
  readonly count: number
  /** An error with what is kept of it: whether it may be tried again, and what was used. */
  failed(result: Failed, usage?: JsonObject): Failed
}

type Failed = Extract<StepResult, { error: unknown }>

export interface WatchOptions extends Pick<ActiveRun, 'startedAt'> {
  /** The error that a value is, where calls end with what came of them whatever that is. */
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
      // Until it is known to have failed, it may have been done.
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

/** It was done by another run, before this one began. */
export const isReused = (answer: StepOutcome, startedAt: Date) => 'at' in answer && answer.at < startedAt.getTime()

interface FailureData {
  mayRepeat?: boolean
  usage?: Record<string, number>
}

/** What is kept of a node that failed. */
export const failureData = ({ error }: Failed): FailureData => (error.data ?? {}) as FailureData

function mayBeDone(answer: StepOutcome, errorIn: WatchOptions['errorIn']): boolean {
  if ('suspended' in answer) return answer.suspended === 'outcome-unknown'
  const code = 'error' in answer ? answer.error.code : errorIn?.(answer.value)
  return code === undefined || OUTCOME_UNKNOWN_CODES.has(code)
}

/** Errors of a call with which a server may have done it, and nobody heard of it. */
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
