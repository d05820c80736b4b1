import { z } from 'zod'
import { userId } from '../ids.ts'
import { jsonObject } from '../json.ts'
import { caller } from '../toolkit/tool.ts'
import { envelope } from './credential.ts'

export const approvalStatus = z.enum(['pending', 'allowed', 'denied', 'expired'])

/** A stored question with its answer. Arguments are masked before they come here. */
export const approvalRow = z.strictObject({
  approvalId: z.string(),
  userId,
  threadId: z.string().nullable(),
  runId: z.string().nullable(),
  callId: z.string(),
  /** Where the call waits: with that process gone, an answer does nothing. */
  processId: z.string(),
  ref: z.string(),
  argumentsJson: jsonObject,
  reason: z.string(),
  callerJson: caller,
  status: approvalStatus,
  answeredBy: z.string().nullable(),
  answeredAt: z.date().nullable(),
  answerJson: jsonObject.nullable(),
  /** What an edit is held against, or the edited arguments until the call has them: with secrets in it, so it is sealed. */
  sealedJson: envelope.nullable(),
  /** Whether the answer may change the arguments: the rule that asks says so. */
  allowEdits: z.boolean(),
  /** What was asked about, so that a remembered answer holds for that and nothing else. */
  fingerprintsJson: z.strictObject({ tool: z.string(), toolkit: z.string() }),
  /** Whether the answer may be remembered. */
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
  /** The run that asks, where it is one. */
  runId: z.string().optional(),
  answeredAt: z.iso.datetime().optional(),
  /** For how much the answer was to hold, where for more than this call. */
  remembered: z.enum(['thread', 'tool', 'toolkit']).optional(),
  /** Whether the answer may change the arguments, and whether it may be remembered. */
  allowEdits: z.boolean(),
  allowRemember: z.boolean(),
})
export type ApprovalView = z.infer<typeof approvalView>

export const approvalAnswer = z.strictObject({
  decision: z.enum(['allow', 'deny']),
  remember: z.enum(['thread', 'tool', 'toolkit']).optional(),
  arguments: jsonObject.optional(),
})
