/** Tool node: calls a tool through the call pipeline. */
import type { CallOutcome } from '../../calls/call.ts'
import { isRepeatable } from '../../calls/call.ts'
import { findTool } from '../../calls/call-by-name.ts'
import { resultOf } from '../../code-mode/bridge.ts'
import type { StepResult } from '../../runs/engine.ts'
import type { JsonObject } from '../../schema/json.ts'
import type { NodeOf } from '../../schema/records/workflow.ts'
import {
  attemptOf,
  callAsStep,
  type NodeDeps,
  type NodeExecution,
  redactedArguments,
  stepKeyOf,
  timed,
} from '../run/node-context.ts'
import { type Attempt, nodeRequest, render } from '../run/node-result.ts'
import { isReused, OUTCOME_UNKNOWN_CODES } from '../run/recorded-calls.ts'

export async function runToolNode(deps: NodeDeps, execution: NodeExecution): Promise<Attempt> {
  const { planned, scope } = execution
  const { ref } = planned.node as NodeOf<'tool'>
  const rendered = render(planned, 'arguments', scope.values)
  if ('error' in rendered) return rendered
  const args = rendered.value as JsonObject
  const { log, runId } = deps.run
  const entry = findTool(deps.invocation.loadout, ref)
  const repeatable = !entry || isRepeatable(entry)
  const answer = await log.step(
    { path: scope.path, key: await stepKeyOf(ref, args), kind: 'call', repeatable },
    {
      request: nodeRequest(planned, scope, { ref, arguments: redactedArguments(deps, entry, args) }),
      execute: async ({ stepId: callId, approvalId }) => {
        deps.onRunning(planned)
        const { signal, isLate, error } = timed(execution)
        const call = { name: ref, arguments: args, caller: { type: 'workflow' as const, toolId: runId } }
        const outcome = await callAsStep(deps, { ...call, callId, signal, pauses: { approvalId } }, completeResult)
        return isLate() && 'error' in outcome ? error : outcome
      },
    },
  )
  if (!isReused(answer, deps.run.startedAt)) deps.onUsage({ calls: 1 })
  return attemptOf(answer, 'error' in answer ? repeatable || !OUTCOME_UNKNOWN_CODES.has(answer.error.code) : true)
}

/** Later nodes need the complete result, so a truncated result is an error. */
function completeResult(outcome: CallOutcome): StepResult {
  if ('error' in outcome || outcome.resultHandle === undefined) return resultOf(outcome)
  const action = 'Ask the tool for less, or read it in pieces in a code node: read_result({ handle }).'
  return {
    error: {
      code: 'response-too-large',
      message: 'The result is larger than the 4 MB that a node hands on.',
      data: { action, resultHandle: outcome.resultHandle },
    },
  }
}
