/**
 * Sign-in for many users, in one piece: what the routes and `authenticate` need of it. Passwords and sessions are better-auth's,
 * over our storage; who may try how often, links and operators are ours. An app with users of its own needs none of this: it
 * gives `createApp` an `authenticate`.
 */
import { hkdfSync } from 'node:crypto'
import { HostError, type Storage } from '@loadout/core'
import { createGuardedFetch, type GuardOptions } from '@loadout/core/node'
import type { Audit } from '@loadout/core/services'
import { hashPassword, verifyPassword } from 'better-auth/crypto'
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
  /** What cookies and links are signed with: the same in every process. */
  secret: string
  /** Where people reach the server, once that is known. */
  baseUrl: () => string
  /** Cookies are sent over https alone. @default whether the address is https */
  secure?: boolean
  /** How long a session lasts that nobody uses. @default 7 days */
  sessionMs?: number
  oidc?: OidcSettings | undefined
  /** How the provider is reached: the operator's proxy and certificates. Where it is, the operator says: a private address is one. */
  reach?: Pick<GuardOptions, 'proxy' | 'ca'>
  /** Whether whoever the provider knows gets an account. @default false */
  signUp?: boolean
  /** Whether people sign in by email and password. @default true */
  byPassword?: boolean
  limits?: Partial<SignInLimits>
  passwords?: Passwords
  record?: Audit['record']
  log?: Log
}

export interface SignInLimits {
  /** Of an account, from one address. */
  account: AttemptLimit
  /** Of an account, from wherever: wider, so that not just anybody can lock its owner out. */
  accountTotal: AttemptLimit
  address: AttemptLimit
  /** How often an address sets out for the provider, whatever comes of it. */
  starts: AttemptLimit
}

export interface SignIn {
  readonly oidc: Oidc | undefined
  /** Whether people sign in by email and password; else by the provider alone. */
  readonly byPassword: boolean
  readonly sessions: Pick<Sessions, 'find' | 'renew' | 'leave' | 'list' | 'end' | 'endOthers'>
  readonly people: UserAdmin
  enter(visitor: ClientInfo, input: { email: string; password: string }): Promise<Entered>
  changePassword(visitor: ClientInfo, input: { current: string; password: string }): Promise<{ cookies: string[] }>
  look: Links['look']
  /** Without passwords nobody is in yet, and there are no cookies: the provider lets them in. */
  setUp(visitor: ClientInfo, input: SetUp): Promise<Entered>
  redeem(visitor: ClientInfo, input: Redeemed): Promise<Entered>
  /** Whether nobody operates yet. */
  setupNeeded(): Promise<boolean>
  setupLink(): Promise<MadeLink | undefined>
  /** The page that a link leads to; the token stands where no server sees it. */
  urlOf(link: MadeLink): string
  close(): Promise<void>
}

const MINUTE_MS = 60_000
export const SIGN_IN_LIMITS: SignInLimits = {
  account: { max: 10, windowMs: 15 * MINUTE_MS },
  accountTotal: { max: 50, windowMs: 15 * MINUTE_MS },
  address: { max: 50, windowMs: 15 * MINUTE_MS },
  // Many people may be behind one address, and most of them come in.
  starts: { max: 300, windowMs: 15 * MINUTE_MS },
}
export const SESSION_MS = 7 * 24 * 60 * MINUTE_MS

/** better-auth's own: scrypt, in threads. */
const SCRYPT: Passwords = { hash: hashPassword, verify: verifyPassword }

/** A secret for cookies and links, out of the master key, which it tells nothing of. */
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
  // Made with the first request, when the server knows where it is.
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
    urlOf: ({ kind, token }) => `${new URL(`/${kind}`, options.baseUrl()).href}#${token}`,
  }
}

interface PasswordDeps {
  open: () => { auth: ReturnType<typeof createAuth>; sessions: Sessions }
  counted: ReturnType<typeof countWith>
  links: Links
  record: Audit['record']
}
type PasswordMethods = Pick<SignIn, 'enter' | 'changePassword' | 'setUp' | 'redeem'>

/** What is done with a password; `refusal` where nobody has one. */
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

/** The provider, where there is one, over connections of its own. */
function openOidc(options: SignInOptions, authOptions: () => AuthOptions, watch: Parameters<typeof watchedOidc>[1]) {
  const { oidc: settings, reach = {}, signUp = false, log = silentLog } = options
  if (!settings) return { oidc: undefined, close: async () => {} }
  const { documents: ask, close } = createGuardedFetch({ ...reach, privateNetwork: true })
  return { oidc: watchedOidc(createOidc({ options: authOptions, settings, signUp, ask, log }), watch), close }
}

/** Counts first, compares then; a good try is not counted. */
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
    // What others tried elsewhere stays counted.
    if (accountKey) await attempts.giveBack(accountKey)
    return done
  }
}
