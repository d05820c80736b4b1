/** URL search parameters of workflow and run pages. */
import { pickStrings } from '../../lib/url-search.ts'

export interface WorkflowSearch {
  /** Selected node. */
  node?: string
  view?: string
  /** Example id or `import`, for a new workflow. */
  from?: string
  /** Workflow id to copy, for a new workflow. */
  copy?: string
}

export const readWorkflow = (search: Record<string, unknown>): WorkflowSearch =>
  pickStrings(search, ['node', 'view', 'from', 'copy'])

/** Search parameters of a run. */
export type RunSearch = Pick<WorkflowSearch, 'node'>

export const readRun = (search: Record<string, unknown>): RunSearch => pickStrings(search, ['node'])
