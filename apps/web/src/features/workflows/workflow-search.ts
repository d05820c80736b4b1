/** What of this page stands in the address. */
import { pickStrings } from '../shell/search.ts'

export interface WorkflowSearch {
  node?: string
  view?: string
}

export const readWorkflow = (search: Record<string, unknown>): WorkflowSearch => pickStrings(search, ['node', 'view'])
