import type { WorkflowInput } from '../schema/records/workflow.ts'
import type { CheckedNode } from '../schema/toolkit/tool-types.ts'

/** Types a workflow definition in code, also its tools if they are declared in `ToolTypes`; returns it unchanged. */
export function defineWorkflow<const W extends WorkflowInput>(
  definition: W & { nodes: { [Index in keyof W['nodes']]: CheckedNode<W['nodes'][Index]> } },
): W {
  return definition
}
