/** What of this page stands in the address. */
import { pickStrings } from '../../lib/url-search.ts'

export interface WorkflowSearch {
  /** The node that is chosen. */
  node?: string
  view?: string
  /** A new one begins with an example, or with what was imported. */
  from?: string
  /** A new one begins as a copy of this. */
  copy?: string
}

export const readWorkflow = (search: Record<string, unknown>): WorkflowSearch =>
  pickStrings(search, ['node', 'view', 'from', 'copy'])

/** Of a run: the node that is chosen. */
export type RunSearch = Pick<WorkflowSearch, 'node'>

export const readRun = (search: Record<string, unknown>): RunSearch => pickStrings(search, ['node'])
