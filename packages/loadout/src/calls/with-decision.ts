/** May it? What is denied ends here; what must be asked waits here for its answer, wherever that is given. */
import { HostError } from '../errors.ts'
import type { Approvals } from '../policy/approvals.ts'
import type { Fingerprinter } from '../policy/fingerprints.ts'
import type { Policy } from '../policy/policy.ts'
import type { JsonObject } from '../schema/json.ts'
import type { Decision } from '../schema/policy.ts'
import type { CallHandler, CallOutcome, ResolvedCall } from './call.ts'
import type { Stage } from './compose.ts'
import { failed } from './resolve.ts'
import type { ArgumentCheck } from './with-validation.ts'

export interface DecisionParts {
  policy: Policy
  approvals: Pick<Approvals, 'ask'>
  fingerprinter: Fingerprinter
  /** Hides what must not be shown of arguments. */
  mask(call: ResolvedCall): JsonObject | Promise<JsonObject>
  /** Edited arguments are held against the schema like any others. */
  check: ArgumentCheck
}

export function withDecision(parts: DecisionParts): Stage {
  return (next) => async (call) => {
    const decided = await parts.policy.decide(call)
    const { allowEdits, allowRemember, ...decision } = decided
    call.notes.decision = decision
    if (decision.decision === 'allow') return next(call)
    if (decision.decision === 'deny') return denied(call, decision)
    const { approval, answered } = await parts.approvals.ask(
      {
        userId: call.userId,
        threadId: call.threadId,
        runId: call.runId,
        callId: call.callId,
        ref: `${call.stored.toolkit.id}.${call.tool}`,
        arguments: await parts.mask(call),
        reason: decision.reason,
        caller: call.caller,
        fingerprints: await parts.fingerprinter.of(call.stored, call.found),
        allowEdits,
        allowRemember,
      },
      call.signal,
    )
    call.onPending?.(approval)
    const answer = await answered
    if (answer.status !== 'allowed')
      return answer.status === 'expired'
        ? expired(call)
        : denied(call, { ...decision, decision: 'deny', reason: 'You denied it.' })
    call.notes.decision = { ...decision, decision: 'allow', reason: 'You allowed it.' }
    return answer.arguments ? edited(call, answer.arguments, { next, check: parts.check }) : next(call)
  }
}

async function edited(
  call: ResolvedCall,
  args: JsonObject,
  { next, check }: { next: CallHandler<ResolvedCall>; check: ArgumentCheck },
): Promise<CallOutcome> {
  const changed = { ...call, arguments: args }
  const problem = check(changed)
  return problem ? failed(problem) : next(changed)
}

function denied({ stored, tool, notes }: ResolvedCall, decision: Decision): CallOutcome {
  notes.decision = decision
  const detail = `The call of '${stored.toolkit.id}.${tool}' is denied. ${decision.reason}`
  return { status: 'denied', error: new HostError('denied', { detail }) }
}

function expired({ signal, stored, tool }: ResolvedCall): CallOutcome {
  if (signal?.aborted) return failed(new HostError('cancelled'))
  const detail = `Nobody answered whether '${stored.toolkit.id}.${tool}' may be called.`
  return { status: 'denied', error: new HostError('approval-expired', { detail }) }
}
