import { z } from 'zod'
import { ownerId, threadId } from './ids.ts'
import { jsonObject } from './json.ts'
import { tier } from './scope.ts'

export const DECISIONS = ['allow', 'ask', 'deny'] as const
/** Total: every call gets one, and what is unknown asks. */
export const decision = z.object({ decision: z.enum(DECISIONS), reason: z.string(), rule: z.string().optional() })
export type Decision = z.infer<typeof decision>

export const ruleConditions = z.strictObject({
  caller: z.enum(['direct', 'code', 'workflow']).optional(),
  readOnly: z.boolean().optional(),
  destructive: z.boolean().optional(),
  idempotent: z.boolean().optional(),
  openWorld: z.boolean().optional(),
})

/** A rule by glob over `toolkit.tool`. A lower tier may only tighten. */
export const policyRule = z.strictObject({
  pattern: z.string().min(1).max(400),
  when: ruleConditions.default({}),
  decision: z.enum(DECISIONS),
  reason: z.string().max(500).optional(),
  allowEdits: z.boolean().default(false),
})
export type PolicyRule = z.infer<typeof policyRule>

export const policyRuleRow = z.strictObject({
  ruleId: z.string(),
  userId: ownerId,
  tier,
  threadId: z.union([threadId, z.literal('')]),
  position: z.number().int(),
  ruleJson: jsonObject,
  createdAt: z.date(),
})
