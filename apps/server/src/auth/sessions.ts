/** Sessions through better-auth, which gets only the cookie, user agent and client address of a request. */

import { HostError, type Storage } from '@loadout/core'
import type { SessionRow, UserRow } from '@loadout/core/schema'
import { isAPIError } from 'better-auth/api'
import { ADDRESS_HEADER, type Auth } from './better-auth.ts'

/** Headers and address of a client. */
export interface ClientInfo {
  headers: Headers
  address: string
}

export interface SignedIn {
  user: UserRow
  sessionId: string
  expiresAt: Date
}

/** A signed-in user and the cookies for their browser. */
export interface Entered {
  user: UserRow
  cookies: string[]
}

export interface Sessions {
  /** Returns the session of a request without changing it. */
  find(headers: Headers): Promise<SignedIn | undefined>
  /** Returns the session and extends it. */
  renew(visitor: ClientInfo): Promise<{ signedIn: SignedIn | undefined; cookies: string[] }>
  /** Checks a password in the same time for known and unknown emails; throws `wrong-password`. */
  enter(visitor: ClientInfo, credentials: { email: string; password: string }): Promise<Entered>
  leave(visitor: ClientInfo): Promise<{ cookies: string[] }>
  list(userId: string): Promise<SessionRow[]>
  /** Returns whether the session existed. */
  end(userId: string, sessionId: string): Promise<boolean>
  /** Ends all sessions of a user, except `exceptId`. */
  endOthers(userId: string, exceptId?: string): Promise<void>
}

const access = { caller: 'sign-in' } as const

export function createSessions(storage: Storage, auth: Auth): Sessions {
  const userOf = (userId: string) => storage.transaction(access, (tx) => tx.get('users', userId))
  const ownRows = (userId: string) =>
    storage.transaction(access, (tx) => tx.list('sessions', { where: { userId }, limit: 10_000 }))

  const read = async (headers: Headers, disableRefresh: boolean) => {
    if (!headers.has('cookie')) return { signedIn: undefined, cookies: [] }
    const { headers: responseHeaders, response } = await auth.api.getSession({
      headers,
      query: { disableRefresh },
      returnHeaders: true,
    })
    const cookies = cookiesOf(responseHeaders)
    if (!response || response.user.disabledAt != null) return { signedIn: undefined, cookies }
    const { id: sessionId, expiresAt } = response.session
    return { signedIn: { user: rowOf(response.user), sessionId, expiresAt }, cookies }
  }

  return {
    find: async (headers) => (await read(headers, true)).signedIn,
    renew: (visitor) => read(forwardedHeaders(visitor), false),
    async enter(visitor, body) {
      const { headers, response } = await auth.api
        .signInEmail({ body, headers: forwardedHeaders(visitor), returnHeaders: true })
        .catch(asWrongPassword)
      const user = await userOf(response.user.id)
      if (!user) throw new HostError('wrong-password')
      return { user, cookies: cookiesOf(headers) }
    },
    async leave(visitor) {
      const { signedIn } = await read(visitor.headers, true)
      // better-auth only logs a failed delete, so the row is deleted here.
      if (signedIn) await storage.transaction(access, (tx) => tx.delete('sessions', signedIn.sessionId))
      const { headers } = await auth.api.signOut({ headers: forwardedHeaders(visitor), returnHeaders: true })
      return { cookies: cookiesOf(headers) }
    },
    list: async (userId) => (await ownRows(userId)).filter(({ expiresAt }) => expiresAt > new Date()),
    end: (userId, sessionId) =>
      storage.transaction(access, async (tx) => {
        const row = await tx.get('sessions', sessionId)
        return row?.userId === userId && tx.delete('sessions', sessionId)
      }),
    async endOthers(userId, exceptId) {
      const rows = (await ownRows(userId)).filter(({ sessionId }) => sessionId !== exceptId)
      await storage.transaction(access, async (tx) => {
        for (const { sessionId } of rows) await tx.delete('sessions', sessionId)
      })
    },
  }
}

type AuthUser = NonNullable<Awaited<ReturnType<Auth['api']['getSession']>>>['user']

function rowOf({ id: userId, email, name, emailVerified, createdAt, updatedAt, ...rest }: AuthUser): UserRow {
  const { disabledAt = null, lastSignInAt = null } = rest
  const operates = rest.role === 'operator'
  return {
    userId,
    email,
    name,
    emailVerified,
    createdAt,
    updatedAt,
    disabledAt,
    lastSignInAt,
    role: operates ? 'operator' : 'user',
  }
}

/** Forwards only cookie and user agent: no request header can set the address or the user. */
export function forwardedHeaders({ headers, address }: ClientInfo): Headers {
  const forwarded = new Headers({ [ADDRESS_HEADER]: address })
  for (const name of ['cookie', 'user-agent']) {
    const value = headers.get(name)
    if (value !== null) forwarded.set(name, value)
  }
  return forwarded
}

export const cookiesOf = (headers: Headers) => headers.getSetCookie()

/** Wrong email, wrong password and disabled user give the same error. */
export function asWrongPassword(error: unknown): never {
  if (isAPIError(error) && Number(error.statusCode) < 500) throw new HostError('wrong-password')
  throw error
}
