/** One attempt of a node that is not a map, by its kind. */
import { agentNode } from './agent-node.ts'
import { approvalNode } from './approval-node.ts'
import { branchNode } from './branch-node.ts'
import { codeNode } from './code-node.ts'
import type { Leaf, LeafParts } from './leaf.ts'
import type { Attempt } from './node-end.ts'
import { toolNode } from './tool-node.ts'

export function once(parts: LeafParts, leaf: Leaf): Promise<Attempt> {
  const { type } = leaf.planned.node
  if (type === 'tool') return toolNode(parts, leaf)
  if (type === 'agent') return agentNode(parts, leaf)
  if (type === 'code') return codeNode(parts, leaf)
  return type === 'branch' ? branchNode(parts, leaf) : approvalNode(parts, leaf)
}
