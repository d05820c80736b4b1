/** Who a request is of: the one local user, an API key, or a session. */
import { createHash, timingSafeEqual } from 'node:crypto'
import { HostError, type Storage } from '@loadout/core'
import { KEY_SCOPES, type PrincipalInput, type UserRow } from '@loadout/core/schema'
import type { Authenticate } from '../http/middleware.ts'
import type { ApiKeys } from './api-keys.ts'
import { createRowCache } from './row-cache.ts'
import type { SignIn } from './sign-in.ts'

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

/** A key where one is sent, else the session of the cookie. */
export function sessionOr(byKey: Authenticate, signIn: Pick<SignIn, 'sessions'>, publicUrl?: string): Authenticate {
  return async (request) => {
    if (bearer(request) !== undefined) return byKey(request)
    const found = await signIn.sessions.find(request.headers)
    if (!found) return undefined
    assertSameOrigin(request, publicUrl)
    return { kind: 'session', userId: found.user.userId, role: found.user.role }
  }
}

/** A key gives nothing that its user has lost: who is disabled has none, who does not operate any more operates by none. */
export function restrictToUser(byKey: Authenticate, storage: Storage): Authenticate {
  const cache = createRowCache<UserRow>(storage, {
    collection: 'users',
    isAbout: (key, _, id) => key === id,
    keepMissing: true,
  })
  const find = (userId: string) =>
    cache.get(userId, () => storage.transaction({ caller: 'sign-in' }, (tx) => tx.get('users', userId)))
  return async (request) => {
    const found = await byKey(request)
    const user = found && (await find(found.userId))
    if (!user) return found
    return user.disabledAt === null ? { ...found, role: user.role === 'operator' ? found.role : 'user' } : undefined
  }
}

const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS'])

/**
 * Cookies come by themselves, so what changes something must come from a page of ours: a browser says so in the Origin of every
 * such request, and whoever does not say it is not let through.
 */
export function assertSameOrigin({ method, headers, url }: Request, publicUrl?: string): void {
  if (SAFE_METHODS.has(method)) return
  const origin = headers.get('origin')
  const own = publicUrl === undefined ? undefined : new URL(publicUrl).origin
  const host = headers.get('host') ?? new URL(url).host
  const isOurs = own === undefined ? URL.parse(origin ?? '')?.host === host : origin === own
  if (isOurs) return
  throw new HostError('foreign-origin', {
    detail:
      origin === null
        ? 'A session changes nothing without an Origin.'
        : `The Origin "${origin.slice(0, 100)}" is not ours.`,
    action: 'Open Loadout at its own URL; programs use an API key.',
  })
}

function bearer(request: Request): string | undefined {
  return /^Bearer\s+(\S+)$/i.exec(request.headers.get('authorization') ?? '')?.[1]
}

function sameText(a: string, b: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(a), digest(b))
}
