/** Dependencies and helpers of one node attempt; every effect goes through the step log. */

import type { CallAudit } from '../../audit/call-audit.ts'
import type { CallOutcome } from '../../calls/call.ts'
import type { NamedCall } from '../../calls/call-by-name.ts'
import type { Invocation, InvocationTools } from '../../calls/invocation.ts'
import type { Executor, LogLine, ProgramLimits } from '../../code-mode/executor.ts'
import type { Approvals } from '../../policy/approvals/approvals.ts'
import type { ActiveRun, StepOutcome, StepResult } from '../../runs/engine.ts'
import { canonicalJson, type Json, type JsonObject } from '../../schema/json.ts'
import type { ApprovalView } from '../../schema/records/approval.ts'
import type { LoadoutEntry } from '../../schema/toolkit/loadout-entry.ts'
import type { Searcher } from '../../search/searcher.ts'
import type { Agent } from '../agent.ts'
import type { PlannedNode } from '../definition/plan.ts'
import type { Attempt, NodeScope } from './node-result.ts'

export interface NodeDeps {
  run: ActiveRun
  invocation: Pick<Invocation, 'loadout' | 'call' | 'narrowed'>
  approvals: Pick<Approvals, 'put' | 'answerTo'>
  audit: Pick<CallAudit, 'show'>
  searcher: Searcher
  executor: Executor | undefined
  /** Max limits of a program. */
  limits?: Partial<ProgramLimits> | undefined
  agent: Agent | undefined
  /** Called when a node executes, not when it is replayed from the log. */
  onRunning(planned: PlannedNode): void
  /** Reports usage, which the run sums up. */
  onUsage(usage: Readonly<Record<string, number>>): void
  onLogs(logs: readonly LogLine[]): void
  onWarnings(warnings: readonly string[]): void
}

export interface NodeExecution {
  planned: PlannedNode
  scope: NodeScope
}

export type NodeStepOutcome = StepResult | { pause: { approvalId: string; until: Date } }

/** Calls a tool as a step; if the call needs an approval, the step pauses with the approval ID. */
export async function callAsStep(
  { invocation }: { invocation: Pick<InvocationTools, 'call'> },
  call: NamedCall,
  resultOf: (outcome: CallOutcome) => StepResult,
): Promise<NodeStepOutcome> {
  let pendingApproval: ApprovalView | undefined
  const outcome = await invocation.call({
    ...call,
    onPending: (approval) => {
      pendingApproval = approval
    },
  })
  if ('error' in outcome && outcome.error.code === 'approval-pending' && pendingApproval)
    return { pause: { approvalId: pendingApproval.id, until: new Date(pendingApproval.expiresAt) } }
  return resultOf(outcome)
}

/** Redacted arguments for the log; empty if redaction is asynchronous. */
export function redactedArguments(
  { audit, run }: NodeDeps,
  entry: LoadoutEntry | undefined,
  args: JsonObject,
): JsonObject {
  if (!entry) return {}
  const toolInfo = { inputSchema: entry.manifest.inputSchema }
  const redacted = audit.show({ userId: run.userId, arguments: args }, toolInfo)
  return redacted instanceof Promise ? {} : redacted
}

/** Converts a step outcome to a node attempt. */
export function attemptOf(answer: StepOutcome, mayRepeat = true): Attempt {
  if ('suspended' in answer) return answer
  return 'value' in answer ? { value: answer.value, at: answer.at } : { error: answer.error, at: answer.at, mayRepeat }
}

/** Signal of one attempt with the node's timeout, and whether that expired. */
export function timed({ planned: { node }, scope: { signal } }: NodeExecution): {
  signal: AbortSignal
  isLate(): boolean
  error: Extract<StepResult, { error: unknown }>
} {
  const { timeoutMs } = node
  const error = {
    error: { code: 'server-timeout', message: `The node '${node.id}' took longer than its ${timeoutMs} ms.` },
  }
  if (timeoutMs === undefined) return { signal, isLate: () => false, error }
  const timer = AbortSignal.timeout(timeoutMs)
  return { signal: AbortSignal.any([signal, timer]), isLate: () => timer.aborted && !signal.aborted, error }
}

export async function stepKeyOf(name: string, value: Json): Promise<string> {
  const bytes = new TextEncoder().encode(canonicalJson(value ?? null))
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))
  return `${name}#${[...digest.slice(0, 16)].map((byte) => byte.toString(16).padStart(2, '0')).join('')}`
}
