import type { WorkflowInput } from '../schema/records/workflow.ts'

/** Types a workflow definition in code; returns it unchanged. */
export function defineWorkflow<const W extends WorkflowInput>(definition: W): W {
  return definition
}
