import { parse } from '../schema/json.ts'
import {
  type DecisionWord,
  type PolicyRule,
  type PolicyRuleInput,
  policyRule,
  type RuleConditions,
} from '../schema/policy.ts'

/** What must hold, and what else the rule says. */
type RuleDetails = RuleConditions & Pick<PolicyRuleInput, 'reason' | 'allowEdits' | 'allowRemember'>

/** A rule as one writes it: `rule('github.create_*', 'ask')`, `rule('*', { readOnly: true }, 'allow')`. */
export function rule(pattern: string, decision: DecisionWord): PolicyRule
export function rule(pattern: string, details: RuleDetails, decision: DecisionWord): PolicyRule
export function rule(pattern: string, second: DecisionWord | RuleDetails, third?: DecisionWord): PolicyRule {
  const { reason, allowEdits, allowRemember, ...when } = typeof second === 'string' ? {} : second
  const decision = typeof second === 'string' ? second : third
  const extras = Object.entries({ reason, allowEdits, allowRemember }).filter(([, value]) => value !== undefined)
  return parse(policyRule, { pattern, when, decision, ...Object.fromEntries(extras) })
}
