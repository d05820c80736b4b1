/** Approval node: stores an approval request. The run holds no resources while it waits and resumes in any process. */
import type { JsonObject } from '../../schema/json.ts'
import { attemptOf, type NodeDeps, type NodeExecution, type NodeStepOutcome, stepKeyOf } from '../run/node-context.ts'
import { type Attempt, nodeFailure, nodeRequest, render } from '../run/node-result.ts'
import { createTextRedactor } from '../run/redacted-text.ts'

export async function runApprovalNode(deps: NodeDeps, { planned, scope }: NodeExecution): Promise<Attempt> {
  const message = render(planned, 'message', scope.values)
  const args = render(planned, 'arguments', scope.values)
  if ('error' in message) return message
  if ('error' in args) return args
  const reason = typeof message.value === 'string' ? message.value : JSON.stringify(message.value)
  const redactor = createTextRedactor(deps.run, args.value as JsonObject)
  const about = { message: redactor.text(reason), arguments: redactor.values(args.value as JsonObject) }
  const answer = await deps.run.log.step(
    { path: scope.path, key: await stepKeyOf('approval', [reason, args.value]), kind: 'approval', repeatable: true },
    {
      request: nodeRequest(planned, scope, about),
      execute: ({ stepId, approvalId }) => {
        deps.onRunning(planned)
        const question = { node: planned.node.id, ...about, original: args.value as JsonObject, stepId }
        // Too many pending approvals fail the node.
        if (approvalId === undefined) return ask(deps, question).catch(nodeFailure)
        return readAnswer(deps, { stepId, approvalId })
      },
    },
  )
  return attemptOf(answer, false)
}

interface Question {
  node: string
  message: string
  /** Redacted; `original` is encrypted. */
  arguments: JsonObject
  original: JsonObject
  stepId: string
}

async function ask(
  { approvals, run }: NodeDeps,
  { node, message: reason, arguments: redactedArguments, original, stepId }: Question,
): Promise<NodeStepOutcome> {
  const { userId, threadId, runId } = run
  const approval = await approvals.put({
    userId,
    threadId,
    runId,
    callId: stepId,
    ref: `workflow.${node}`,
    reason,
    arguments: redactedArguments,
    original,
    inputSchema: { type: 'object' },
    caller: { type: 'workflow', toolId: runId },
    // The approval applies to this run only, so it cannot be saved as a permission.
    fingerprints: { tool: '', toolkit: '' },
    allowEdits: false,
    allowRemember: false,
  })
  return { pause: { approvalId: approval.id, until: new Date(approval.expiresAt) } }
}

async function readAnswer(
  { approvals, run }: NodeDeps,
  { stepId, approvalId }: { stepId: string; approvalId: string },
): Promise<NodeStepOutcome> {
  const { approval, answer } = await approvals.answerTo({ userId: run.userId, callId: stepId, id: approvalId })
  if (!answer) return { pause: { approvalId, until: new Date(approval.expiresAt) } }
  if (answer.status === 'allowed') return { value: { approved: true } }
  if (answer.status === 'denied') return { error: { code: 'denied', message: 'You denied it.' } }
  return { error: { code: 'approval-expired', message: 'Nobody answered in time.' } }
}
