/** What of this page stands in the address. */
import { pickStrings } from '../../lib/url-search.ts'

export const ENDS = ['allowed', 'denied', 'expired'] as const
export type AnsweredStatus = (typeof ENDS)[number]

export interface ApprovalsSearch {
  /** How those ended that are listed; without it all are. */
  answered?: AnsweredStatus
}

export function readApprovals(search: Record<string, unknown>): ApprovalsSearch {
  const answered = ENDS.find((one) => one === pickStrings(search, ['answered']).answered)
  return answered ? { answered } : {}
}
