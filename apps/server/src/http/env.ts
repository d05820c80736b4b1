import type { Principal } from '@loadout/core/schema'
import type { Context } from '@opentelemetry/api'

/** What middleware leaves for the routes. */
export interface Env {
  Variables: {
    requestId: string
    principal: Principal
    trace?: Context
    callId?: string
    /** Of the policy in the answer's headers. */
    secureHeadersNonce?: string
  }
}
