/**
 * What becomes of one step of a run, by what the log says of it. Pure, and the law of every run:
 *
 * - What completed is never done again: its result is given anew; to a program, in the order in which results came the
 *   first time, because it may depend on that.
 * - What was begun and left without an end is done again only where that does no harm; else nobody knows what came of it, and
 *   the run stands until somebody says.
 * - What waits for a person goes on waiting, and the run frees everything meanwhile.
 * - A step that is not what the log has at its place is drift: the program is not the one that wrote the log.
 */
import type { StepRow } from '../schema/records/run.ts'

/** A number, from 0, where steps follow one another; a name without blanks where they do not. */
export type StepKey = { seq: number; path?: undefined } | { path: string; seq?: undefined }

export type StepRequest = StepKey & {
  /** What it is, and with what: the same step has the same key. */
  key: string
  kind: string
  /** Doing it twice does no more than doing it once. */
  repeatable: boolean
}

export type StepDecision =
  | { do: 'execute' }
  /** As it ended the first time. */
  | { do: 'replay' }
  /** It waited for a person: whoever executes it looks for the answer. */
  | { do: 'ask-again' }
  | { do: 'unknown' }
  | { do: 'drift'; detail: string }

export function decide(recorded: StepRow | undefined, { key, kind, repeatable }: StepRequest): StepDecision {
  if (!recorded) return { do: 'execute' }
  if (recorded.key !== key || recorded.kind !== kind)
    return {
      do: 'drift',
      detail: `Step ${recorded.seq} was ${recorded.kind} ${nameOf(recorded.key)}, and now is ${kind} ${nameOf(key)}.`,
    }
  if (recorded.status === 'completed' || recorded.status === 'failed') return { do: 'replay' }
  if (recorded.status === 'paused') return { do: 'ask-again' }
  if (recorded.status === 'outcome-unknown') return { do: 'unknown' }
  return repeatable ? { do: 'execute' } : { do: 'unknown' }
}

/** A key is a name and a hash of what it was called with. */
export const nameOf = (key: string) => `'${key.slice(0, key.lastIndexOf('#')).slice(0, 200)}'`
