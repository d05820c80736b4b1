/** Wraps `calls.start` with an execution context or with rules. */
import type { ExecutionContext, RunInContext } from '../../context.ts'
import type { PolicyRuleInput } from '../../schema/toolkit/policy.ts'
import type { Calls } from '../calls.ts'

/** Starts calls within a context, because a custom executor may lose it. */
export function withContext(
  calls: Pick<Calls, 'start'>,
  context: ExecutionContext,
  runInContext: RunInContext | undefined,
): Pick<Calls, 'start'> {
  return runInContext ? { start: (call) => runInContext(context, () => calls.start(call)) } : calls
}

/** Adds rules to every call. They can only tighten the policy. */
export function withRules(calls: Pick<Calls, 'start'>, rules: readonly PolicyRuleInput[] = []): Pick<Calls, 'start'> {
  if (rules.length === 0) return calls
  return { start: (call) => calls.start({ ...call, rules }) }
}
