import type { ExecutionContext, RunInContext } from '../../context.ts'
import type { PolicyRuleInput } from '../../schema/toolkit/policy.ts'
import type { Calls } from '../calls.ts'

/** Calls that are made within a context, whatever they are made from: an executor of others may lose it on the way. */
export function withContext(
  calls: Pick<Calls, 'start'>,
  context: ExecutionContext,
  runInContext: RunInContext | undefined,
): Pick<Calls, 'start'> {
  return runInContext ? { start: (call) => runInContext(context, () => calls.start(call)) } : calls
}

/** Calls that all bring these rules, which only tighten. */
export function withRules(calls: Pick<Calls, 'start'>, rules: readonly PolicyRuleInput[] = []): Pick<Calls, 'start'> {
  if (rules.length === 0) return calls
  return { start: (call) => calls.start({ ...call, rules }) }
}
