/** How better-auth is set up: what it keeps, what its cookies are like, and who may have a session at all. */

import { newId, type Storage } from '@loadout/core'
import { betterAuth } from 'better-auth'
import { APIError } from 'better-auth/api'
import type { OAuthProvider } from 'better-auth/oauth2'
import type { Log } from '../ops/log.ts'
import { authRows } from './auth-rows.ts'
import { PASSWORD_LENGTH } from './input-limits.ts'

export interface OidcSettings {
  issuer: string
  clientId: string
  clientSecret: string
  /** What people read on the button. */
  name: string
  /** Takes the provider's word for an email that it does not call verified. */
  trustEmail: boolean
}

/** How passwords are kept; better-auth's scrypt unless a test counts it. */
export interface Passwords {
  hash(password: string): Promise<string>
  verify(input: { hash: string; password: string }): Promise<boolean>
}

export interface AuthOptions {
  storage: Storage
  secret: string
  /** Where people reach the server. */
  baseUrl: string
  secure: boolean
  sessionMs: number
  passwords: Passwords
  log: Log
  /** Another way in. */
  provider?: OAuthProvider | undefined
}

/** The address of who asks, as we found it: better-auth is shown no other header that could say one. */
export const ADDRESS_HEADER = 'x-loadout-address'
export const OIDC = 'oidc'

const ID_KINDS = { user: 'user', account: 'account', session: 'session' } as const

export type Auth = ReturnType<typeof createAuth>

export function createAuth(options: AuthOptions) {
  const { storage, secret, baseUrl, secure, sessionMs, passwords, log, provider } = options
  const sessionSeconds = Math.max(1, Math.round(sessionMs / 1000))
  return betterAuth({
    appName: 'Loadout',
    baseURL: baseUrl,
    basePath: '/api/auth',
    secret,
    database: authRows(storage),
    telemetry: { enabled: false },
    // Their words can quote what they failed on; only the first of them are ours to keep.
    logger: { level: 'error', log: (_level, message) => log.warn({ told: message.slice(0, 100) }, 'sign-in') },
    emailAndPassword: {
      enabled: true,
      disableSignUp: true,
      minPasswordLength: PASSWORD_LENGTH.min,
      maxPasswordLength: PASSWORD_LENGTH.max,
      password: passwords,
    },
    session: { expiresIn: sessionSeconds, updateAge: Math.floor(sessionSeconds / 7), cookieCache: { enabled: false } },
    user: {
      additionalFields: {
        role: { type: 'string', input: false, defaultValue: 'user' },
        disabledAt: { type: 'date', input: false, required: false },
        lastSignInAt: { type: 'date', input: false, required: false },
      },
    },
    account: {
      storeStateStrategy: 'cookie',
      updateAccountOnSignIn: false,
      accountLinking: { enabled: true, requireLocalEmailVerified: true },
    },
    rateLimit: { enabled: false },
    advanced: {
      useSecureCookies: secure,
      cookiePrefix: 'loadout',
      ipAddress: { ipAddressHeaders: [ADDRESS_HEADER] },
      database: { joins: true, generateId: ({ model }) => newId(ID_KINDS[model as keyof typeof ID_KINDS]) },
    },
    databaseHooks: {
      user: { create: { before: onlyVerified } },
      session: { create: { before: onlyEnabled(storage), after: noteSignIn(storage) } },
    },
    plugins: provider ? [byProvider(provider)] : [],
  })
}

/** An email that nobody vouches for would take it away from the person whose it is. */
async function onlyVerified(user: { emailVerified: boolean }): Promise<void> {
  if (!user.emailVerified) throw new APIError('FORBIDDEN', { code: 'email_not_verified', message: 'Not verified' })
}

/** Told like a wrong password: after it was compared, and with the same words. */
const onlyEnabled = (storage: Storage) => async (session: { userId: string }) => {
  const user = await storage.transaction({ caller: 'sign-in' }, (tx) => tx.get('users', session.userId))
  if (!user || user.disabledAt !== null) throw new APIError('UNAUTHORIZED', { code: 'disabled', message: 'Disabled' })
}

const noteSignIn = (storage: Storage) => async (session: { userId: string }) => {
  await storage.transaction({ caller: 'sign-in' }, (tx) =>
    tx.update('users', session.userId, { set: { lastSignInAt: new Date() } }),
  )
}

const byProvider = (provider: OAuthProvider) => ({
  id: 'sign-in-provider',
  init: () => ({ context: { socialProviders: [provider] } }),
})
