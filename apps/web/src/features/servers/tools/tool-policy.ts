/**
 * Policy choice of one tool, stored as the user's rules (which only tighten) and grants. A rule for one tool has its
 * ref as pattern and no conditions.
 */
import type { Grant, Rule, ToolDecision } from '../queries.ts'

export type Choice = 'inherit' | 'allow' | 'ask' | 'deny'

export const DECISION_LABELS: Record<ToolDecision['decision'], string> = { allow: 'Allow', ask: 'Ask', deny: 'Block' }

/** Escapes a ref, so that it matches only itself in a glob. */
export const patternOf = (ref: string): string => ref.replace(/[*?[]/g, '[$&]').replace(/\{/g, '?')

const isFor = (rule: Rule, ref: string) => rule.pattern === patternOf(ref) && Object.keys(rule.when).length === 0

/** The grant of this tool for all threads. */
export const grantFor = (grants: readonly Grant[], ref: string): Grant | undefined =>
  grants.find((grant) => grant.target === 'tool' && grant.ref === ref && grant.threadId === undefined && !grant.void)

export function choiceOf(ref: string, rules: readonly Rule[], grants: readonly Grant[]): Choice {
  const rule = rules.find((candidate) => isFor(candidate, ref))
  // An earlier, wider rule may be stricter; `effectiveNote` shows it.
  if (rule && rule.decision !== 'allow') return rule.decision
  return grantFor(grants, ref)?.decision ?? 'inherit'
}

/** The user's rules with this choice first, so that a wider rule does not hide it. */
export function rulesWith(rules: readonly Rule[], ref: string, choice: Choice): Array<Partial<Rule>> {
  const others = rules.filter((rule) => !isFor(rule, ref))
  if (choice === 'inherit' || choice === 'allow') return others
  return [{ pattern: patternOf(ref), decision: choice }, ...others]
}

/** Choices that have an effect: rules only tighten, and a grant can allow in advance. */
export function choicesFor(inherited: ToolDecision['inherited']): Choice[] {
  if (inherited.decision === 'deny') return ['inherit']
  if (inherited.decision === 'allow') return ['inherit', 'ask', 'deny']
  return inherited.allowRemember ? ['inherit', 'allow', 'ask', 'deny'] : ['inherit', 'ask', 'deny']
}
