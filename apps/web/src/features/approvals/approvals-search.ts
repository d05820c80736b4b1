/** URL search parameters of this page. */
import { pickStrings } from '../../lib/url-search.ts'

export const FINAL_STATUSES = ['allowed', 'denied', 'expired'] as const
export type FinalStatus = (typeof FINAL_STATUSES)[number]

export interface ApprovalsSearch {
  /** Status filter of the history. */
  answered?: FinalStatus
}

export function readApprovals(search: Record<string, unknown>): ApprovalsSearch {
  const status = FINAL_STATUSES.find((value) => value === pickStrings(search, ['answered']).answered)
  return status ? { answered: status } : {}
}
