import { createHash, timingSafeEqual } from 'node:crypto'
import { KEY_SCOPES, type PrincipalInput } from 'loadout/schema'
import type { ApiKeys } from './api-keys.ts'
import type { Authenticate } from './doors.ts'

/** The one user of a local host. */
export const LOCAL: PrincipalInput = { kind: 'local', userId: 'local', role: 'operator' }

/** API keys; and the bootstrap key, an operator's for as long as the setting is there. */
export function byApiKey(keys: ApiKeys, bootstrapKey?: string): Authenticate {
  return async (request) => {
    const key = bearer(request)
    if (key === undefined) return undefined
    if (bootstrapKey !== undefined && sameText(key, bootstrapKey))
      return { kind: 'api-key', userId: 'bootstrap', role: 'operator', scopes: KEY_SCOPES, keyId: 'bootstrap' }
    return keys.verify(key)
  }
}

/** No sign-in: whoever reaches the loopback port is the user. A key that is sent must still be right. */
export function localOr(byKey: Authenticate): Authenticate {
  return (request) => (bearer(request) === undefined ? LOCAL : byKey(request))
}

function bearer(request: Request): string | undefined {
  return /^Bearer\s+(\S+)$/i.exec(request.headers.get('authorization') ?? '')?.[1]
}

function sameText(a: string, b: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(a), digest(b))
}
