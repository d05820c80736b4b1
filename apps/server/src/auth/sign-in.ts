/**
 * Multi-user sign-in: everything that the routes and `authenticate` need. better-auth handles passwords and sessions
 * over the storage; rate limits, links and operators are handled here. An app with its own users passes its own
 * `authenticate` instead.
 */
import { hkdfSync } from 'node:crypto'
import { HostError, type Storage } from '@loadout/core'
import { createGuardedFetch, type GuardOptions } from '@loadout/core/node'
import type { Audit } from '@loadout/core/services'
import { hashPassword, verifyPassword } from 'better-auth/crypto'
import { joinUrl } from '../http/base-path.ts'
import { type Log, silentLog } from '../ops/log.ts'
import { type AuthOptions, createAuth, type OidcSettings, type Passwords } from './better-auth.ts'
import { createOidc, type Oidc } from './oidc.ts'
import { watchedOidc } from './oidc-attempts.ts'
import { type AttemptLimit, type Attempts, createAttempts } from './rate-limit.ts'
import {
  asWrongPassword,
  type ClientInfo,
  cookiesOf,
  createSessions,
  type Entered,
  forwardedHeaders,
  type Sessions,
} from './sessions.ts'
import { createLinks, type Links, type MadeLink, operatorsOf, type Redeemed, type SetUp } from './sign-in-links.ts'
import { createUserAdmin, type UserAdmin } from './user-admin.ts'

export interface SignInOptions {
  storage: Storage
  /** Signs cookies and links; the same in every process. */
  secret: string
  /** Public URL, known once the server listens. */
  baseUrl: () => string
  /** Sends cookies over https only. @default whether the base URL is https */
  secure?: boolean
  /** Idle timeout of a session. @default 7 days */
  sessionMs?: number
  oidc?: OidcSettings | undefined
  /** Proxy and certificates for provider requests. The provider may have a private address. */
  reach?: Pick<GuardOptions, 'proxy' | 'ca'>
  /** Whether a provider user without an account gets one. @default false */
  signUp?: boolean
  /** Whether users sign in with email and password. @default true */
  byPassword?: boolean
  limits?: Partial<SignInLimits>
  passwords?: Passwords
  record?: Audit['record']
  log?: Log
}

export interface SignInLimits {
  /** Attempts per account and address. */
  account: AttemptLimit
  /** Attempts per account from all addresses. Higher, so that others cannot easily lock the owner out. */
  accountTotal: AttemptLimit
  address: AttemptLimit
  /** Provider sign-ins started per address. */
  starts: AttemptLimit
}

export interface SignIn {
  readonly oidc: Oidc | undefined
  /** Whether users sign in with email and password; otherwise only with the provider. */
  readonly byPassword: boolean
  readonly sessions: Pick<Sessions, 'find' | 'renew' | 'leave' | 'list' | 'end' | 'endOthers'>
  readonly people: UserAdmin
  enter(visitor: ClientInfo, input: { email: string; password: string }): Promise<Entered>
  changePassword(visitor: ClientInfo, input: { current: string; password: string }): Promise<{ cookies: string[] }>
  look: Links['look']
  /** Without passwords the result has no cookies: the operator then signs in with the provider. */
  setUp(visitor: ClientInfo, input: SetUp): Promise<Entered>
  redeem(visitor: ClientInfo, input: Redeemed): Promise<Entered>
  /** Whether there is no operator yet. */
  setupNeeded(): Promise<boolean>
  setupLink(): Promise<MadeLink | undefined>
  /** URL of a link. The token is in the fragment, which browsers do not send to servers. */
  urlOf(link: MadeLink): string
  close(): Promise<void>
}

const MINUTE_MS = 60_000
export const SIGN_IN_LIMITS: SignInLimits = {
  account: { max: 10, windowMs: 15 * MINUTE_MS },
  accountTotal: { max: 50, windowMs: 15 * MINUTE_MS },
  address: { max: 50, windowMs: 15 * MINUTE_MS },
  // Many users can share one address, and most of their sign-ins succeed.
  starts: { max: 300, windowMs: 15 * MINUTE_MS },
}
export const SESSION_MS = 7 * 24 * 60 * MINUTE_MS

/** scrypt of better-auth, in worker threads. */
const SCRYPT: Passwords = { hash: hashPassword, verify: verifyPassword }

/** Derives the secret for cookies and links from the master key (HKDF). */
export function signInSecret(masterKey: string): string {
  const [current = ''] = masterKey.split(',')
  return Buffer.from(hkdfSync('sha256', current.trim(), '', 'loadout sign-in', 32)).toString('base64url')
}

