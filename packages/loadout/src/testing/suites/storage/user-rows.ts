/** Valid rows of users and sign-ins for storage tests, with overrides. */
import { newId } from '../../../schema/ids.ts'
import type { Row } from '../../../storage/storage.ts'

const now = () => new Date()
const soon = () => new Date(Date.now() + 60_000)

export function sampleUserRow(userId: string, overrides: Partial<Row<'users'>> = {}): Row<'users'> {
  return {
    userId,
    email: `${userId}@example.com`,
    name: userId,
    role: 'user',
    emailVerified: true,
    disabledAt: null,
    lastSignInAt: null,
    createdAt: now(),
    updatedAt: now(),
    ...overrides,
  }
}

export function sampleAccountRow(userId: string, overrides: Partial<Row<'accounts'>> = {}): Row<'accounts'> {
  return {
    accountId: newId('account'),
    userId,
    provider: 'credential',
    subject: userId,
    passwordHash: 'h',
    createdAt: now(),
    updatedAt: now(),
    ...overrides,
  }
}

export function sampleSessionRow(userId: string, overrides: Partial<Row<'sessions'>> = {}): Row<'sessions'> {
  return {
    sessionId: newId('session'),
    userId,
    tokenHash: newId('session'),
    expiresAt: soon(),
    address: null,
    userAgent: null,
    createdAt: now(),
    updatedAt: now(),
    ...overrides,
  }
}

export function sampleSignInLinkRow(
  userId: string | null,
  overrides: Partial<Row<'signInLinks'>> = {},
): Row<'signInLinks'> {
  return {
    linkId: newId('signInLink'),
    kind: 'invite',
    userId,
    tokenHash: newId('signInLink'),
    expiresAt: soon(),
    createdAt: now(),
    ...overrides,
  }
}
