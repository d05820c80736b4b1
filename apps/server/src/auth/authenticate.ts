/** Authenticates requests as the local user, by API key or by session. */
import { createHash, timingSafeEqual } from 'node:crypto'
import { HostError, type Storage } from '@loadout/core'
import { KEY_SCOPES, type PrincipalInput, type UserRow } from '@loadout/core/schema'
import type { Authenticate } from '../http/middleware.ts'
import type { ApiKeys } from './api-keys.ts'
import { createRowCache } from './row-cache.ts'
import type { SignIn } from './sign-in.ts'

/** The only user of a local host. */
export const LOCAL: PrincipalInput = { kind: 'local', userId: 'local', role: 'operator' }

/** Accepts API keys, and the bootstrap key as an operator while the setting exists. */
export function byApiKey(keys: ApiKeys, bootstrapKey?: string): Authenticate {
  return async (request) => {
    const key = bearer(request)
    if (key === undefined) return undefined
    if (bootstrapKey !== undefined && sameText(key, bootstrapKey))
      return { kind: 'api-key', userId: 'bootstrap', role: 'operator', scopes: KEY_SCOPES, keyId: 'bootstrap' }
    return keys.verify(key)
  }
}

/** Accepts every request on the loopback port as the local user. A key that is sent must still be valid. */
export function localOr(byKey: Authenticate): Authenticate {
  return (request) => (bearer(request) === undefined ? LOCAL : byKey(request))
}

/** Uses the API key if one is sent, otherwise the session cookie. */
export function sessionOr(byKey: Authenticate, signIn: Pick<SignIn, 'sessions'>, publicUrl?: string): Authenticate {
  return async (request) => {
    if (bearer(request) !== undefined) return byKey(request)
    const found = await signIn.sessions.find(request.headers)
    if (!found) return undefined
    assertSameOrigin(request, publicUrl)
    return { kind: 'session', userId: found.user.userId, role: found.user.role }
  }
}

/** Limits a key to its user's current rights: a disabled user has none, and only operators keep the operator role. */
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

/** CSRF check for cookie sessions: a request that changes something needs an `Origin` header of this server. */
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
