import { z } from 'zod'
import { userId } from '../ids.ts'
import { jsonObject } from '../json.ts'
import { caller } from '../toolkit/tool.ts'
import { envelope } from './credential.ts'

export const approvalStatus = z.enum(['pending', 'allowed', 'denied', 'expired'])

/** A stored approval request with its answer. Arguments are redacted before they are stored. */
export const approvalRow = z.strictObject({
  approvalId: z.string(),
  userId,
  threadId: z.string().nullable(),
  runId: z.string().nullable(),
  callId: z.string(),
  /** Process where the call waits. When it is gone, an answer has no effect. */
  processId: z.string(),
  ref: z.string(),
  argumentsJson: jsonObject,
  reason: z.string(),
  callerJson: caller,
  status: approvalStatus,
  answeredBy: z.string().nullable(),
  answeredAt: z.date().nullable(),
  answerJson: jsonObject.nullable(),
  /** Encrypted arguments: the original until the answer, then the edited ones until the call reads them. */
  sealedJson: envelope.nullable(),
  /** Whether the answer may edit the arguments, as set by the rule. */
  allowEdits: z.boolean(),
  /** Fingerprints of the tool and toolkit; a grant is valid only for these. */
  fingerprintsJson: z.strictObject({ tool: z.string(), toolkit: z.string() }),
  /** Whether the answer may be saved as a grant. */
  allowRemember: z.boolean(),
  expiresAt: z.date(),
  createdAt: z.date(),
})
export type ApprovalRow = z.infer<typeof approvalRow>

export const approvalView = z.object({
  id: z.string(),
  status: approvalStatus,
  ref: z.string(),
  arguments: jsonObject,
  reason: z.string(),
  caller,
  expiresAt: z.iso.datetime(),
  createdAt: z.iso.datetime(),
  callId: z.string(),
  threadId: z.string().optional(),
  /** Run that requested the approval. */
  runId: z.string().optional(),
  answeredAt: z.iso.datetime().optional(),
  /** Scope of the saved grant, when the answer applies to more than this call. */
  remembered: z.enum(['thread', 'tool', 'toolkit']).optional(),
  /** Whether the answer may edit the arguments, and whether it may be saved as a grant. */
  allowEdits: z.boolean(),
  allowRemember: z.boolean(),
})
export type ApprovalView = z.infer<typeof approvalView>

export const approvalAnswer = z.strictObject({
  decision: z.enum(['allow', 'deny']),
  remember: z.enum(['thread', 'tool', 'toolkit']).optional(),
  arguments: jsonObject.optional(),
})
