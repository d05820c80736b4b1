/**
 * Definitions of all collections: row schema, ID, owner, unique keys, parent, and access of system callers. The
 * embedded drivers enforce this table directly; PostgreSQL and PGlite enforce it by keys, checks and row-level
 * security, and a test compares the two.
 */
import type { z } from 'zod'
import { appConfigRow } from '../schema/app-config.ts'
import { apiKeyRow } from '../schema/records/api-key.ts'
import { approvalRow } from '../schema/records/approval.ts'
import { auditHeadRow, auditRow } from '../schema/records/audit.ts'
import { concurrencyRow, processRow, removedUserRow, usageRow } from '../schema/records/bookkeeping.ts'
import { callRow } from '../schema/records/call.ts'
import { credentialRow } from '../schema/records/credential.ts'
import { messageRow } from '../schema/records/message.ts'
import { preferencesRow } from '../schema/records/preferences.ts'
import { resultChunkRow, resultRow } from '../schema/records/result.ts'
import { runRow, stepRow } from '../schema/records/run.ts'
import { threadRow } from '../schema/records/thread.ts'
import { accountRow, sessionRow, signInAttemptsRow, signInLinkRow, userRow } from '../schema/records/user.ts'
import { workflowRow, workflowVersionRow } from '../schema/records/workflow.ts'
import { activationRow } from '../schema/toolkit/activation.ts'
import {
  marketplaceServerRow,
  marketplaceToolRow,
  marketplaceVersionRow,
  personalCatalogRow,
  pinRow,
  userServerConfigRow,
  userServerToolRow,
} from '../schema/toolkit/catalog.ts'
import { grantRow, policyRuleRow } from '../schema/toolkit/policy.ts'
import { loadedToolRow, toolUseRow, toolVectorRow } from '../schema/toolkit/search.ts'
import { signInRow } from '../schema/toolkit/sign-in.ts'

interface CollectionSpec<R extends z.ZodObject = z.ZodObject> {
  row: R
  /** Field that identifies a row, together with its owner. */
  id: keyof z.infer<R> & string
  /** `user`: each row belongs to a user. `shared`: the same rows for everyone. `system`: for system callers only. */
  owner: 'user' | 'shared' | 'system'
  /** Operations that users may do on their own rows. `append` inserts and never changes. */
  userMay: 'write' | 'append' | 'read' | 'nothing'
  /** Whether every user may also read the app's rows. */
  appRows: boolean
  /** Unique per owner; without user rows, unique in the whole collection. */
  unique: ReadonlyArray<readonly (keyof z.infer<R> & string)[]>
  /** Rows are deleted with their parent, which has the same owner. */
  parent?: { collection: string; field: keyof z.infer<R> & string }
  /**
   * Field that `watch()` reports as the ID of a change; undefined if changes are not reported. A `system` row is
   * reported to the user that it names.
   */
  watch?: keyof z.infer<R> & string
}

const own = { owner: 'user', userMay: 'write', appRows: false, unique: [] } as const
const shared = { owner: 'shared', userMay: 'read', appRows: false, unique: [] } as const
const system = { owner: 'system', userMay: 'nothing', appRows: false, unique: [] } as const

