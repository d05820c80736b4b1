import { z } from 'zod'
import { userId } from '../ids.ts'
import { jsonObject } from '../json.ts'

export const CALL_STATUSES = [
  'running',
  'pending',
  'input-needed',
  'ok',
  'tool-error',
  'denied',
  'sign-in-needed',
  'limited',
  'failed',
] as const

/** A call that can be read later or repeated with its idempotency key. Other calls leave only an audit entry. */
export const callRow = z.strictObject({
  callId: z.string(),
  userId,
  threadId: z.string().nullable(),
  runId: z.string().nullable(),
  ref: z.string(),
  /** The `Idempotency-Key`, or the call id when there is none. */
  dedupeKey: z.string().min(1).max(300),
  /** Hash of the request: the same key with another request is a conflict. */
  requestHash: z.string(),
  status: z.enum(CALL_STATUSES),
  outcomeJson: jsonObject.nullable(),
  approvalId: z.string().nullable(),
  /** Process that runs the call. When it is gone, the call is orphaned. */
  processId: z.string(),
  createdAt: z.date(),
  finishedAt: z.date().nullable(),
  expiresAt: z.date(),
})
export type CallRow = z.infer<typeof callRow>
