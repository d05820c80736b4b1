/** Records the intent of a call as the last step before the server can see it. */
import type { CallAudit } from '../../audit/call-audit.ts'
import { HostError } from '../../errors.ts'
import { failed, type ResolvedCall, type Stage } from '../call.ts'
import { callDetails } from './with-outcome.ts'

/** A call whose intent cannot be recorded is not made. */
export function withIntent(audit: Pick<CallAudit, 'intent'>): Stage {
  return (next) => {
    const proceed = (call: ResolvedCall) => {
      call.notes.reached = true
      call.notes.sent = call.arguments
      return next(call)
    }
    // Every call passes here, so it awaits only what is asynchronous.
    return (call) => {
      // A cancelled call never reaches its server.
      if (call.signal?.aborted) return Promise.resolve(failed(new HostError('cancelled')))
      try {
        const recorded = audit.intent(call, callDetails(call))
        return recorded ? recorded.then(() => proceed(call)) : proceed(call)
      } catch (error) {
        return Promise.reject(error)
      }
    }
  }
}
