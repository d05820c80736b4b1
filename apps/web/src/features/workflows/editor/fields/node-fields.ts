import type { Definition, WorkflowNode } from '../../definition/definition.ts'
import type { PlacedProblem } from '../../definition/problems.ts'
import type { Suggestion } from '../../definition/suggestions.ts'
import type { Tools } from '../../use-tools.ts'

/** Props of every node form. */
export interface NodeFieldsProps<N extends WorkflowNode = WorkflowNode> {
  node: N
  definition: Definition
  change: (change: Partial<N>) => void
  problems: readonly PlacedProblem[]
  suggestions: readonly Suggestion[]
  tools: Tools
}

/** Fields that the form of each kind shows. */
export const NODE_FIELDS: Record<WorkflowNode['type'], readonly string[]> = {
  tool: ['ref', 'arguments'],
  agent: ['model', 'system', 'prompt', 'tools', 'output', 'maxSteps', 'budget'],
  code: ['program', 'language', 'input', 'tools'],
  branch: ['when', 'onTrue', 'onFalse'],
  map: ['over', 'node', 'as', 'concurrency'],
  approval: ['message', 'arguments'],
}
export const SHARED_FIELDS = ['id', 'title', 'after', 'timeoutMs', 'retry', 'onError']

/** Kinds that support a timeout and retries; the API refuses them elsewhere. */
const BOTH = { timeoutMs: true, retry: true }
const NEITHER = { timeoutMs: false, retry: false }
export const TRIED: Record<WorkflowNode['type'], { timeoutMs: boolean; retry: boolean }> = {
  tool: BOTH,
  agent: BOTH,
  code: BOTH,
  branch: NEITHER,
  approval: NEITHER,
  map: { timeoutMs: false, retry: true },
}
