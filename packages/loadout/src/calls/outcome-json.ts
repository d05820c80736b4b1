/** An outcome as it is kept and sent. */
import type { JsonObject } from '../schema/json.ts'
import type { CallOutcome } from './call.ts'

const MOST_CHARACTERS = 1_000_000

export function jsonOf(outcome: CallOutcome): JsonObject {
  if ('error' in outcome) {
    const { code, message: detail, action, errors } = outcome.error
    return { status: outcome.status, error: { code, detail, action, ...(errors ? { errors } : {}) } }
  }
  const kept = { ...outcome } as JsonObject
  if (JSON.stringify(kept).length <= MOST_CHARACTERS) return kept
  return notKept(outcome.status, 'The result was too large to be kept.')
}

/** That there was an outcome, without what it was. */
export function notKept(status: CallOutcome['status'], text: string): JsonObject {
  return { status, content: [{ type: 'text', text }] }
}
