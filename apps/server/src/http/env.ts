import type { Principal } from '@loadout/core/schema'
import type { Context } from '@opentelemetry/api'

/** Context variables that middleware sets for the routes. */
export interface Env {
  Variables: {
    requestId: string
    /** Path in front of the app; empty at the root. */
    basePath: string
    principal: Principal
    trace?: Context
    callId?: string
    /** CSP nonce of the response. */
    secureHeadersNonce?: string
  }
}
