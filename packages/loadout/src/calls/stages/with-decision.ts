/**
 * Applies the policy to a call: denies it, or waits for approval. After approval the call restarts, because anything
 * may have changed meanwhile; the answer applies only to what was shown.
 */
import { HostError } from '../../errors.ts'
import type { ApprovalAnswer } from '../../policy/approvals/answer-waiter.ts'
import type { Approvals } from '../../policy/approvals/approvals.ts'
import type { Decided } from '../../policy/decide.ts'
import type { Fingerprinter, Fingerprints } from '../../policy/fingerprints.ts'
import type { Policy } from '../../policy/policy.ts'
import type { AppConfig } from '../../schema/app-config.ts'
import type { JsonObject } from '../../schema/json.ts'
import type { Decision } from '../../schema/toolkit/policy.ts'
import type { CallOutcome, ResolvedCall, Stage } from '../call.ts'
import { failed } from '../call.ts'
import { argumentsTooLarge } from './with-limits.ts'

export interface DecisionDeps {
  policy: Policy
  approvals: Pick<Approvals, 'ask' | 'put' | 'answerTo'>
  fingerprinter: Fingerprinter
  app: { get(): Promise<AppConfig> }
  /** Redacts the arguments without cutting them. */
  show(call: ResolvedCall): JsonObject | Promise<JsonObject>
}

export function withDecision(deps: DecisionDeps): Stage {
  return (next, restart) => async (call) => {
    const decided = await deps.policy.decide(call)
    const { allowEdits, allowRemember: _, ...decision } = decided
    call.notes.decision = decision
    if (decision.decision === 'allow') return next(call)
    if (decision.decision === 'deny') return denied(call, decision)
    if (call.trial) {
      if (!call.trial.allow) return wouldAsk(call, decision)
      call.notes.decision = { ...decision, decision: 'allow', reason: 'Who tried it allowed it.' }
      return next(call)
    }
    const fingerprints = await deps.fingerprinter.compute(call.stored, call.found)
    if (isAllowed(call, fingerprints, allowEdits)) {
      call.notes.decision = { ...decision, decision: 'allow', reason: 'You allowed it.' }
      return next(call)
    }
    // The approver sees all arguments, so their size must be limited.
    const problem = argumentsTooLarge(call, (await deps.app.get()).limits.argumentBytes)
    if (problem) return problem
    const answer = await ask(deps, call, { decided, fingerprints })
    if (answer === undefined) return failed(new HostError('approval-pending', { detail: pendingDetail(call) }))
    if (answer.status === 'expired') return expired(call)
    if (answer.status !== 'allowed') return denied(call, { ...decision, decision: 'deny', reason: 'You denied it.' })
    await call.onAllowed?.()
    const allowed = { ...fingerprints, edited: answer.arguments !== undefined }
    return restart({ ...call, arguments: answer.arguments ?? call.arguments, allowed })
  }
}

/** Whether the answer applies to the tool as it is now. */
function isAllowed({ allowed }: ResolvedCall, { tool, toolkit }: Fingerprints, allowEdits: boolean): boolean {
  return allowed?.tool === tool && allowed.toolkit === toolkit && (allowEdits || !allowed.edited)
}

async function ask(
  deps: DecisionDeps,
  call: ResolvedCall,
  { decided, fingerprints }: { decided: Decided; fingerprints: Fingerprints },
): Promise<ApprovalAnswer | undefined> {
  const { userId, threadId, runId, callId, caller, stored, tool, found, pauses } = call
  const { reason, allowEdits, allowRemember } = decided
  if (pauses?.approvalId !== undefined) {
    const existing = await deps.approvals.answerTo({ userId, callId, id: pauses.approvalId })
    if (!existing.answer) {
      call.onPending?.(existing.approval)
      return undefined
    }
    const { tool: approvedTool, toolkit: approvedToolkit } = existing.fingerprints
    // If the tool changed after approval, approval is requested again.
    if (
      existing.answer.status !== 'allowed' ||
      (approvedTool === fingerprints.tool && approvedToolkit === fingerprints.toolkit)
    )
      return existing.answer
  }
  const request = {
    userId,
    threadId,
    runId,
    callId,
    caller,
    reason,
    fingerprints,
    allowEdits,
    allowRemember,
    ref: `${stored.toolkit.id}.${tool}`,
    arguments: await deps.show(call),
    original: call.arguments,
    inputSchema: found.manifest.inputSchema,
  }
  if (pauses) {
    call.onPending?.(await deps.approvals.put(request))
    return undefined
  }
  const { approval, answer } = await deps.approvals.ask(request, call.signal)
  call.onPending?.(approval)
  return answer
}

/** A test run requests no approval and reports that it would. */
function wouldAsk({ stored, tool }: ResolvedCall, { reason }: Decision): CallOutcome {
  const detail = `Whether '${stored.toolkit.id}.${tool}' may be called would be asked first. ${reason}`
  const action = 'Try it with `allow`, or let a rule allow the tool.'
  return failed(new HostError('approval-pending', { detail, action }))
}

const pendingDetail = ({ stored, tool }: ResolvedCall) =>
  `Whether '${stored.toolkit.id}.${tool}' may be called is asked; the run goes on with the answer.`

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
