/** What happened: audit, usage, workflows, runs and their steps. */
import { sql } from 'drizzle-orm'
import { bigint, check, foreignKey, index, integer, jsonb, text } from 'drizzle-orm/pg-core'
import type { Json } from '../../../schema/json.ts'
import { at, created, key, mcp, object, owner, uniqueOn, updated } from './columns.ts'

export const audit = mcp.table(
  'audit',
  {
    auditId: text('audit_id').notNull(),
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
  },
  (t) => [key('audit', [t.userId, t.auditId]), index('audit_at').on(t.userId, t.at)],
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
    check('usage_value_check', sql`${t.value} >= 0`),
  ],
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
    kind: text('kind', { enum: ['program', 'workflow'] }).notNull(),
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
  (t) => [key('runs', [t.userId, t.runId]), index('runs_status').on(t.status, t.leaseUntil)],
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
