/** Tables of activity: audit, calls, results, usage, processes, workflows, runs and steps. */
import { sql } from 'drizzle-orm'
import { bigint, boolean, check, foreignKey, index, integer, jsonb, text } from 'drizzle-orm/pg-core'
import type { Json } from '../../../schema/json.ts'
import { CALL_STATUSES } from '../../../schema/records/call.ts'
import type { ResultSection } from '../../../schema/records/result.ts'
import { at, created, key, mcp, object, owner, uniqueOn, updated } from './columns.ts'

export const audit = mcp.table(
  'audit',
  {
    auditId: text('audit_id').notNull(),
    entryId: text('entry_id').notNull(),
    userId: owner(),
    at: at('at').notNull().defaultNow(),
    action: text('action').notNull(),
    source: text('source').notNull(),
    threadId: text('thread_id'),
    runId: text('run_id'),
    callId: text('call_id'),
    ref: text('ref'),
    outcome: text('outcome'),
    detailJson: object('detail_json').notNull(),
    prevHash: text('prev_hash').notNull(),
    contentHash: text('content_hash').notNull(),
    salt: text('salt'),
    hash: text('hash').notNull(),
  },
  (t) => [
    key('audit', [t.userId, t.auditId]),
    uniqueOn('audit', [t.userId, t.entryId]),
    index('audit_at').on(t.userId, t.at),
    // Operators read the whole chain in order.
    index('audit_chain').on(t.auditId),
  ],
)

export const auditHeads = mcp.table(
  'audit_heads',
  {
    headId: text('head_id', { enum: ['head', 'anchor'] }).notNull(),
    seq: bigint('seq', { mode: 'number' }).notNull(),
    hash: text('hash').notNull(),
    updatedAt: updated(),
  },
  (t) => [key('audit_heads', [t.headId])],
)

export const calls = mcp.table(
  'calls',
  {
    callId: text('call_id').notNull(),
    userId: owner(),
    threadId: text('thread_id'),
    runId: text('run_id'),
    ref: text('ref').notNull(),
    dedupeKey: text('dedupe_key').notNull(),
    requestHash: text('request_hash').notNull(),
    status: text('status', { enum: CALL_STATUSES }).notNull(),
    outcomeJson: object('outcome_json'),
    approvalId: text('approval_id'),
    processId: text('process_id').notNull().default(''),
    createdAt: created(),
    finishedAt: at('finished_at'),
    expiresAt: at('expires_at').notNull(),
  },
  (t) => [
    key('calls', [t.userId, t.callId]),
    uniqueOn('calls', [t.userId, t.dedupeKey]),
    index('calls_expires').on(t.expiresAt),
  ],
)

export const results = mcp.table(
  'results',
  {
    resultId: text('result_id').notNull(),
    userId: owner(),
    callId: text('call_id').notNull(),
    ref: text('ref').notNull(),
    bytes: bigint('bytes', { mode: 'number' }).notNull(),
    characters: bigint('characters', { mode: 'number' }).notNull(),
    lines: integer('lines').notNull(),
    chunks: integer('chunks').notNull(),
    isJson: boolean('is_json').notNull(),
    sectionsJson: jsonb('sections_json').$type<ResultSection[]>().notNull().default([]),
    expiresAt: at('expires_at').notNull(),
    createdAt: created(),
  },
  (t) => [key('results', [t.userId, t.resultId]), index('results_expires').on(t.expiresAt)],
)

export const resultChunks = mcp.table(
  'result_chunks',
  {
    chunkId: text('chunk_id').notNull(),
    userId: owner(),
    resultId: text('result_id').notNull(),
    seq: integer('seq').notNull(),
    firstCharacter: bigint('first_character', { mode: 'number' }).notNull(),
    firstLine: integer('first_line').notNull(),
    text: text('text').notNull(),
  },
  (t) => [
    key('result_chunks', [t.userId, t.chunkId]),
    uniqueOn('result_chunks', [t.userId, t.resultId, t.seq]),
    foreignKey({
      name: 'result_chunks_result_fkey',
      columns: [t.userId, t.resultId],
      foreignColumns: [results.userId, results.resultId],
    }).onDelete('cascade'),
  ],
)

