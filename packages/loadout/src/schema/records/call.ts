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

/** A call that may be asked for later, or again with its idempotency key. Others leave only their audit. */
export const callRow = z.strictObject({
  callId: z.string(),
  userId,
  threadId: z.string().nullable(),
  runId: z.string().nullable(),
  ref: z.string(),
  /** The `Idempotency-Key`, or the call's own id where none was given. */
  dedupeKey: z.string().min(1).max(300),
  /** Of what was asked: the same key with another question is a mistake. */
  requestHash: z.string(),
  status: z.enum(CALL_STATUSES),
  outcomeJson: jsonObject.nullable(),
  approvalId: z.string().nullable(),
  /** Which process makes it: with that one gone, nobody finishes it. */
  processId: z.string(),
  createdAt: z.date(),
  finishedAt: z.date().nullable(),
  expiresAt: z.date(),
})
export type CallRow = z.infer<typeof callRow>
