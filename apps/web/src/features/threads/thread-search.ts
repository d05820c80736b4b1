/** What of this page stands in the address. */
import { pickStrings } from '../shell/search.ts'

export interface ThreadSearch {
  tab?: string
}

export const readThread = (search: Record<string, unknown>): ThreadSearch => pickStrings(search, ['tab'])
