/**
 * One-time sign-in links. Only a token hash is stored, and the first process to delete the row redeems it. The setup
 * link is one row: every process derives the same token from it, and the row also serves as the lock for operator
 * changes.
 */
import { createHmac, randomBytes } from 'node:crypto'
import { HostError, newId, type Storage } from '@loadout/core'
import type { SignInLinkRow, UserRow } from '@loadout/core/schema'
import type { Transaction } from '@loadout/core/services'
import { hashOf } from './auth-rows.ts'
import type { Passwords } from './better-auth.ts'

export interface MadeLink {
  kind: SignInLinkRow['kind']
  token: string
  expiresAt: Date
}

export interface LinkView {
  kind: SignInLinkRow['kind']
  expiresAt: Date
  /** The invited user, or the user who resets a password. */
  user?: UserRow
}

export interface Links {
  /** Returns the setup link while there is no operator. */
  setup(): Promise<MadeLink | undefined>
  /** Returns the purpose of a link; throws `sign-in-link-invalid` if it is unknown or expired. */
  look(token: string): Promise<LinkView>
  /** Creates the first operator. Without passwords, the operator then signs in with the provider. */
  setUp(input: SetUp): Promise<UserRow>
  /** Sets the password of an invited or returning user and ends their earlier sessions. */
  redeem(input: Redeemed): Promise<UserRow>
  /** Creates a link and revokes the earlier ones. */
  make(userId: string): Promise<MadeLink>
}

export interface SetUp {
  token: string
  email: string
  name: string
  password?: string | undefined
}

export interface LinkOptions {
  passwords: Pick<Passwords, 'hash'>
  /** Whether users sign in with passwords. */
  byPassword: boolean
}

export interface Redeemed {
  kind: 'invite' | 'reset'
  token: string
  password: string
  name?: string | undefined
}

const access = { caller: 'sign-in' } as const
const SETUP = 'setup'
const SETUP_MS = 24 * 3_600_000
const INVITE_MS = 7 * 24 * 3_600_000
const RESET_MS = 24 * 3_600_000
const OVER = new Date(0)

export function createLinks(storage: Storage, secret: string, { passwords, byPassword }: LinkOptions): Links {
  const run = <T>(work: (tx: Transaction) => Promise<T>) => storage.transaction(access, work)
  const setupToken = (createdAt: Date) =>
    createHmac('sha256', secret).update(`setup ${createdAt.toISOString()}`).digest('base64url')

  const look = (token: string): Promise<LinkView> =>
    run(async (tx) => {
      const [row] = await tx.list('signInLinks', { where: { tokenHash: hashOf(token) } })
      if (!row || row.expiresAt <= new Date()) throw invalid()
      const { kind, expiresAt } = row
      if (kind === 'setup' && (await someoneOperates(tx, byPassword))) throw invalid()
      if (row.userId === null) return { kind, expiresAt }
      const user = await tx.get('users', row.userId)
      if (!user || user.disabledAt !== null) throw invalid()
      return { kind, expiresAt, user }
    })

  const setupOnce = () =>
    run(async (tx) => {
      if (await someoneOperates(tx, byPassword)) return undefined
      const row = await tx.get('signInLinks', SETUP)
      const isGood = row && row.expiresAt > new Date() && row.tokenHash === hashOf(setupToken(row.createdAt))
      if (isGood) return { kind: row.kind, token: setupToken(row.createdAt), expiresAt: row.expiresAt }
      const createdAt = new Date()
      const token = setupToken(createdAt)
      const expiresAt = new Date(createdAt.getTime() + SETUP_MS)
      const fresh = { kind: 'setup' as const, tokenHash: hashOf(token), expiresAt, createdAt }
      if (!row) await tx.insert('signInLinks', { linkId: SETUP, userId: null, ...fresh })
      else if (!(await tx.update('signInLinks', SETUP, { set: fresh, where: { tokenHash: row.tokenHash } })))
        throw new HostError('conflict')
      return { kind: 'setup' as const, token, expiresAt }
    })

  return {
    // A concurrently starting process may create the row first.
    setup: () => setupOnce().catch((error) => (isConflict(error) ? setupOnce() : Promise.reject(error))),
    look,
    async setUp({ token, password, ...person }) {
      if ((await look(token)).kind !== 'setup') throw invalid()
      if (!byPassword) return run((tx) => nameOperator(tx, { tokenHash: hashOf(token), ...person }))
      if (password === undefined) throw noPassword()
      const passwordHash = await passwords.hash(password)
      return run((tx) => makeOperator(tx, { tokenHash: hashOf(token), passwordHash, ...person }))
    },
    async redeem({ kind, token, password, name }) {
      if ((await look(token)).kind !== kind) throw invalid()
      const passwordHash = await passwords.hash(password)
      return run((tx) => takeLink(tx, { kind, tokenHash: hashOf(token), passwordHash, name }))
    },
    make: (userId) => run((tx) => makeLink(tx, userId)),
  }
}

interface PasswordChoice {
  tokenHash: string
  passwordHash: string
}

async function makeOperator(
  tx: Transaction,
  input: PasswordChoice & { email: string; name: string },
): Promise<UserRow> {
  const { tokenHash, passwordHash, email, name } = input
  const [row] = await tx.list('signInLinks', { where: { linkId: SETUP, tokenHash } })
  if (!row || row.expiresAt <= new Date()) throw invalid()
  const where = { tokenHash, expiresAt: row.expiresAt }
  const taken = await tx.update('signInLinks', SETUP, { set: { expiresAt: OVER }, where })
  if (!taken || (await operatorsOf(tx)).length > 0) throw invalid()
  const user = newUser({ email, name, role: 'operator' })
  await tx.insert('users', user)
  await setPassword(tx, user.userId, passwordHash)
  return user
}

