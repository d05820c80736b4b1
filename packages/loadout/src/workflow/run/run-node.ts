/** Dispatches one attempt of a node, except maps, by node type. */
import { agentNode } from '../nodes/agent.ts'
import { approvalNode } from '../nodes/approval.ts'
import { branchNode } from '../nodes/branch.ts'
import { codeNode } from '../nodes/code.ts'
import { toolNode } from '../nodes/tool.ts'
import type { NodeDeps, NodeExecution } from './node-context.ts'
import type { Attempt } from './node-result.ts'

export function runNode(deps: NodeDeps, execution: NodeExecution): Promise<Attempt> {
  const { type } = execution.planned.node
  if (type === 'tool') return toolNode(deps, execution)
  if (type === 'agent') return agentNode(deps, execution)
  if (type === 'code') return codeNode(deps, execution)
  return type === 'branch' ? branchNode(deps, execution) : approvalNode(deps, execution)
}
