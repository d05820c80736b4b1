/** Findings of the offline scan. */
import { z } from 'zod'

export const SEVERITIES = ['low', 'high', 'critical'] as const
export type Severity = (typeof SEVERITIES)[number]

/** A suspicious text of a server. `excerpt` is plain text and must be shown as text. */
export const finding = z.object({
  rule: z.string(),
  severity: z.enum(SEVERITIES),
  /** Tool name; missing for texts of the server itself. */
  tool: z.string().optional(),
  /** Place of the text as a JSON pointer: `/description`, `/inputSchema/properties/path/default`. */
  path: z.string(),
  excerpt: z.string(),
  why: z.string(),
})
export type Finding = z.infer<typeof finding>
