/** Tables of users, their sign-in methods and sessions. Only system callers read them. */
import { boolean, foreignKey, index, integer, text } from 'drizzle-orm/pg-core'
import { at, created, key, mcp, uniqueOn, updated } from './columns.ts'

export const users = mcp.table(
  'users',
  {
    userId: text('user_id').notNull(),
    email: text('email').notNull(),
    name: text('name').notNull(),
    role: text('role', { enum: ['user', 'operator'] }).notNull(),
    emailVerified: boolean('email_verified').notNull(),
    disabledAt: at('disabled_at'),
    lastSignInAt: at('last_sign_in_at'),
    createdAt: created(),
    updatedAt: updated(),
  },
  (t) => [key('users', [t.userId]), uniqueOn('users', [t.email])],
)

export const accounts = mcp.table(
  'accounts',
  {
    accountId: text('account_id').notNull(),
    userId: text('user_id').notNull(),
    provider: text('provider').notNull(),
    subject: text('subject').notNull(),
    passwordHash: text('password_hash'),
    createdAt: created(),
    updatedAt: updated(),
  },
  (t) => [
    key('accounts', [t.accountId]),
    uniqueOn('accounts', [t.provider, t.subject]),
    index('accounts_user').on(t.userId),
    foreignKey({ name: 'accounts_user_fkey', columns: [t.userId], foreignColumns: [users.userId] }).onDelete('cascade'),
  ],
)

export const sessions = mcp.table(
  'sessions',
  {
    sessionId: text('session_id').notNull(),
    userId: text('user_id').notNull(),
    tokenHash: text('token_hash').notNull(),
    expiresAt: at('expires_at').notNull(),
    address: text('address'),
    userAgent: text('user_agent'),
    createdAt: created(),
    updatedAt: updated(),
  },
  (t) => [
    key('sessions', [t.sessionId]),
    uniqueOn('sessions', [t.tokenHash]),
    index('sessions_user').on(t.userId),
    index('sessions_ends').on(t.expiresAt),
    foreignKey({ name: 'sessions_user_fkey', columns: [t.userId], foreignColumns: [users.userId] }).onDelete('cascade'),
  ],
)

export const signInLinks = mcp.table(
  'sign_in_links',
  {
    linkId: text('link_id').notNull(),
    kind: text('kind', { enum: ['setup', 'invite', 'reset'] }).notNull(),
    userId: text('user_id'),
    tokenHash: text('token_hash').notNull(),
    expiresAt: at('expires_at').notNull(),
    createdAt: created(),
  },
  (t) => [
    key('sign_in_links', [t.linkId]),
    uniqueOn('sign_in_links', [t.tokenHash]),
    index('sign_in_links_user').on(t.userId),
  ],
)

export const signInAttempts = mcp.table(
  'sign_in_attempts',
  {
    attemptsId: text('attempts_id').notNull(),
    count: integer('count').notNull(),
    endsAt: at('ends_at').notNull(),
  },
  (t) => [key('sign_in_attempts', [t.attemptsId]), index('sign_in_attempts_ends').on(t.endsAt)],
)
