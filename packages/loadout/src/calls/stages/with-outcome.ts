/** Records the outcome of every call, also of one that an earlier stage refused, and removes redacted values from errors. */

import type { CallAudit, KnownOfCall } from '../../audit/call-audit.ts'
import { redactSecrets } from '../../connections/redact-errors.ts'
import { HostError } from '../../errors.ts'
import type { JsonObject } from '../../schema/json.ts'
import { contentSize } from '../../util/byte-size.ts'
import type { CallHandler, CallOutcome, ToolCall } from '../call.ts'
import { failed } from '../call.ts'

type OutcomeAudit = Pick<CallAudit, 'outcome' | 'ofNobody' | 'show'>

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
        const came = { status, reached, durationMs, ...told(call, outcome) }
        const kept = call.notes.isForgotten ? audit.ofNobody(came) : audit.outcome(call, known(call), came)
        if (kept) await kept
      } catch {
        // The intent is kept, or nothing was called; the audit has told what is wrong, and the answer is not withheld.
      }
      return 'error' in outcome ? { ...outcome, error: await unquoted(audit, call, outcome.error) } : outcome
    }
}

/** A server may quote what it was sent when it fails; of that, secrets are told no further. */
async function unquoted(audit: Pick<CallAudit, 'show'>, call: ToolCall, error: HostError): Promise<HostError> {
  const { sent } = call.notes
  if (sent === undefined) return error
  try {
    const shown = await audit.show({ userId: call.userId, arguments: sent }, known(call))
    return redactSecrets(error, redactedValues(sent, shown)) as HostError
  } catch {
    return new HostError(error.code, { action: error.action })
  }
}

/** What stages noted of a call. */
export function known({ notes: { resolved, decision, argumentSize, warnings } }: ToolCall): KnownOfCall {
  return {
    warnings,
    stored: resolved?.stored,
    inputSchema: resolved?.found.manifest.inputSchema,
    decision,
    argumentSize,
  }
}

function told({ notes }: ToolCall, outcome: CallOutcome) {
  if ('error' in outcome) return { errorCode: outcome.error.code }
  return { resultSize: notes.resultSize ?? contentSize(outcome.content, outcome.structuredContent) }
}

/** What a mask hides: the values of arguments that stand masked in what is shown of them. Bounded, as what is shown is. */
const MOST = 1000
/** Longer than any message: of more than this only the beginning can stand in one. */
const LONGEST = 4096
const isBranch = (value: unknown): value is object => typeof value === 'object' && value !== null

export function redactedValues(args: JsonObject, shown: JsonObject): string[] {
  const hidden: string[] = []
  const waiting: Array<[unknown, unknown]> = [[args, shown]]
  for (let next = waiting.pop(); next && hidden.length < MOST; next = waiting.pop()) {
    const [value, mask] = next
    if (!isBranch(value)) {
      if (value !== mask && value !== undefined) hidden.push(String(value).slice(0, LONGEST))
      continue
    }
    // In their order: a name that is a secret is masked too. What stands behind a mask is hidden as a whole.
    const masks = isBranch(mask) ? Object.values(mask) : undefined
    for (const [index, inner] of Object.values(value).entries()) waiting.push([inner, masks?.[index]])
  }
  return hidden
}
