/**
 * `decide(call) → allow | ask | deny`, with the reason. Pure and total: unknown tools ask, and internal errors deny.
 * Property tests verify with random policies:
 *
 * - The first matching rule of the app decides; without one, the annotations of the tool do.
 * - A lower tier only tightens: more rules below the app never loosen a decision.
 * - Annotations of an untrusted toolkit never relax a decision.
 * - The app's policy function only tightens, unless the app lets it loosen its own rules.
 * - A saved permission turns `ask` into `allow` if the rule permits it; it never overrides `deny`.
 */

import { compileRef, type RefPattern } from '../schema/glob.ts'
import { TIERS, type Tier } from '../schema/scope.ts'
import {
  DECISIONS,
  type Decision,
  type DecisionType,
  type PolicyRule,
  type RuleConditions,
} from '../schema/toolkit/policy.ts'
import type { Annotations, Caller } from '../schema/toolkit/tool.ts'

export interface CompiledRule extends PolicyRule, Pick<RefPattern, 'matches' | 'toolkit'> {}

export const compileRules = (rules: readonly PolicyRule[]): CompiledRule[] =>
  rules.map((rule) => {
    const { matches, toolkit } = compileRef(rule.pattern)
    return { ...rule, matches, toolkit }
  })

/** Rules by tier. */
export type TieredRules = Partial<Record<Tier, readonly CompiledRule[]>>

export interface DecisionInput {
  toolkit: string
  tool: string
  caller: Caller
  annotations?: Annotations | undefined
  /** Whether the annotations of the server are trusted. */
  trusted: boolean
  rules: TieredRules
  /** Answer of the app's policy function. */
  answered?: (Decided & { mayLoosen: boolean }) | undefined
  /** Saved permission or denial of the user, if it still applies. */
  remembered?: DecisionType | undefined
}

export interface Decided extends Decision {
  /** Whether the approver may edit the arguments. */
  allowEdits: boolean
  allowRemember: boolean
}

const FIXED = { allowEdits: false, allowRemember: true }

export function decide(input: DecisionInput): Decided {
  try {
    return withMemory(byRules(input), input.remembered)
  } catch {
    return { decision: 'deny', reason: 'The policy could not be worked out, so nothing is allowed.', ...FIXED }
  }
}

const strictness = (word: DecisionType) => DECISIONS.indexOf(word)

function byRules(input: DecisionInput): Decided {
  let decided = byApp(input)
  const { answered } = input
  if (answered) {
    const { mayLoosen, ...answer } = answered
    if (mayLoosen || strictness(answer.decision) > strictness(decided.decision)) decided = answer
  }
  for (const tier of TIERS) {
    if (tier === 'app') continue
    const lower = fromRule(input, tier)
    if (lower && strictness(lower.decision) > strictness(decided.decision)) decided = lower
    // At equal strictness, a lower tier may still forbid edits or saving.
    else if (lower && lower.decision === decided.decision)
      decided = {
        ...decided,
        allowEdits: decided.allowEdits && lower.allowEdits,
        allowRemember: decided.allowRemember && lower.allowRemember,
      }
  }
  return decided
}

/** Decision of the app's rules, or of the annotations without a rule. */
export function byApp(input: DecisionInput): Decided {
  return fromRule(input, 'app') ?? byAnnotations(input.trusted ? input.annotations : undefined)
}

function fromRule(input: DecisionInput, tier: Tier): Decided | undefined {
  const { toolkit, tool, rules } = input
  const rule = rules[tier]?.find((candidate) => candidate.matches(toolkit, tool) && holds(candidate.when, input))
  if (!rule) return undefined
  const { decision, pattern, allowEdits, allowRemember } = rule
  const reason = rule.reason ?? `The rule "${pattern}" of the ${tier} tier says ${decision}.`
  return { decision, reason, rule: pattern, tier, allowEdits, allowRemember }
}

/** MCP defaults of hints that are missing or not trusted. */
const UNSAID = { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true } as const

function holds(when: RuleConditions, { caller, annotations = {}, trusted }: DecisionInput): boolean {
  const claim = (hint: keyof typeof UNSAID) => (trusted ? (annotations[hint] ?? UNSAID[hint]) : UNSAID[hint])
  const fits = (wanted: boolean | undefined, hint: keyof typeof UNSAID) =>
    wanted === undefined || wanted === claim(hint)
  return (
    (when.caller === undefined || when.caller === caller.type) &&
    fits(when.readOnly, 'readOnlyHint') &&
    fits(when.destructive, 'destructiveHint') &&
    fits(when.idempotent, 'idempotentHint') &&
    fits(when.openWorld, 'openWorldHint')
  )
}

/** Decision without a rule (source 002): only a tool that is read-only and not destructive is allowed. */
export function byAnnotations(annotations: Annotations | undefined): Decided {
  const asks = (reason: string): Decided => ({ decision: 'ask', reason, ...FIXED })
  if (annotations === undefined) return asks('Its server does not say what the tool does, or is not believed.')
  if (annotations.destructiveHint === true) return asks('The tool may destroy something.')
  if (annotations.readOnlyHint === true)
    return { decision: 'allow', reason: 'The tool says that it only reads.', ...FIXED }
  return asks('The tool does not say that it only reads.')
}

function withMemory(decided: Decided, remembered: DecisionType | undefined): Decided {
  if (remembered === 'deny' && decided.decision !== 'deny')
    return { ...decided, decision: 'deny', reason: 'You denied this and wanted it remembered.' }
  if (remembered === 'allow' && decided.decision === 'ask' && decided.allowRemember)
    return { ...decided, decision: 'allow', reason: 'You allowed this and wanted it remembered.' }
  return decided
}
