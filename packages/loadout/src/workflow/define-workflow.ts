import type { WorkflowInput } from '../schema/records/workflow.ts'

/** A workflow in code, with its own types: what is written down is what is stored. */
export function defineWorkflow<const W extends WorkflowInput>(definition: W): W {
  return definition
}
