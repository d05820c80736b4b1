/** What of this page stands in the address. */
import { pickStrings } from '../../lib/url-search.ts'

export interface OperatorSearch {
  tab?: string
  /** The server that is edited, or `new`. */
  server?: string
}

export const readOperator = (search: Record<string, unknown>): OperatorSearch => pickStrings(search, ['tab', 'server'])