export const COLLECTIONS = {
  servers: spec({ ...shared, row: marketplaceServerRow, id: 'serverId', unique: [['name']] }),
  serverVersions: spec({
    ...shared,
    row: marketplaceVersionRow,
    id: 'sverId',
    unique: [['serverId', 'version']],
    parent: { collection: 'servers', field: 'serverId' },
  }),
  tools: spec({
    ...shared,
    row: marketplaceToolRow,
    id: 'toolId',
    unique: [['sverId', 'name']],
    parent: { collection: 'serverVersions', field: 'sverId' },
  }),
  appConfig: spec({ ...shared, row: appConfigRow, id: 'configId', watch: 'configId' }),
  userServerConfigs: spec({
    ...own,
    row: userServerConfigRow,
    id: 'uscoId',
    appRows: true,
    unique: [['slug'], ['name']],
    watch: 'uscoId',
  }),
  userServerTools: spec({
    ...own,
    row: userServerToolRow,
    id: 'utoolId',
    userMay: 'read',
    appRows: true,
    unique: [['uscoId', 'name']],
    parent: { collection: 'userServerConfigs', field: 'uscoId' },
    watch: 'uscoId',
  }),
  pins: spec({
    ...own,
    row: pinRow,
    id: 'pinId',
    appRows: true,
    unique: [['uscoId', 'name']],
    parent: { collection: 'userServerConfigs', field: 'uscoId' },
    watch: 'uscoId',
  }),
  personalCatalogs: spec({
    ...own,
    row: personalCatalogRow,
    id: 'personalCatalogId',
    unique: [['uscoId']],
    watch: 'uscoId',
  }),
  preferences: spec({ ...own, row: preferencesRow, id: 'preferencesId', watch: 'preferencesId' }),
  threads: spec({ ...own, row: threadRow, id: 'threadId', watch: 'threadId' }),
  messages: spec({
    ...own,
    row: messageRow,
    id: 'messageId',
    unique: [['threadId', 'position']],
    parent: { collection: 'threads', field: 'threadId' },
  }),
  activations: spec({
    ...own,
    row: activationRow,
    id: 'activationId',
    appRows: true,
    unique: [['threadId', 'ref']],
    watch: 'threadId',
  }),
  loadedTools: spec({
    ...own,
    row: loadedToolRow,
    id: 'loadedToolId',
    unique: [['threadId', 'ref']],
    watch: 'threadId',
  }),
  toolUses: spec({ ...own, row: toolUseRow, id: 'toolUseId', unique: [['uscoId', 'tool']], watch: 'uscoId' }),
  toolVectors: spec({
    ...own,
    row: toolVectorRow,
    id: 'toolVectorId',
    appRows: true,
    unique: [['embedder', 'fingerprint']],
  }),
  policyRules: spec({ ...own, row: policyRuleRow, id: 'ruleId', appRows: true, watch: 'ruleId' }),
  credentials: spec({
    ...own,
    row: credentialRow,
    id: 'credentialId',
    unique: [['toolkit', 'field']],
    watch: 'toolkit',
  }),
  signIns: spec({ ...own, row: signInRow, id: 'signInId', unique: [['uscoId']], watch: 'uscoId' }),
  approvals: spec({ ...own, row: approvalRow, id: 'approvalId', watch: 'approvalId' }),
  grants: spec({ ...own, row: grantRow, id: 'grantId', watch: 'grantId' }),
  audit: spec({ ...own, row: auditRow, id: 'auditId', userMay: 'append', unique: [['entryId']], watch: 'userId' }),
  auditHeads: spec({ ...shared, row: auditHeadRow, id: 'headId' }),
  calls: spec({ ...own, row: callRow, id: 'callId', unique: [['dedupeKey']], watch: 'callId' }),
  results: spec({ ...own, row: resultRow, id: 'resultId', watch: 'resultId' }),
  resultChunks: spec({
    ...own,
    row: resultChunkRow,
    id: 'chunkId',
    unique: [['resultId', 'seq']],
    parent: { collection: 'results', field: 'resultId' },
  }),
  usage: spec({ ...own, row: usageRow, id: 'usageId', unique: [['subject', 'counter', 'windowStart']] }),
  places: spec({ ...own, row: concurrencyRow, id: 'placesId', unique: [['subject']] }),
  removedUsers: spec({ ...shared, row: removedUserRow, id: 'removalId', watch: 'removalId' }),
  processes: spec({ ...shared, row: processRow, id: 'processId' }),
  workflows: spec({ ...own, row: workflowRow, id: 'workflowId', unique: [['name']], watch: 'workflowId' }),
  workflowVersions: spec({
    ...own,
    row: workflowVersionRow,
    id: 'workflowVersionId',
    unique: [['workflowId', 'version']],
    parent: { collection: 'workflows', field: 'workflowId' },
  }),
  runs: spec({ ...own, row: runRow, id: 'runId', watch: 'runId' }),
  steps: spec({
    ...own,
    row: stepRow,
    id: 'stepId',
    unique: [['runId', 'seq']],
    parent: { collection: 'runs', field: 'runId' },
  }),
  apiKeys: spec({ ...own, row: apiKeyRow, id: 'keyId', watch: 'keyId' }),
  users: spec({ ...system, row: userRow, id: 'userId', unique: [['email']], watch: 'userId' }),
  accounts: spec({
    ...system,
    row: accountRow,
    id: 'accountId',
    unique: [['provider', 'subject']],
    parent: { collection: 'users', field: 'userId' },
  }),
  sessions: spec({
    ...system,
    row: sessionRow,
    id: 'sessionId',
    unique: [['tokenHash']],
    parent: { collection: 'users', field: 'userId' },
    watch: 'userId',
  }),
  signInLinks: spec({ ...system, row: signInLinkRow, id: 'linkId', unique: [['tokenHash']] }),
  signInAttempts: spec({ ...system, row: signInAttemptsRow, id: 'attemptsId' }),
}

