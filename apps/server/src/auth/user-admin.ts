/**
 * User administration for operators. The last operator cannot be removed; the check runs under the operator lock.
 * Disabling a user ends their sessions before the response is sent.
 */
import { HostError, type Storage } from '@loadout/core'
import type { UserRow } from '@loadout/core/schema'
import type { Transaction } from '@loadout/core/services'
import { endLinks, endSessions, lockOperators, type MadeLink, makeLink, newUser, operatorsOf } from './sign-in-links.ts'

export interface UserWithMethods extends UserRow {
  methods: Array<'password' | 'oidc'>
}

export interface PersonPatch {
  name?: string | undefined
  operator?: boolean | undefined
  disabled?: boolean | undefined
}

export interface UserAdmin {
  list(page: { after?: string | undefined; limit: number }): Promise<UserWithMethods[]>
  find(userId: string): Promise<UserRow | undefined>
  /** Throws `conflict` if the email is taken. */
  invite(input: {
    email: string
    name: string
    operator: boolean
  }): Promise<{ person: UserWithMethods; link: MadeLink }>
  change(userId: string, patch: PersonPatch): Promise<UserWithMethods>
  makeLink(userId: string): Promise<MadeLink>
  signOut(userId: string): Promise<void>
  /** Demotes a user before removal; throws `conflict` for the last operator. */
  stopOperating(userId: string): Promise<void>
}

export function createUserAdmin(storage: Storage): UserAdmin {
  const run = <T>(work: (tx: Transaction) => Promise<T>) => storage.transaction({ caller: 'user-admin' }, work)
  return {
    list: ({ after, limit }) =>
      run(async (tx) => {
        const rows = await tx.list('users', { limit, ...(after === undefined ? {} : { after }) })
        const people: UserWithMethods[] = []
        for (const row of rows) people.push(await withMethods(tx, row))
        return people
      }),
    find: (userId) => run((tx) => tx.get('users', userId)),
    invite: ({ email, name, operator }) =>
      run(async (tx) => {
        const user = newUser({ email, name, role: operator ? 'operator' : 'user' })
        const [taken] = await tx.list('users', { where: { email: user.email } })
        if (taken) throw emailTaken()
        await tx.insert('users', user)
        return { person: { ...user, methods: [] }, link: await makeLink(tx, user.userId) }
      }).catch((error) => {
        throw HostError.is(error) && error.code === 'conflict' ? emailTaken() : error
      }),
    change: (userId, patch) =>
      run(async (tx) => {
        const before = await requireUser(tx, userId)
        if (patch.operator === false || patch.disabled === true) await assertNotLast(tx, before)
        const user = await tx.update('users', userId, { set: changesOf(before, patch) })
        if (!user) throw noSuchUser()
        if (patch.disabled === true) {
          await endSessions(tx, userId)
          await endLinks(tx, userId)
        }
        return withMethods(tx, user)
      }),
    makeLink: (userId) =>
      run(async (tx) => {
        const { disabledAt } = await requireUser(tx, userId)
        if (disabledAt !== null) throw new HostError('conflict', { detail: 'The user is disabled.', action: ENABLE })
        return makeLink(tx, userId)
      }),
    signOut: (userId) =>
      run(async (tx) => {
        await requireUser(tx, userId)
        await endSessions(tx, userId)
      }),
    stopOperating: (userId) =>
      run(async (tx) => {
        const user = await tx.get('users', userId)
        if (!user) return
        await assertNotLast(tx, user)
        await tx.update('users', userId, { set: { role: 'user' } })
      }),
  }
}

const ENABLE = 'Enable the user first.'

function changesOf(before: UserRow, { name, operator, disabled }: PersonPatch): Partial<UserRow> {
  const now = new Date()
  return {
    updatedAt: now,
    ...(name === undefined ? {} : { name }),
    ...(operator === undefined ? {} : { role: operator ? 'operator' : 'user' }),
    ...(disabled === undefined ? {} : { disabledAt: disabled ? (before.disabledAt ?? now) : null }),
  }
}

async function assertNotLast(tx: Transaction, user: UserRow): Promise<void> {
  await lockOperators(tx)
  const others = (await operatorsOf(tx)).filter(({ userId }) => userId !== user.userId)
  if (user.role !== 'operator' || user.disabledAt !== null || others.length > 0) return
  throw new HostError('conflict', {
    detail: 'Nobody else operates this server.',
    action: 'Make another user an operator first.',
  })
}

async function requireUser(tx: Transaction, userId: string): Promise<UserRow> {
  const user = await tx.get('users', userId)
  if (!user) throw noSuchUser()
  return user
}

async function withMethods(tx: Transaction, user: UserRow): Promise<UserWithMethods> {
  const accounts = await tx.list('accounts', { where: { userId: user.userId } })
  const methods = new Set(accounts.map(({ provider }) => (provider === 'credential' ? 'password' : 'oidc')))
  return { ...user, methods: [...methods] as UserWithMethods['methods'] }
}

const noSuchUser = () => new HostError('not-found', { detail: 'There is no such user.' })

const emailTaken = () =>
  new HostError('conflict', {
    detail: 'Another user has this email.',
    action: 'Choose another email, or change that user.',
    errors: [{ path: 'email', message: 'is already taken' }],
  })
