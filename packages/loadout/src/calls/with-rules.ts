import type { PolicyRuleInput } from '../schema/policy.ts'
import type { Calls } from './calls.ts'

/** Calls that all bring these rules, which only tighten. */
export function withRules(calls: Pick<Calls, 'start'>, rules: readonly PolicyRuleInput[] = []): Pick<Calls, 'start'> {
  if (rules.length === 0) return calls
  return { start: (call) => calls.start({ ...call, rules }) }
}