export type Collection = keyof typeof COLLECTIONS
export type Row<C extends Collection> = z.infer<(typeof COLLECTIONS)[C]['row']>

export const COLLECTION_NAMES = Object.keys(COLLECTIONS) as Collection[]

/**
 * Access of system callers beyond one user's rows. The list is complete: the system database role has one policy for
 * each entry.
 */
export const SYSTEM_CALLERS = {
  /** Finds API keys and sessions, signs users in and out, and counts attempts. */
  'sign-in': {
    apiKeys: 'any',
    users: 'any',
    accounts: 'any',
    sessions: 'any',
    signInLinks: 'any',
    signInAttempts: 'any',
  },
  /** Writes discovered tools, which users may only read. */
  introspection: { userServerTools: 'named', userServerConfigs: 'named', pins: 'named' },
  /** Operators change the app's data. */
  'app-config': {
    appConfig: 'any',
    userServerConfigs: 'app',
    userServerTools: 'app',
    pins: 'app',
    activations: 'app',
    policyRules: 'app',
    credentials: 'app',
    audit: 'app',
  },
  /** Reads the app's credentials for shared connections. */
  'app-credentials': { credentials: 'app', signIns: 'app' },
  /** Finds the owner of a sign-in link. */
  'sign-in-callback': { signIns: 'any' },
  /** Rewraps all encrypted data with the current key. */
  'key-rotation': { credentials: 'any', approvals: 'any', runs: 'any' },
  /** Writes the audit log, which is one chain for all users, and erases removed users from it. */
  'audit-shipping': { audit: 'any', auditHeads: 'any', removedUsers: 'any' },
  /** Operators read the whole audit log. */
  'audit-reading': { audit: 'any', auditHeads: 'any' },
  /** Deletes expired rows of all users. */
  housekeeping: {
    approvals: 'any',
    calls: 'any',
    results: 'any',
    usage: 'any',
    places: 'any',
    processes: 'any',
    removedUsers: 'any',
    loadedTools: 'any',
    toolUses: 'any',
    toolVectors: 'any',
    runs: 'any',
    sessions: 'any',
    signInLinks: 'any',
    signInAttempts: 'any',
  },
  /** Stores vectors of the app's tools, which all users share. */
  embedding: { toolVectors: 'app' },
  /** Finds orphaned runs of all users. */
  'run-engine': { runs: 'any', processes: 'any' },
  /** Reports that a process is alive. */
  presence: { processes: 'any' },
  /** Operators create and revoke API keys of any user. */
  'key-admin': { apiKeys: 'any' },
  /** Operators invite, change, disable and remove users, with their accounts and sessions. */
  'user-admin': { users: 'any', accounts: 'any', sessions: 'any', signInLinks: 'any' },
} as const satisfies Record<string, Partial<Record<Collection, 'any' | 'named' | 'app'>>>

export type SystemCaller = keyof typeof SYSTEM_CALLERS
/** `any`: every row. `named`: rows of the user in the access. `app`: the app's rows. */
export type CallerAccess = 'any' | 'named' | 'app'

export function callerAccess(caller: SystemCaller, collection: Collection): CallerAccess | undefined {
  const reach: Partial<Record<Collection, CallerAccess>> = SYSTEM_CALLERS[caller]
  return reach[collection]
}

/** Returns the definition without its row type, for generic code. */
export function specOf(collection: Collection): CollectionSpec {
  return COLLECTIONS[collection] as unknown as CollectionSpec
}

function spec<R extends z.ZodObject>(value: CollectionSpec<R>): CollectionSpec<R> {
  return value
}
