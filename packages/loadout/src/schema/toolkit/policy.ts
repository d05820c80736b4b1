import { z } from 'zod'
import { ownerId, threadId, userId } from '../ids.ts'
import { jsonObject } from '../json.ts'
import { tier } from '../scope.ts'
import { activationRef } from './activation.ts'

/** An answer remembered at a tier. Void once `fingerprint` is not what it was given for. */
export const grantRow = z.strictObject({
  grantId: z.string(),
  userId,
  threadId: z.union([threadId, z.literal('')]),
  target: z.enum(['tool', 'toolkit']),
  ref: z.string(),
  decision: z.enum(['allow', 'deny']),
  fingerprint: z.string(),
  createdAt: z.date(),
  revokedAt: z.date().nullable(),
})
export type GrantRow = z.infer<typeof grantRow>

/** From the loosest to the strictest. */
export const DECISIONS = ['allow', 'ask', 'deny'] as const
export type DecisionType = (typeof DECISIONS)[number]

/** Total: every call gets one, and what is unknown asks. */
export const decision = z.object({
  decision: z.enum(DECISIONS),
  reason: z.string(),
  /** The pattern of the rule that decided, where one did. */
  rule: z.string().optional(),
  /** Where it was decided. */
  tier: tier.optional(),
})
export type Decision = z.infer<typeof decision>

/** What must hold for a rule to speak. A hint that a server does not give counts as the careful value. */
export const ruleConditions = z.strictObject({
  caller: z.enum(['direct', 'code', 'workflow']).optional(),
  readOnly: z.boolean().optional(),
  destructive: z.boolean().optional(),
  idempotent: z.boolean().optional(),
  openWorld: z.boolean().optional(),
})
export type RuleConditions = z.infer<typeof ruleConditions>

/** A rule by glob over `toolkit.tool`. Within a tier the first that fits holds; a lower tier may only tighten. */
export const policyRule = z.strictObject({
  pattern: activationRef,
  when: ruleConditions.default({}),
  decision: z.enum(DECISIONS),
  reason: z.string().max(500).optional(),
  /** Whether who answers may change the arguments. */
  allowEdits: z.boolean().default(false),
  /** Whether an answer may be remembered. False is a ceiling: it is asked every time. */
  allowRemember: z.boolean().default(true),
})
export type PolicyRule = z.infer<typeof policyRule>
export type PolicyRuleInput = z.input<typeof policyRule>

export const policyRules = z.array(policyRule).max(1000)

export const policyRuleRow = z.strictObject({
  ruleId: z.string(),
  userId: ownerId,
  tier,
  threadId: z.union([threadId, z.literal('')]),
  position: z.number().int(),
  ruleJson: jsonObject,
  createdAt: z.date(),
})
export type PolicyRuleRow = z.infer<typeof policyRuleRow>
