/**
 * What somebody says of one tool, read from and written to what the API keeps: their own rules, which only tighten, and
 * answers that they wanted remembered. A rule for one tool is one whose pattern is its ref and that has no conditions.
 */
import type { Grant, Rule, ToolDecision } from '../queries.ts'

export type Choice = 'inherit' | 'allow' | 'ask' | 'deny'

export const DECISION_LABELS: Record<ToolDecision['decision'], string> = { allow: 'Allow', ask: 'Ask', deny: 'Block' }

/** The pattern that means this tool alone, also where its name holds what a glob would read. */
export const patternOf = (ref: string): string => ref.replace(/[*?[]/g, '[$&]').replace(/\{/g, '?')

const isFor = (rule: Rule, ref: string) => rule.pattern === patternOf(ref) && Object.keys(rule.when).length === 0

/** A remembered answer for this tool wherever it is called. */
export const grantFor = (grants: readonly Grant[], ref: string): Grant | undefined =>
  grants.find((grant) => grant.target === 'tool' && grant.ref === ref && grant.threadId === undefined && !grant.void)

export function choiceOf(ref: string, rules: readonly Rule[], grants: readonly Grant[]): Choice {
  const rule = rules.find((candidate) => isFor(candidate, ref))
  // The first one that fits holds, so an earlier, wider rule may still be stricter; the effective word is shown beside.
  if (rule && rule.decision !== 'allow') return rule.decision
  return grantFor(grants, ref)?.decision ?? 'inherit'
}

/** The own rules with this choice in them; the tool's comes first, so that a wider one does not hide it. */
export function rulesWith(rules: readonly Rule[], ref: string, choice: Choice): Array<Partial<Rule>> {
  const others = rules.filter((rule) => !isFor(rule, ref))
  if (choice === 'inherit' || choice === 'allow') return others
  return [{ pattern: patternOf(ref), decision: choice }, ...others]
}

/** Which choices mean anything for a tool: nothing is looser than what is inherited, but an answer may be given ahead. */
export function choicesFor(inherited: ToolDecision['inherited']): Choice[] {
  if (inherited.decision === 'deny') return ['inherit']
  if (inherited.decision === 'allow') return ['inherit', 'ask', 'deny']
  return inherited.allowRemember ? ['inherit', 'allow', 'ask', 'deny'] : ['inherit', 'ask', 'deny']
}
