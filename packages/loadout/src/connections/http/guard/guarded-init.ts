import type { HostError } from '../../../errors.ts'

/** What our own callers may say beside the usual. Another fetch ignores it. */
export interface GuardedInit extends RequestInit {
  /** Told why the body of the answer broke off. */
  onBodyFailure?: (error: HostError) => void
  /** Less than the largest answer that is taken. */
  maxBytes?: number
}
