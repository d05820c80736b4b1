import type { HostError } from '../../../errors.ts'

/** Options of our guarded fetch. Any other fetch ignores them. */
export interface GuardedInit extends RequestInit {
  /** Called with the error that ended the response body. */
  onBodyFailure?: (error: HostError) => void
  /** Response limit in bytes, if lower than `maxResponseBytes`. */
  maxBytes?: number
}
