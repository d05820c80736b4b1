/** What of this page stands in the address. */
import { pickStrings } from '../../lib/url-search.ts'

export const FINAL_STATUSES = ['allowed', 'denied', 'expired'] as const
export type FinalStatus = (typeof FINAL_STATUSES)[number]

export interface ApprovalsSearch {
  /** How those ended that are listed; without it all are. */
  answered?: FinalStatus
}

export function readApprovals(search: Record<string, unknown>): ApprovalsSearch {
  const status = FINAL_STATUSES.find((value) => value === pickStrings(search, ['answered']).answered)
  return status ? { answered: status } : {}
}
