/** What of this page stands in the address. */
import { pickStrings } from '../shell/search.ts'

export interface ActivitySearch {
  tab?: string
  toolkit?: string
  tool?: string
  action?: string
  outcome?: string
  from?: string
  to?: string
  range?: string
}

export const readActivity = (search: Record<string, unknown>): ActivitySearch =>
  pickStrings(search, ['tab', 'toolkit', 'tool', 'action', 'outcome', 'from', 'to', 'range'])
