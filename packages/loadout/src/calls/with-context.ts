import type { AroundWork, ExecutionContext } from '../context.ts'
import type { Calls } from './calls.ts'

/** Calls that are made within a context, whatever they are made from: an executor of others may lose it on the way. */
export function withContext(
  calls: Pick<Calls, 'start'>,
  context: ExecutionContext,
  around: AroundWork | undefined,
): Pick<Calls, 'start'> {
  return around ? { start: (call) => around(context, () => calls.start(call)) } : calls
}
