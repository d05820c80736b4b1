/**
 * Switching single tools of one's own toolkit: by its list of left-out names, which no remembered answer depends on. A tool
 * that a wider pattern leaves out stays out until that pattern is changed.
 */
import type { Toolkit, ToolkitBody } from '../../api.ts'
import { patternOf } from './tool-policy.ts'

type Tool = Toolkit['tools'][number]

/** Whether the switch alone decides. */
export function isSwitchable({ options, readOnly }: Toolkit, { name, enabled, held }: Tool): boolean {
  if (readOnly || held) return false
  return enabled || options.exclude.includes(patternOf(name)) || options.overrides[name]?.enabled === false
}

/** What to send so that these tools are on, or off, and all others stay. */
export function switchBody({ options }: Toolkit, names: readonly string[], on: boolean): ToolkitBody {
  const patterns = names.map(patternOf)
  const others = options.exclude.filter((pattern) => !patterns.includes(pattern))
  if (!on) return { exclude: [...others, ...patterns] }
  const off = names.filter((name) => options.overrides[name]?.enabled === false)
  if (off.length === 0) return { exclude: others }
  const switched = Object.fromEntries(off.map((name) => [name, { ...options.overrides[name], enabled: true }]))
  return { exclude: others, overrides: { ...options.overrides, ...switched } }
}
