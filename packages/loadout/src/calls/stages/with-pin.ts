/** Blocks tools that changed since they were accepted. */
import { HostError } from '../../errors.ts'
import type { ResolvedCall, Stage } from '../call.ts'
import { failed } from '../call.ts'

/** A changed tool, or a new tool of an untrusted server, needs acceptance first. */
export const withPin: Stage = (next) => (call) => {
  const { changed, blocked } = call.found
  if (changed === undefined && blocked === undefined) return next(call)
  return Promise.resolve(failed(changed === undefined ? unaccepted(call) : different(call)))
}

const refOf = ({ stored, tool }: ResolvedCall) => `${stored.toolkit.id}.${tool}`
const different = (call: ResolvedCall) =>
  new HostError('tool-changed', {
    detail: `The tool '${refOf(call)}' is not what was accepted: its server changed it.`,
  })
const unaccepted = (call: ResolvedCall) =>
  new HostError('tool-not-accepted', {
    detail: `The tool '${refOf(call)}' is off: its server is not trusted, and nobody accepted the tool yet.`,
  })
