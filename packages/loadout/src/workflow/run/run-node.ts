/** Dispatches one attempt of a node, except maps, by node type. */
import { runAgentNode } from '../nodes/agent.ts'
import { runApprovalNode } from '../nodes/approval.ts'
import { runBranchNode } from '../nodes/branch.ts'
import { runCodeNode } from '../nodes/code.ts'
import { runToolNode } from '../nodes/tool.ts'
import type { NodeDeps, NodeExecution } from './node-context.ts'
import type { Attempt } from './node-result.ts'

export function runNode(deps: NodeDeps, execution: NodeExecution): Promise<Attempt> {
  const { type } = execution.planned.node
  if (type === 'tool') return runToolNode(deps, execution)
  if (type === 'agent') return runAgentNode(deps, execution)
  if (type === 'code') return runCodeNode(deps, execution)
  return type === 'branch' ? runBranchNode(deps, execution) : runApprovalNode(deps, execution)
}