/** The link stays valid until the first sign-in, so that a mistyped email can be corrected. */
async function nameOperator(
  tx: Transaction,
  { tokenHash, email, name }: { tokenHash: string; email: string; name: string },
): Promise<UserRow> {
  const setupRow = await tx.update('signInLinks', SETUP, { set: { kind: 'setup' }, where: { tokenHash } })
  if (!setupRow || setupRow.expiresAt <= new Date() || (await someoneOperates(tx, false))) throw invalid()
  const user = newUser({ email, name, role: 'operator' })
  const [existing] = await tx.list('users', { where: { email: user.email } })
  // Deletes operators that were named before and never signed in; invited operators have their own link and stay.
  for (const { userId } of await operatorsOf(tx)) {
    const isInvited = (await tx.list('signInLinks', { where: { userId } })).length > 0
    if (userId !== existing?.userId && !isInvited) await tx.delete('users', userId)
  }
  if (!existing) {
    await tx.insert('users', user)
    return user
  }
  const set = { name, role: 'operator' as const, updatedAt: new Date() }
  const named = await tx.update('users', existing.userId, { set, where: { disabledAt: null } })
  if (!named) throw invalid()
  return named
}

type Taken = PasswordChoice & Pick<Redeemed, 'kind' | 'name'>

async function takeLink(tx: Transaction, { kind, tokenHash, passwordHash, name }: Taken): Promise<UserRow> {
  const [row] = await tx.list('signInLinks', { where: { tokenHash, kind } })
  if (!row?.userId || row.expiresAt <= new Date() || !(await tx.delete('signInLinks', row.linkId))) throw invalid()
  const set = { updatedAt: new Date(), ...(name === undefined ? {} : { name }) }
  const user = await tx.update('users', row.userId, { set, where: { disabledAt: null } })
  if (!user) throw invalid()
  await setPassword(tx, user.userId, passwordHash)
  await endSessions(tx, user.userId)
  return user
}

export async function makeLink(tx: Transaction, userId: string): Promise<MadeLink> {
  const [account] = await tx.list('accounts', { where: { userId, provider: 'credential' } })
  const kind = account ? ('reset' as const) : ('invite' as const)
  const token = randomBytes(32).toString('base64url')
  const createdAt = new Date()
  const expiresAt = new Date(createdAt.getTime() + (account ? RESET_MS : INVITE_MS))
  await endLinks(tx, userId)
  const link = { linkId: newId('signInLink'), kind, userId, tokenHash: hashOf(token), expiresAt, createdAt }
  await tx.insert('signInLinks', link)
  return { kind, token, expiresAt }
}

export async function endLinks(tx: Transaction, userId: string): Promise<void> {
  for (const { linkId } of await tx.list('signInLinks', { where: { userId } })) await tx.delete('signInLinks', linkId)
}

export async function endSessions(tx: Transaction, userId: string): Promise<void> {
  const rows = await tx.list('sessions', { where: { userId }, limit: 10_000 })
  for (const { sessionId } of rows) await tx.delete('sessions', sessionId)
}

export function operatorsOf(tx: Transaction): Promise<UserRow[]> {
  return tx.list('users', { where: { role: 'operator', disabledAt: null } })
}

/** With a provider, an operator counts only after their first sign-in. */
async function someoneOperates(tx: Transaction, byPassword: boolean): Promise<boolean> {
  const operators = await operatorsOf(tx)
  if (byPassword) return operators.length > 0
  for (const { userId } of operators)
    if ((await tx.list('accounts', { where: { userId }, limit: 1 })).length > 0) return true
  return false
}

/** Locks operator changes until the transaction ends. */
export async function lockOperators(tx: Transaction): Promise<void> {
  if (await tx.update('signInLinks', SETUP, { set: { kind: 'setup' } })) return
  const never = { kind: 'setup' as const, userId: null, tokenHash: SETUP, expiresAt: OVER, createdAt: new Date() }
  await tx.insert('signInLinks', { linkId: SETUP, ...never })
}

export function newUser({ email, name, role }: Pick<UserRow, 'email' | 'name' | 'role'>): UserRow {
  const now = new Date()
  return {
    userId: newId('user'),
    email: email.toLowerCase(),
    name,
    role,
    // The operator vouches for the email, so a provider sign-in with it links to this user.
    emailVerified: true,
    disabledAt: null,
    lastSignInAt: null,
    createdAt: now,
    updatedAt: now,
  }
}

async function setPassword(tx: Transaction, userId: string, passwordHash: string): Promise<void> {
  const updatedAt = new Date()
  const [account] = await tx.list('accounts', { where: { userId, provider: 'credential' } })
  if (account) await tx.update('accounts', account.accountId, { set: { passwordHash, updatedAt } })
  else
    await tx.insert('accounts', {
      accountId: newId('account'),
      userId,
      provider: 'credential',
      subject: userId,
      passwordHash,
      createdAt: updatedAt,
      updatedAt,
    })
}

const isConflict = (error: unknown) => HostError.is(error) && error.code === 'conflict'

const noPassword = () =>
  new HostError('invalid-input', {
    detail: 'password: is needed',
    errors: [{ path: 'password', message: 'is needed' }],
  })

const invalid = () =>
  new HostError('sign-in-link-invalid', {
    detail: 'This link is not good, or not any more.',
    action: 'Ask an operator for a new one: a link is good once, and for a while.',
  })
