/** Records the outcome of every call, also of one that an earlier stage refused, and removes redacted values from errors. */

import type { CallAudit, CallDetails } from '../../audit/call-audit.ts'
import { redactSecrets } from '../../connections/redact-errors.ts'
import { HostError } from '../../errors.ts'
import type { JsonObject } from '../../schema/json.ts'
import type { CallHandler, CallOutcome, ToolCall } from '../call.ts'
import { failed } from '../call.ts'
import { resultSize } from '../results/outline.ts'

type OutcomeAudit = Pick<CallAudit, 'outcome' | 'removedUserOutcome' | 'show'>

export function withOutcome(audit: OutcomeAudit) {
  return (next: CallHandler): CallHandler =>
    async (call) => {
      const started = performance.now()
      let outcome: CallOutcome
      try {
        outcome = await next(call)
      } catch (error) {
        outcome = failed(HostError.from(error))
      }
      const durationMs = performance.now() - started
      try {
        const { reached = false } = call.notes
        const { status } = outcome
        const audited = { status, reached, durationMs, ...outcomeDetails(call, outcome) }
        const recorded = call.notes.isForgotten
          ? audit.removedUserOutcome(audited)
          : audit.outcome(call, callDetails(call), audited)
        if (recorded) await recorded
      } catch {
        // The audit has reported the error; the result is returned anyway.
      }
      return 'error' in outcome ? { ...outcome, error: await redactError(audit, call, outcome.error) } : outcome
    }
}

/** Removes redacted argument values from errors, because servers quote their input. */
async function redactError(audit: Pick<CallAudit, 'show'>, call: ToolCall, error: HostError): Promise<HostError> {
  const { sent } = call.notes
  if (sent === undefined) return error
  try {
    const redacted = await audit.show({ userId: call.userId, arguments: sent }, callDetails(call))
    return redactSecrets(error, redactedValues(sent, redacted)) as HostError
  } catch {
    return new HostError(error.code, { action: error.action })
  }
}

/** Collects audit details from the notes of a call. */
export function callDetails({ notes: { resolved, decision, argumentSize, warnings } }: ToolCall): CallDetails {
  return {
    warnings,
    stored: resolved?.stored,
    inputSchema: resolved?.found.manifest.inputSchema,
    decision,
    argumentSize,
  }
}

function outcomeDetails({ notes }: ToolCall, outcome: CallOutcome) {
  if ('error' in outcome) return { errorCode: outcome.error.code }
  return { resultSize: notes.resultSize ?? resultSize(outcome.content, outcome.structuredContent) }
}

/** Maximum number of values to remove. */
const MAX_VALUES = 1000
/** Longer values cannot appear in full in a message. */
const MAX_VALUE_LENGTH = 4096
const isBranch = (value: unknown): value is object => typeof value === 'object' && value !== null

export function redactedValues(args: JsonObject, redacted: JsonObject): string[] {
  const hidden: string[] = []
  const queue: Array<[unknown, unknown]> = [[args, redacted]]
  for (let next = queue.pop(); next && hidden.length < MAX_VALUES; next = queue.pop()) {
    const [value, mask] = next
    if (!isBranch(value)) {
      if (value !== mask && value !== undefined) hidden.push(String(value).slice(0, MAX_VALUE_LENGTH))
      continue
    }
    // Compare by position, because names may be redacted too.
    const masks = isBranch(mask) ? Object.values(mask) : undefined
    for (const [index, inner] of Object.values(value).entries()) queue.push([inner, masks?.[index]])
  }
  return hidden
}
