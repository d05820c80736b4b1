/**
 * Switching single tools. Of one's own toolkit by its list of left-out names, which no remembered answer depends on; of a global one by a
 * word of one's own, which nobody else hears. What something else keeps off, a wider pattern or the operator, stays off.
 */
import type { Toolkit, ToolkitBody } from '../../../lib/api.ts'
import { patternOf } from './tool-policy.ts'

type Tool = Toolkit['tools'][number]
type Reason = NonNullable<Tool['off']>[number]

/** A word of the user's own, which they can take back. */
const isOwnActivation = ({ kind, tier }: Reason) => kind === 'activation' && tier === 'user'

/** Whether the switch alone decides. */
export function isSwitchable(toolkit: Toolkit, { name, enabled, held, off = [] }: Tool): boolean {
  const { options, readOnly } = toolkit
  if (held) return false
  if (enabled) return readOnly ? toolkit.enabled : true
  if (readOnly) return toolkit.enabled && off.every(isOwnActivation)
  const byList = options.exclude.includes(patternOf(name)) || options.overrides[name]?.enabled === false
  return byList || (off.length > 0 && off.every(isOwnActivation))
}

/** What the API takes: a list of left-out names of so many, or so many words of one's own. */
const MAX_EXCLUDED = 200
const MAX_ACTIVATIONS = 1000

/** How many more can be switched at once. */
export function maxSwitchable({ readOnly, options }: Toolkit, on: boolean): number {
  if (on) return MAX_ACTIVATIONS
  return readOnly ? MAX_ACTIVATIONS : MAX_EXCLUDED - options.exclude.length
}

/** Why a switch cannot be moved, in words. */
export function whyFixed(toolkit: Toolkit, tool: Tool): string | undefined {
  if (isSwitchable(toolkit, tool)) return undefined
  if (tool.held) return tool.held
  if (!toolkit.readOnly) return 'The server’s options leave it out. Edit the server to change them.'
  return toolkit.enabled ? 'The operator has switched it off for everyone.' : 'Switch the server on first.'
}

/** What to send so that these tools are on, or off, and all others stay. */
export function switchBody(toolkit: Toolkit, names: readonly string[], on: boolean): ToolkitBody {
  if (toolkit.readOnly) return { switches: Object.fromEntries(names.map((name) => [name, on])) }
  const { options } = toolkit
  const patterns = names.map(patternOf)
  const others = options.exclude.filter((pattern) => !patterns.includes(pattern))
  if (!on) return { exclude: [...others, ...patterns] }
  const selected = new Set(names)
  const off = names.filter((name) => options.overrides[name]?.enabled === false)
  const withOwnActivation = toolkit.tools.filter(
    ({ name, off: why = [] }) => selected.has(name) && why.some(isOwnActivation),
  )
  const switched = Object.fromEntries(off.map((name) => [name, { ...options.overrides[name], enabled: true }]))
  return {
    exclude: others,
    ...(off.length === 0 ? {} : { overrides: { ...options.overrides, ...switched } }),
    ...(withOwnActivation.length === 0
      ? {}
      : { switches: Object.fromEntries(withOwnActivation.map(({ name }) => [name, true])) }),
  }
}
