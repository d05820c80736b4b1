/** What of this page stands in the address. */
import { pickStrings } from '../shell/search.ts'

export interface ToolsSearch {
  q?: string
  tool?: string
}

export const readTools = (search: Record<string, unknown>): ToolsSearch => pickStrings(search, ['q', 'tool'])
