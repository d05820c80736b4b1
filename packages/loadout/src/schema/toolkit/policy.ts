import { z } from 'zod'
import { ownerId, threadId, userId } from '../ids.ts'
import { jsonObject } from '../json.ts'
import { tier } from '../scope.ts'
import { activationRef } from './activation.ts'

/** A saved permission. Void when `fingerprint` no longer matches. */
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

/** Ordered from the loosest to the strictest. */
export const DECISIONS = ['allow', 'ask', 'deny'] as const
export type DecisionType = (typeof DECISIONS)[number]

/** Decision of the policy. Total: every call gets one, and unknown tools ask. */
export const decision = z.object({
  decision: z.enum(DECISIONS),
  reason: z.string(),
  /** Pattern of the deciding rule, if a rule decided. */
  rule: z.string().optional(),
  /** Tier of the decision. */
  tier: tier.optional(),
})
export type Decision = z.infer<typeof decision>

/** Conditions of a rule. A missing annotation counts as its careful value. */
export const ruleConditions = z.strictObject({
  caller: z.enum(['direct', 'code', 'workflow']).optional(),
  readOnly: z.boolean().optional(),
  destructive: z.boolean().optional(),
  idempotent: z.boolean().optional(),
  openWorld: z.boolean().optional(),
})
export type RuleConditions = z.infer<typeof ruleConditions>

/** A rule by glob over `toolkit.tool`. Within a tier the first match applies; a lower tier can only tighten. */
export const policyRule = z.strictObject({
  pattern: activationRef,
  when: ruleConditions.default({}),
  decision: z.enum(DECISIONS),
  reason: z.string().max(500).optional(),
  /** Whether the answer may edit the arguments. */
  allowEdits: z.boolean().default(false),
  /** Whether the answer may be saved. False is an upper limit: every call asks. */
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
