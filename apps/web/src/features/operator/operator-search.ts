/** URL search parameters of this page. */
import { pickStrings } from '../../lib/url-search.ts'

export interface OperatorSearch {
  tab?: string
  /** The edited server, or `new`. */
  server?: string
}

export const readOperator = (search: Record<string, unknown>): OperatorSearch => pickStrings(search, ['tab', 'server'])
