import { z } from 'zod'
import { ownerId } from './ids.ts'
import { jsonObject } from './json.ts'

/** One line of the log. Append-only; arguments are redacted before they come here. */
export const auditRow = z.strictObject({
  auditId: z.string(),
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
})
export type AuditRow = z.infer<typeof auditRow>