export function createSignIn(options: SignInOptions): SignIn {
  const { storage, secret, passwords = SCRYPT, byPassword = true, record = () => {}, log = silentLog } = options
  const authOptions = (): AuthOptions => ({
    storage,
    secret,
    passwords,
    log,
    baseUrl: options.baseUrl(),
    secure: options.secure ?? options.baseUrl().startsWith('https:'),
    sessionMs: options.sessionMs ?? SESSION_MS,
  })
  let opened: { auth: ReturnType<typeof createAuth>; sessions: Sessions } | undefined
  // Created with the first request, when the base URL is known.
  const open = () => {
    if (opened) return opened
    const auth = createAuth(authOptions())
    opened = { auth, sessions: createSessions(storage, auth) }
    return opened
  }
  const attempts = createAttempts(storage, secret)
  const limits = { ...SIGN_IN_LIMITS, ...options.limits }
  const counted = countWith(attempts, limits, log)
  const links = createLinks(storage, secret, { passwords, byPassword })
  const { oidc, close } = openOidc(options, authOptions, { attempts, limits, record, sessions: () => open().sessions })

  const passwordMethods = createPasswordMethods(
    { open, counted, links, record },
    byPassword ? undefined : noPasswords(options.oidc?.name),
  )
  return {
    oidc,
    byPassword,
    ...passwordMethods,
    get sessions() {
      return open().sessions
    },
    people: createUserAdmin(storage),
    look: links.look,
    setupNeeded: () => storage.transaction({ caller: 'sign-in' }, async (tx) => (await operatorsOf(tx)).length === 0),
    setupLink: links.setup,
    close,
    urlOf: ({ kind, token }) => `${joinUrl(options.baseUrl(), `/${kind}`)}#${token}`,
  }
}

interface PasswordDeps {
  open: () => { auth: ReturnType<typeof createAuth>; sessions: Sessions }
  counted: ReturnType<typeof countWith>
  links: Links
  record: Audit['record']
}
type PasswordMethods = Pick<SignIn, 'enter' | 'changePassword' | 'setUp' | 'redeem'>

/** Password methods; they throw `refusal` if passwords are off. */
function createPasswordMethods(
  { open, counted, links, record }: PasswordDeps,
  refusal: HostError | undefined,
): PasswordMethods {
  const assertAllowed = () => {
    if (refusal) throw refusal
  }
  return {
    async enter(visitor, credentials) {
      assertAllowed()
      const entered = await counted(visitor, credentials.email, () => open().sessions.enter(visitor, credentials))
      await record({ userId: entered.user.userId, action: 'signed_in', detail: { method: 'password' } })
      return entered
    },
    async changePassword(visitor, { current, password }) {
      assertAllowed()
      const { auth, sessions } = open()
      const signedIn = await sessions.find(visitor.headers)
      if (!signedIn) throw new HostError('unauthenticated')
      const { userId, email } = signedIn.user
      const body = { currentPassword: current, newPassword: password, revokeOtherSessions: true }
      const headers = forwardedHeaders(visitor)
      const changed = await counted(visitor, email, () =>
        auth.api.changePassword({ body, headers, returnHeaders: true }).catch(asWrongPassword),
      )
      await record({ userId, action: 'password_changed', detail: {} })
      return { cookies: cookiesOf(changed.headers) }
    },
    async setUp(visitor, input) {
      if (input.password !== undefined) assertAllowed()
      const user = await counted(visitor, undefined, () => links.setUp(input))
      await record({ userId: user.userId, action: 'operator_set_up', detail: {} })
      if (input.password === undefined) return { user, cookies: [] }
      return open().sessions.enter(visitor, { email: user.email, password: input.password })
    },
    async redeem(visitor, input) {
      assertAllowed()
      const { userId, email } = await counted(visitor, undefined, () => links.redeem(input))
      await record({ userId, action: 'password_chosen', detail: { by: input.kind } })
      return open().sessions.enter(visitor, { email, password: input.password })
    },
  }
}

const noPasswords = (provider = 'the provider') =>
  new HostError('forbidden', { detail: 'Nobody signs in by a password here.', action: `Sign in with ${provider}.` })

/** The OIDC provider with its own connections, if configured. */
function openOidc(options: SignInOptions, authOptions: () => AuthOptions, watch: Parameters<typeof watchedOidc>[1]) {
  const { oidc: settings, reach = {}, signUp = false, log = silentLog } = options
  if (!settings) return { oidc: undefined, close: async () => {} }
  const { documents: ask, close } = createGuardedFetch({ ...reach, privateNetwork: true })
  return { oidc: watchedOidc(createOidc({ options: authOptions, settings, signUp, ask, log }), watch), close }
}

/** Counts an attempt before the password is compared, and refunds it on success. */
function countWith(attempts: Attempts, limits: SignInLimits, log: Log) {
  return async <T>({ address }: ClientInfo, account: string | undefined, work: () => Promise<T>): Promise<T> => {
    const addressKey = `address ${address}`
    const accountKey = account === undefined ? undefined : `account ${account.toLowerCase()}`
    const accountAtAddressKey = accountKey && `${accountKey} ${addressKey}`
    await attempts.take(addressKey, limits.address)
    if (accountAtAddressKey) await attempts.take(accountAtAddressKey, limits.account)
    if (accountKey) await attempts.take(accountKey, limits.accountTotal)
    const done = await work().catch((error) => {
      log.warn({ address, code: HostError.from(error).code }, 'a sign-in was refused')
      throw error
    })
    await attempts.giveBack(addressKey)
    if (accountAtAddressKey) await attempts.forget(accountAtAddressKey)
    // Attempts from other addresses stay counted.
    if (accountKey) await attempts.giveBack(accountKey)
    return done
  }
}
