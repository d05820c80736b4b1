/**
 * Turns single tools on or off: own toolkits by their exclude list, which grants do not depend on; global toolkits by
 * the user's activations. Tools that a wider pattern or the operator turned off stay off.
 */
import type { Toolkit, ToolkitBody } from '../../../lib/api.ts'
import { patternOf } from './tool-policy.ts'

type Tool = Toolkit['tools'][number]
type Reason = NonNullable<Tool['off']>[number]

/** An activation of the user, which the user can remove. */
const isOwnActivation = ({ kind, tier }: Reason) => kind === 'activation' && tier === 'user'

/** Whether the switch has an effect. */
export function isSwitchable(toolkit: Toolkit, { name, enabled, held, off = [] }: Tool): boolean {
  const { options, readOnly } = toolkit
  if (held) return false
  if (enabled) return readOnly ? toolkit.enabled : true
  if (readOnly) return toolkit.enabled && off.every(isOwnActivation)
  const byList = options.exclude.includes(patternOf(name)) || options.overrides[name]?.enabled === false
  return byList || (off.length > 0 && off.every(isOwnActivation))
}

/** API limits of the exclude list and of activations. */
const MAX_EXCLUDED = 200
const MAX_ACTIVATIONS = 1000

/** Max tools that can be switched at once. */
export function maxSwitchable({ readOnly, options }: Toolkit, on: boolean): number {
  if (on) return MAX_ACTIVATIONS
  return readOnly ? MAX_ACTIVATIONS : MAX_EXCLUDED - options.exclude.length
}

/** Why a switch is disabled. */
export function whyFixed(toolkit: Toolkit, tool: Tool): string | undefined {
  if (isSwitchable(toolkit, tool)) return undefined
  if (tool.held) return tool.held
  if (!toolkit.readOnly) return 'The server’s options leave it out. Edit the server to change them.'
  return toolkit.enabled ? 'The operator has switched it off for everyone.' : 'Switch the server on first.'
}

/** Request body that turns these tools on or off and keeps the others. */
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
