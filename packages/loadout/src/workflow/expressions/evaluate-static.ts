import type { Json } from '../../schema/json.ts'
import type { Template } from './template.ts'

/** Small limits, because a definition can have hundreds of templates. */
const LIMITS = { steps: 2000, characters: 100_000 }

/** Value of a template without variables; undefined if it fails or exceeds the limits. */
export function evaluateStatic(template: Template): Json {
  try {
    return template.render({}, LIMITS)
  } catch {
    return undefined
  }
}
