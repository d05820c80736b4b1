import type { Json } from '../schema/json.ts'
import type { Template } from './template.ts'

/** What it gives whatever the input; undefined where it fails. */
export function evaluateStatic(template: Template): Json {
  try {
    return template.render({})
  } catch {
    return undefined
  }
}
