import { z } from 'zod'
import { ownerId } from '../ids.ts'
import { jsonObject } from '../json.ts'

const hash = z.string().regex(/^[0-9a-f]{64}$/)

/**
 * One audit entry. Append-only and chained: `hash` covers the previous hash, position, entry id, time, action and
 * `contentHash`, which covers the rest with a salt. Erasing a user removes content and salt; the chain stays valid.
 * Arguments are redacted before they are stored.
 */
export const auditRow = z.strictObject({
  /** Position in the chain: `audt_` and a padded number, so that ids sort in chain order. */
  auditId: z.string(),
  /** Id in the journal; an entry is stored at most once. */
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

/** Audit entry in the API. */
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

/** Ends of the chain: `head` is the newest entry, `anchor` the last one that retention deleted. */
export const auditHeadRow = z.strictObject({
  headId: z.enum(['head', 'anchor']),
  seq: z.number().int().min(0),
  hash,
  updatedAt: z.date(),
})
export type AuditHeadRow = z.infer<typeof auditHeadRow>