export const usage = mcp.table(
  'usage',
  {
    usageId: text('usage_id').notNull(),
    userId: owner(),
    subject: text('subject').notNull(),
    counter: text('counter', { enum: ['calls', 'tokens', 'errors'] }).notNull(),
    windowStart: at('window_start').notNull(),
    value: bigint('value', { mode: 'number' }).notNull(),
  },
  (t) => [
    key('usage', [t.userId, t.usageId]),
    uniqueOn('usage', [t.userId, t.subject, t.counter, t.windowStart]),
    index('usage_window').on(t.windowStart),
    check('usage_value_check', sql`${t.value} >= 0`),
  ],
)

export const places = mcp.table(
  'places',
  {
    placesId: text('places_id').notNull(),
    userId: owner(),
    subject: text('subject').notNull(),
    holdersJson: jsonb('holders_json').$type<Record<string, number>>().notNull(),
    version: bigint('version', { mode: 'number' }).notNull(),
    updatedAt: updated(),
  },
  (t) => [
    key('places', [t.userId, t.placesId]),
    uniqueOn('places', [t.userId, t.subject]),
    index('places_updated').on(t.updatedAt),
  ],
)

export const removedUsers = mcp.table(
  'removed_users',
  { removalId: text('removal_id').notNull(), removedAt: at('removed_at').notNull() },
  (t) => [key('removed_users', [t.removalId]), index('removed_users_at').on(t.removedAt)],
)

export const processes = mcp.table(
  'processes',
  {
    processId: text('process_id').notNull(),
    startedAt: at('started_at').notNull(),
    aliveUntil: at('alive_until').notNull(),
  },
  (t) => [key('processes', [t.processId])],
)

export const workflows = mcp.table(
  'workflows',
  {
    workflowId: text('workflow_id').notNull(),
    userId: owner(),
    name: text('name').notNull(),
    createdAt: created(),
    updatedAt: updated(),
  },
  (t) => [key('workflows', [t.userId, t.workflowId]), uniqueOn('workflows', [t.userId, t.name])],
)

export const workflowVersions = mcp.table(
  'workflow_versions',
  {
    workflowVersionId: text('workflow_version_id').notNull(),
    userId: owner(),
    workflowId: text('workflow_id').notNull(),
    version: integer('version').notNull(),
    definitionJson: object('definition_json').notNull(),
    createdAt: created(),
  },
  (t) => [
    key('workflow_versions', [t.userId, t.workflowVersionId]),
    uniqueOn('workflow_versions', [t.userId, t.workflowId, t.version]),
    foreignKey({
      name: 'workflow_versions_workflow',
      columns: [t.userId, t.workflowId],
      foreignColumns: [workflows.userId, workflows.workflowId],
    }).onDelete('cascade'),
  ],
)

export const runs = mcp.table(
  'runs',
  {
    runId: text('run_id').notNull(),
    userId: owner(),
    kind: text('kind', { enum: ['program', 'workflow', 'answer'] }).notNull(),
    threadId: text('thread_id'),
    workflowVersionId: text('workflow_version_id'),
    status: text('status', {
      enum: ['queued', 'running', 'paused', 'completed', 'failed', 'cancelled', 'outcome-unknown'],
    }).notNull(),
    inputJson: object('input_json').notNull(),
    outputJson: jsonb('output_json').$type<Json>(),
    errorJson: object('error_json'),
    leaseOwner: text('lease_owner'),
    leaseUntil: at('lease_until'),
    createdAt: created(),
    updatedAt: updated(),
  },
  (t) => [
    key('runs', [t.userId, t.runId]),
    index('runs_status').on(t.status, t.leaseUntil),
    index('runs_updated').on(t.updatedAt),
  ],
)

export const steps = mcp.table(
  'steps',
  {
    stepId: text('step_id').notNull(),
    userId: owner(),
    runId: text('run_id').notNull(),
    seq: integer('seq').notNull(),
    key: text('key').notNull(),
    kind: text('kind').notNull(),
    status: text('status', { enum: ['started', 'completed', 'failed', 'paused', 'outcome-unknown'] }).notNull(),
    requestJson: jsonb('request_json').$type<Json>(),
    resultJson: jsonb('result_json').$type<Json>(),
    startedAt: at('started_at').notNull(),
    endedAt: at('ended_at'),
  },
  (t) => [
    key('steps', [t.userId, t.stepId]),
    uniqueOn('steps', [t.userId, t.runId, t.seq]),
    foreignKey({
      name: 'steps_run',
      columns: [t.userId, t.runId],
      foreignColumns: [runs.userId, runs.runId],
    }).onDelete('cascade'),
  ],
)
