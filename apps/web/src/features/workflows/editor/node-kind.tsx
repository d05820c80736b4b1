import { Bot, Code, GitBranch, type LucideIcon, Repeat, UserCheck, Wrench } from 'lucide-react'
import type { NodeKind, WorkflowNode } from '../definition/definition.ts'

export interface KindStyle {
  label: string
  text: string
  icon: LucideIcon
}

export const KIND_STYLES: Record<NodeKind, KindStyle> = {
  tool: { label: 'Tool call', text: 'One tool, with arguments', icon: Wrench },
  agent: { label: 'Agent', text: 'Asks a model, which may use tools', icon: Bot },
  code: { label: 'Program', text: 'Runs JavaScript or TypeScript', icon: Code },
  branch: { label: 'Branch', text: 'Goes one way or the other', icon: GitBranch },
  map: { label: 'For each', text: 'Runs a node for each item of a list', icon: Repeat },
  approval: { label: 'Approval', text: 'Asks you before it goes on', icon: UserCheck },
}

/** One-line description of a node. */
export function describeNode(node: WorkflowNode): string {
  if (node.type === 'tool') return node.ref === '' ? 'No tool chosen yet' : node.ref
  if (node.type === 'agent') return node.model ?? 'The default model'
  if (node.type === 'code') return node.program.trim() === '' ? 'Empty program' : 'Program'
  if (node.type === 'branch') return node.when.trim() === '' ? 'No condition yet' : node.when
  if (node.type === 'map')
    return node.node === '' ? 'Nothing to run yet' : `${node.node} for each of ${node.over || '…'}`
  return node.message.trim() === '' ? 'No question yet' : node.message
}

export const nameOf = ({ id, title }: WorkflowNode): string => (title && title.trim() !== '' ? title : id)
