/** better-auth setup: storage adapter, cookies, password rules and session checks. */

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
  /** Label of the sign-in button. */
  name: string
  /** Accepts an email that the provider does not report as verified. */
  trustEmail: boolean
}

/** Password hashing: scrypt of better-auth, replaced only in tests. */
export interface Passwords {
  hash(password: string): Promise<string>
  verify(input: { hash: string; password: string }): Promise<boolean>
}

export interface AuthOptions {
  storage: Storage
  secret: string
  /** Public URL of the server. */
  baseUrl: string
  secure: boolean
  sessionMs: number
  passwords: Passwords
  log: Log
  /** OIDC provider. */
  provider?: OAuthProvider | undefined
}

/** Client address as `clientInfo` determined it. better-auth gets no other address header. */
export const ADDRESS_HEADER = 'x-loadout-address'
export const OIDC = 'oidc'

const ID_KINDS = { user: 'user', account: 'account', session: 'session' } as const

export type Auth = ReturnType<typeof createAuth>

export function createAuth(options: AuthOptions) {
  const { storage, secret, baseUrl, secure, sessionMs, passwords, log, provider } = options
  const sessionSeconds = Math.max(1, Math.round(sessionMs / 1000))
  return betterAuth({
    appName: 'Loadout',
    // The handler never sees the path of a public URL, because the app strips it.
    baseURL: new URL(baseUrl).origin,
    basePath: '/api/auth',
    secret,
    database: authRows(storage),
    telemetry: { enabled: false },
    // better-auth messages can quote user input, so only the first 100 characters are logged.
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
      // Two servers at different paths of one origin keep their own sessions.
      defaultCookieAttributes: { path: new URL(baseUrl).pathname.replace(/\/+$/, '') || '/' },
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

/** An unverified email could take over the account of its real owner. */
async function onlyVerified(user: { emailVerified: boolean }): Promise<void> {
  if (!user.emailVerified) throw new APIError('FORBIDDEN', { code: 'email_not_verified', message: 'Not verified' })
}

/** A disabled user gets the same error as for a wrong password, after the password was compared. */
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
