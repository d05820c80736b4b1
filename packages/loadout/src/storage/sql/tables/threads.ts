/** Tables of a user's choices: preferences, threads, activations, rules, approvals, grants, API keys. */
import { boolean, foreignKey, index, integer, jsonb, text } from 'drizzle-orm/pg-core'
import type { KeyScope } from '../../../schema/principal.ts'
import type { Envelope } from '../../../schema/records/credential.ts'
import type { Preferences } from '../../../schema/records/preferences.ts'
import type { Caller } from '../../../schema/toolkit/tool.ts'
import { at, created, key, mcp, object, owner, uniqueOn, updated } from './columns.ts'

export const preferencesTable = mcp.table(
  'preferences',
  {
    preferencesId: text('preferences_id').notNull(),
    userId: owner(),
    valueJson: jsonb('value_json').$type<Preferences>().notNull(),
    updatedAt: updated(),
  },
  (t) => [key('preferences', [t.userId, t.preferencesId])],
)

export const threads = mcp.table(
  'threads',
  {
    threadId: text('thread_id').notNull(),
    userId: owner(),
    title: text('title').notNull(),
    settingsJson: object('settings_json').notNull(),
    createdAt: created(),
    updatedAt: updated(),
  },
  (t) => [key('threads', [t.userId, t.threadId])],
)

export const messages = mcp.table(
  'messages',
  {
    messageId: text('message_id').notNull(),
    userId: owner(),
    threadId: text('thread_id').notNull(),
    position: integer('position').notNull(),
    role: text('role', { enum: ['user', 'assistant', 'system'] }).notNull(),
    contentJson: object('content_json').notNull(),
    createdAt: created(),
  },
  (t) => [
    key('messages', [t.userId, t.messageId]),
    uniqueOn('messages', [t.userId, t.threadId, t.position]),
    index('messages_thread').on(t.userId, t.threadId, t.messageId),
    foreignKey({
      name: 'messages_thread_fkey',
      columns: [t.userId, t.threadId],
      foreignColumns: [threads.userId, threads.threadId],
    }).onDelete('cascade'),
  ],
)

export const activations = mcp.table(
  'activations',
  {
    activationId: text('activation_id').notNull(),
    userId: owner(),
    tier: text('tier', { enum: ['app', 'user', 'thread', 'call'] }).notNull(),
    threadId: text('thread_id').notNull().default(''),
    ref: text('ref').notNull(),
    on: boolean('is_on').notNull(),
    createdAt: created(),
  },
  (t) => [key('activations', [t.userId, t.activationId]), uniqueOn('activations', [t.userId, t.threadId, t.ref])],
)

export const policyRulesTable = mcp.table(
  'policy_rules',
  {
    ruleId: text('rule_id').notNull(),
    userId: owner(),
    tier: text('tier', { enum: ['app', 'user', 'thread', 'call'] }).notNull(),
    threadId: text('thread_id').notNull().default(''),
    position: integer('position').notNull(),
    ruleJson: object('rule_json').notNull(),
    createdAt: created(),
  },
  (t) => [key('policy_rules', [t.userId, t.ruleId]), index('policy_rules_thread').on(t.userId, t.threadId)],
)

export const approvals = mcp.table(
  'approvals',
  {
    approvalId: text('approval_id').notNull(),
    userId: owner(),
    threadId: text('thread_id'),
    runId: text('run_id'),
    callId: text('call_id').notNull(),
    processId: text('process_id').notNull().default(''),
    ref: text('ref').notNull(),
    argumentsJson: object('arguments_json').notNull(),
    reason: text('reason').notNull(),
    callerJson: jsonb('caller_json').$type<Caller>().notNull(),
    status: text('status', { enum: ['pending', 'allowed', 'denied', 'expired'] }).notNull(),
    answeredBy: text('answered_by'),
    answeredAt: at('answered_at'),
    answerJson: object('answer_json'),
    sealedJson: jsonb('sealed_json').$type<Envelope>(),
    fingerprintsJson: jsonb('fingerprints_json').$type<{ tool: string; toolkit: string }>().notNull(),
    allowEdits: boolean('allow_edits').notNull(),
    allowRemember: boolean('allow_remember').notNull(),
    expiresAt: at('expires_at').notNull(),
    createdAt: created(),
  },
  (t) => [
    key('approvals', [t.userId, t.approvalId]),
    index('approvals_status').on(t.userId, t.status),
    index('approvals_expires').on(t.expiresAt),
  ],
)

export const grants = mcp.table(
  'grants',
  {
    grantId: text('grant_id').notNull(),
    userId: owner(),
    threadId: text('thread_id').notNull().default(''),
    target: text('target', { enum: ['tool', 'toolkit'] }).notNull(),
    ref: text('ref').notNull(),
    decision: text('decision', { enum: ['allow', 'deny'] }).notNull(),
    fingerprint: text('fingerprint').notNull(),
    createdAt: created(),
    revokedAt: at('revoked_at'),
  },
  (t) => [key('grants', [t.userId, t.grantId]), index('grants_ref').on(t.userId, t.ref)],
)

export const apiKeys = mcp.table(
  'api_keys',
  {
    keyId: text('key_id').notNull(),
    userId: owner(),
    name: text('name').notNull(),
    hash: text('hash').notNull(),
    hint: text('hint').notNull(),
    role: text('role', { enum: ['user', 'operator'] }).notNull(),
    scopesJson: jsonb('scopes_json').$type<KeyScope[]>().notNull(),
    createdAt: created(),
    lastUsedAt: at('last_used_at'),
    expiresAt: at('expires_at'),
    revokedAt: at('revoked_at'),
  },
  (t) => [key('api_keys', [t.userId, t.keyId]), index('api_keys_hash').on(t.hash)],
)
