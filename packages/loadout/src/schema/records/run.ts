import { z } from 'zod'
import { userId } from '../ids.ts'
import { json, jsonObject } from '../json.ts'
import { workflowDefinition } from './workflow.ts'

export const RUN_STATUSES = [
  'queued',
  'running',
  'paused',
  'completed',
  'failed',
  'cancelled',
  'outcome-unknown',
] as const
export const runStatus = z.enum(RUN_STATUSES)

/** One durable execution of a program, a workflow or a chat answer. */
export const runRow = z.strictObject({
  runId: z.string(),
  userId,
  kind: z.enum(['program', 'workflow', 'answer']),
  threadId: z.string().nullable(),
  workflowVersionId: z.string().nullable(),
  status: runStatus,
  inputJson: jsonObject,
  outputJson: json.nullable(),
  errorJson: jsonObject.nullable(),
  leaseOwner: z.string().nullable(),
  leaseUntil: z.date().nullable(),
  createdAt: z.date(),
  updatedAt: z.date(),
})
export type RunRow = z.infer<typeof runRow>

/** One step of a run's log. `seq` orders steps; `key` identifies a step on replay. */
export const stepRow = z.strictObject({
  stepId: z.string(),
  userId,
  runId: z.string(),
  seq: z.number().int().min(0),
  key: z.string(),
  kind: z.string(),
  status: z.enum(['started', 'completed', 'failed', 'paused', 'outcome-unknown']),
  requestJson: json.nullable(),
  resultJson: json.nullable(),
  startedAt: z.date(),
  endedAt: z.date().nullable(),
})
export type StepRow = z.infer<typeof stepRow>

const runToolkits = z.object({
  failedToolkits: z.array(z.object({ id: z.string(), reason: z.string() }).loose()).optional(),
  droppedToolkits: z.array(z.string()).optional(),
  warnings: z.array(z.string()).optional(),
})
/** Toolkits of a run that failed or were dropped. */
export type RunToolkits = z.infer<typeof runToolkits>

/** Run in the API. */
export const runView = z.object({
  id: z.string(),
  kind: runRow.shape.kind,
  status: runStatus,
  threadId: z.string().optional(),
  workflowVersionId: z.string().optional(),
  /** Workflow of the run; without an id when the workflow was not stored. */
  workflow: z.object({ name: z.string(), id: z.string().optional(), version: z.number().int().optional() }).optional(),
  /** Input without secrets, and the executed definition. Absent in lists. */
  input: json.optional(),
  definition: workflowDefinition.optional(),
  program: z.string().optional(),
  /** Output of a completed run. */
  output: json.optional(),
  error: z.object({ code: z.string(), message: z.string(), action: z.string().optional() }).loose().optional(),
  logs: z.array(z.object({ level: z.string(), text: z.string() })),
  usage: jsonObject.optional(),
  /** Finished and total items per started map node. Absent in lists. */
  progress: z.record(z.string(), z.object({ done: z.number().int(), total: z.number().int() })).optional(),
  ...runToolkits.shape,
  steps: z.array(
    z.object({
      id: z.string(),
      seq: z.number(),
      kind: z.string(),
      /**
       * Position in the workflow: `each[3]@2` is the second attempt for the fourth item of `each`, `program/0` is
       * nested.
       */
      place: z.string().optional(),
      /** The tool and its arguments without secrets. */
      request: json,
      status: stepRow.shape.status,
      /** Step output. A long output is the beginning of its JSON, with `cut` set. */
      output: json.optional(),
      cut: z.literal(true).optional(),
      error: z.object({ code: z.string(), message: z.string(), action: z.string().optional() }).optional(),
      /** Approval request that the step waits for. */
      approvalId: z.string().optional(),
      startedAt: z.iso.datetime(),
      endedAt: z.iso.datetime().optional(),
    }),
  ),
  /** Pending approval requests. Empty in lists. */
  pending: z.array(z.object({ id: z.string(), ref: z.string() })),
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
})
export type RunView = z.infer<typeof runView>
