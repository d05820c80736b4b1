import { HostError } from '../errors.ts'
import type { Stage } from './compose.ts'
import { failed } from './resolve.ts'

/** A tool that is no longer what was accepted does not run until a person accepts it again. */
export const withPin: Stage = (next) => async (call) => {
  if (call.found.changed === undefined) return next(call)
  const { id } = call.stored.toolkit
  return failed(
    new HostError('tool-changed', {
      detail: `The tool '${id}.${call.tool}' is not what was accepted: its server changed it.`,
    }),
  )
}
