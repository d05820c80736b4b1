/** Records the intent of a call as the last step before the server can see it. */
import type { CallAudit } from '../../audit/call-audit.ts'
import { HostError } from '../../errors.ts'
import { failed, type ResolvedCall, type Stage } from '../call.ts'
import { known } from './with-outcome.ts'

/** A call whose intent cannot be recorded is not made. */
export function withIntent(audit: Pick<CallAudit, 'intent'>): Stage {
  return (next) => {
    const go = (call: ResolvedCall) => {
      call.notes.reached = true
      call.notes.sent = call.arguments
      return next(call)
    }
    // Every call passes here, so it awaits only what is asynchronous.
    return (call) => {
      // A cancelled call never reaches its server.
      if (call.signal?.aborted) return Promise.resolve(failed(new HostError('cancelled')))
      try {
        const kept = audit.intent(call, known(call))
        return kept ? kept.then(() => go(call)) : go(call)
      } catch (error) {
        return Promise.reject(error)
      }
    }
  }
}
