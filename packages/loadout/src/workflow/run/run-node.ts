/** One attempt of a node that is not a map, by its kind. */
import { agentNode } from '../nodes/agent.ts'
import { approvalNode } from '../nodes/approval.ts'
import { branchNode } from '../nodes/branch.ts'
import { codeNode } from '../nodes/code.ts'
import { toolNode } from '../nodes/tool.ts'
import type { LeafDeps, NodeExecution } from './node-context.ts'
import type { Attempt } from './node-result.ts'

export function runNode(parts: LeafDeps, leaf: NodeExecution): Promise<Attempt> {
  const { type } = leaf.planned.node
  if (type === 'tool') return toolNode(parts, leaf)
  if (type === 'agent') return agentNode(parts, leaf)
  if (type === 'code') return codeNode(parts, leaf)
  return type === 'branch' ? branchNode(parts, leaf) : approvalNode(parts, leaf)
}
