import { z } from 'zod'
import { ownerId } from '../ids.ts'
import { jsonObject } from '../json.ts'

const hash = z.string().regex(/^[0-9a-f]{64}$/)

/**
 * One line of the log. Append-only and chained: `hash` covers the hash before it, the line's place, entry, time and
 * action, and `contentHash`, which covers the rest with a salt. Who is erased loses the content and the salt; the chain still holds.
 * Arguments are redacted before they come here.
 */
export const auditRow = z.strictObject({
  /** Its place in the chain: `audt_` and the number, padded, so that ids sort as the chain does. */
  auditId: z.string(),
  /** What the journal knew it by; the same line is never stored twice. */
  entryId: z.string(),
  userId: ownerId,
  at: z.date(),
  /** `mcp_tool_call`, `toolkit_saved`, `credential_set`, … */
  action: z.string().min(1).max(100),
  /** `mcp:{toolkitId}` for calls. */
  source: z.string().max(200),
  threadId: z.string().nullable(),
  runId: z.string().nullable(),
  callId: z.string().nullable(),
  ref: z.string().nullable(),
  outcome: z.string().nullable(),
  detailJson: jsonObject,
  prevHash: hash,
  contentHash: hash,
  salt: z.string().nullable(),
  hash,
})
export type AuditRow = z.infer<typeof auditRow>

/** A line as people see it. */
export const auditView = z.object({
  id: z.string(),
  at: z.string(),
  userId: z.string(),
  action: z.string(),
  source: z.string(),
  ref: z.string().nullable(),
  outcome: z.string().nullable(),
  threadId: z.string().nullable(),
  runId: z.string().nullable(),
  callId: z.string().nullable(),
  detail: jsonObject,
  hash: z.string(),
})
export type AuditView = z.infer<typeof auditView>

/** The two ends of the chain: `head` is the newest line, `anchor` the last that retention took away. */
export const auditHeadRow = z.strictObject({
  headId: z.enum(['head', 'anchor']),
  seq: z.number().int().min(0),
  hash,
  updatedAt: z.date(),
})
export type AuditHeadRow = z.infer<typeof auditHeadRow>
