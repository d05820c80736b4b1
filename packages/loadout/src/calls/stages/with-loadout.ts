/** Blocks calls of tools that are not in the loadout of the scope. */
import { HostError } from '../../errors.ts'
import { callersOf } from '../../loadout/candidates.ts'
import type { Loadouts } from '../../loadout/loadouts.ts'
import { isDecidedAtCallTime } from '../../loadout/policy-filter.ts'
import type { Stage } from '../call.ts'
import { failed } from '../call.ts'

/** A tool that any tier turned off cannot be called by any path. */
export function withLoadout(loadouts: Pick<Loadouts, 'missing'>): Stage {
  return (next) => async (call) => {
    const { userId, threadId, stored, found, tool, caller, loadout } = call
    const allowedCallers = callersOf(stored.toolkit, tool)
    if (caller.type !== 'workflow' && !allowedCallers.includes(caller.type))
      return failed(
        new HostError('not-carried', {
          detail: `The tool '${stored.toolkit.id}.${tool}' may not be called by "${caller.type}", only by ${allowedCallers.join(', ')}.`,
          action: 'Change allowedCallers of the toolkit or the tool, or call it in the way that it allows.',
        }),
      )
    const missing = await loadouts.missing({ userId, threadId }, { stored, found, loadout })
    if (missing === undefined || isDecidedAtCallTime(missing)) return next(call)
    const why = missing.map((reason) => reason.detail).join(' ')
    return failed(
      new HostError('not-carried', { detail: `The tool '${stored.toolkit.id}.${tool}' is not carried. ${why}`.trim() }),
    )
  }
}
