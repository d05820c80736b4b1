/** Arguments held against a tool's schema before anything is run: what is written down must fit, the rest is left open. */
import type { FieldError } from '../errors.ts'
import type { JsonObject } from '../schema/json.ts'
import { compileSchema } from '../schema/json-schema/validator.ts'
import type { Template } from './template.ts'

const ROOT = '(root)'
export function checkStatic(template: Template, args: JsonObject, schema: JsonObject): FieldError[] {
  const compiled = compileSchema(schema, { assertFormats: false })
  if (!compiled.ok) return []
  const result = compiled.validate(args)
  if (result.valid !== false) return []
  const open = template.places.map((place) => place.join('.'))
  return result.errors.filter(({ path }) => {
    const at = path === ROOT ? '' : path
    // What is evaluated may fit, and so may all that it is a part of.
    return !open.some((place) => at === '' || at === place || at.startsWith(`${place}.`) || place.startsWith(`${at}.`))
  })
}
