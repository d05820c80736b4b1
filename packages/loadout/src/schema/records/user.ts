import { z } from 'zod'
import { userId } from '../ids.ts'
import { role } from '../principal.ts'

/** Somebody who can sign in. What is theirs elsewhere carries the same id; an app with users of its own has none of these. */
export const userRow = z.strictObject({
  userId,
  /** In small letters: one person, however they write it. */
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

/** A way in: a password, or who somebody is at a provider. Tokens of providers are not kept. */
export const accountRow = z.strictObject({
  accountId: z.string(),
  userId,
  /** `credential` is a password. */
  provider: z.string(),
  /** Who they are there; with a password, the user's own id. */
  subject: z.string().max(1000),
  passwordHash: z.string().nullable(),
  createdAt: z.date(),
  updatedAt: z.date(),
})
export type AccountRow = z.infer<typeof accountRow>

/** A browser that is signed in. The token is in its cookie; what is stored is the token's hash. */
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

/** A link that lets somebody in once: the first operator, somebody invited, somebody who forgot. */
export const signInLinkRow = z.strictObject({
  linkId: z.string(),
  kind: z.enum(['setup', 'invite', 'reset']),
  /** Null for the link that makes the first operator. */
  userId: userId.nullable(),
  tokenHash: z.string(),
  expiresAt: z.date(),
  createdAt: z.date(),
})
export type SignInLinkRow = z.infer<typeof signInLinkRow>

/** How often somebody tried to come in lately; the id says by a hash whose account or which address it is about. */
export const signInAttemptsRow = z.strictObject({
  attemptsId: z.string(),
  count: z.number().int(),
  endsAt: z.date(),
})
export type SignInAttemptsRow = z.infer<typeof signInAttemptsRow>
