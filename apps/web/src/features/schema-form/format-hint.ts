/** `format` is an annotation: a value of another format is sent, and the field says what the schema expects. */
import { compileSchema } from '@loadout/core/json-schema'
import type { RJSFSchema } from '@rjsf/utils'

/** The format of a field that is drawn as plain text. */
export const PLAIN_FORMAT = 'x-format'

export function formatHint(schema: RJSFSchema, value: unknown): string | undefined {
  const format: unknown = schema.format ?? schema[PLAIN_FORMAT]
  if (typeof format !== 'string' || typeof value !== 'string' || value === '') return undefined
  const compiled = compileSchema({ format })
  const result = compiled.ok ? compiled.validate(value) : undefined
  const [error] = result?.valid === false ? result.errors : []
  return error && `Expected: ${error.message.replace(/^must be /, '')}.`
}
