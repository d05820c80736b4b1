import type { Json } from '../../schema/json.ts'
import type { Template } from './template.ts'

/** There may be hundreds of them in a definition. */
const LIMITS = { steps: 2000, characters: 100_000 }

/** What it gives whatever the input; undefined where it fails, or takes longer than a glance. */
export function evaluateStatic(template: Template): Json {
  try {
    return template.render({}, LIMITS)
  } catch {
    return undefined
  }
}
