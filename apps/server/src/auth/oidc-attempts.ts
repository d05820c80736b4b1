/**
 * Rate limits OIDC sign-ins: starts and failed returns per address. Successful sign-ins are written to the audit log.
 */
import type { Audit } from '@loadout/core/services'
import type { Oidc } from './oidc.ts'
import type { AttemptLimit, Attempts } from './rate-limit.ts'
import type { Sessions } from './sessions.ts'

interface Watch {
  attempts: Attempts
  limits: { starts: AttemptLimit; address: AttemptLimit }
  sessions: () => Sessions
  record: Audit['record']
}

export function watchedOidc(oidc: Oidc, { attempts, limits, sessions, record }: Watch): Oidc {
  return {
    ...oidc,
    async start(visitor, returnTo) {
      await attempts.take(`start ${visitor.address}`, limits.starts)
      return oidc.start(visitor, returnTo)
    },
    async finish(visitor, query) {
      const from = `return ${visitor.address}`
      await attempts.take(from, limits.address)
      const done = await oidc.finish(visitor, query)
      const cookie = done.cookies.map((cookieHeader) => cookieHeader.split(';')[0]).join('; ')
      const found = await sessions().find(new Headers({ cookie }))
      if (!found) return done
      await attempts.giveBack(from)
      await record({ userId: found.user.userId, action: 'signed_in', detail: { method: 'oidc' } })
      return done
    },
  }
}
