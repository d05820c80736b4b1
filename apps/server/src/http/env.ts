import type { Principal } from '@loadout/core/schema'
import type { Context } from '@opentelemetry/api'

/** Context variables that middleware sets for the routes. */
export interface Env {
  Variables: {
    requestId: string
    principal: Principal
    trace?: Context
    callId?: string
    /** CSP nonce of the response. */
    secureHeadersNonce?: string
  }
}
