import { z } from 'zod'
import { userId } from '../ids.ts'
import { role } from '../principal.ts'

/**
 * A user who can sign in. Rows of other collections refer to the same id; apps with their own user management have
 * none.
 */
export const userRow = z.strictObject({
  userId,
  /** Lowercase, so that an email address has one account. */
  email: z.string().max(320),
  name: z.string().max(200),
  role,
  emailVerified: z.boolean(),
  disabledAt: z.date().nullable(),
  lastSignInAt: z.date().nullable(),
  createdAt: z.date(),
  updatedAt: z.date(),
})
export type UserRow = z.infer<typeof userRow>

/** A sign-in method: a password, or an identity at a provider. Provider tokens are not stored. */
export const accountRow = z.strictObject({
  accountId: z.string(),
  userId,
  /** `credential` is a password. */
  provider: z.string(),
  /** Identity at the provider; for a password, the user id. */
  subject: z.string().max(1000),
  passwordHash: z.string().nullable(),
  createdAt: z.date(),
  updatedAt: z.date(),
})
export type AccountRow = z.infer<typeof accountRow>

/** A browser session. The cookie has the token; the row has its hash. */
export const sessionRow = z.strictObject({
  sessionId: z.string(),
  userId,
  tokenHash: z.string(),
  expiresAt: z.date(),
  address: z.string().nullable(),
  userAgent: z.string().nullable(),
  createdAt: z.date(),
  updatedAt: z.date(),
})
export type SessionRow = z.infer<typeof sessionRow>

/** A one-time sign-in link: setup of the first operator, invitation or password reset. */
export const signInLinkRow = z.strictObject({
  linkId: z.string(),
  kind: z.enum(['setup', 'invite', 'reset']),
  /** Null for the setup link of the first operator. */
  userId: userId.nullable(),
  tokenHash: z.string(),
  expiresAt: z.date(),
  createdAt: z.date(),
})
export type SignInLinkRow = z.infer<typeof signInLinkRow>

/** Recent sign-in attempts. The id is a hash of the account or the address. */
export const signInAttemptsRow = z.strictObject({
  attemptsId: z.string(),
  count: z.number().int(),
  endsAt: z.date(),
})
export type SignInAttemptsRow = z.infer<typeof signInAttemptsRow>
