/**
 * Decides how to handle a step from its log entry. Pure; every run follows these rules:
 *
 * - A completed step never runs again: its result is replayed, for programs in the original order of results, because a
 *   program may depend on it.
 * - A step without a recorded end runs again only if that is harmless; otherwise its outcome is unknown and the run
 *   suspends until a user decides.
 * - A step that waits for an approval keeps waiting, and the run holds no resources.
 * - A step that differs from its log entry is drift: the program is not the one that wrote the log.
 */
import type { StepRow } from '../schema/records/run.ts'

/** Sequence number from 0 for ordered steps; a path without spaces for named steps. */
export type StepKey = { seq: number; path?: undefined } | { path: string; seq?: undefined }

export type StepRequest = StepKey & {
  /** Name and argument hash: the same step has the same key. */
  key: string
  kind: string
  /** True if running it twice is harmless. */
  repeatable: boolean
}

export type StepDecision =
  | { do: 'execute' }
  /** Replay the recorded result. */
  | { do: 'replay' }
  /** It waited for an approval: `execute` looks up the answer. */
  | { do: 'ask-again' }
  | { do: 'unknown' }
  | { do: 'drift'; detail: string }

export function decideStep(recorded: StepRow | undefined, { key, kind, repeatable }: StepRequest): StepDecision {
  if (!recorded) return { do: 'execute' }
  if (recorded.key !== key || recorded.kind !== kind)
    return {
      do: 'drift',
      detail: `Step ${recorded.seq} was ${recorded.kind} ${stepNameOf(recorded.key)}, and now is ${kind} ${stepNameOf(key)}.`,
    }
  if (recorded.status === 'completed' || recorded.status === 'failed') return { do: 'replay' }
  if (recorded.status === 'paused') return { do: 'ask-again' }
  if (recorded.status === 'outcome-unknown') return { do: 'unknown' }
  return repeatable ? { do: 'execute' } : { do: 'unknown' }
}

/** Name part of a step key, without the argument hash. */
export const stepNameOf = (key: string) => `'${key.slice(0, key.lastIndexOf('#')).slice(0, 200)}'`
