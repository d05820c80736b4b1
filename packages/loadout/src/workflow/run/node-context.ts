/** One attempt of a node that does something itself: each kind in a file of its own, all of it through the log. */

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
  /** The most that a program may have. */
  limits?: Partial<ProgramLimits> | undefined
  agent: Agent | undefined
  /** It is being done, and not given out of the log. */
  onRunning(planned: PlannedNode): void
  /** What came with it: numbers that are added up, and what programs logged. */
  onUsage(usage: Readonly<Record<string, number>>): void
  onLogs(logs: readonly LogLine[]): void
  onWarnings(warnings: readonly string[]): void
}

export interface NodeExecution {
  planned: PlannedNode
  scope: NodeScope
}

export type NodeStepOutcome = StepResult | { pause: { approvalId: string; until: Date } }

/** Makes a call as a step does: where a person must answer first, it ends and says for what it waits. */
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

/** Without secrets, as a log shows them; what takes time to know is left out. */
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

/** What a step gave, as the attempt of its node. */
export function attemptOf(answer: StepOutcome, mayRepeat = true): Attempt {
  if ('suspended' in answer) return answer
  return 'value' in answer ? { value: answer.value, at: answer.at } : { error: answer.error, at: answer.at, mayRepeat }
}

/** The signal of one attempt, and whether its time ran out. */
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
