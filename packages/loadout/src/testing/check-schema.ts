import { compileSchema, type ValidationResult } from '../schema/json-schema/validator.ts'

/** A value against a schema that must be usable. */
export function check(schema: unknown, value: unknown): ValidationResult {
  const compiled = compileSchema(schema)
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.errors))
  return compiled.validate(value)
}

/** A condition, without an object literal that looks like a promise. */
export const condition = (test: unknown, yes: unknown, no: unknown) =>
  Object.fromEntries([
    ['if', test],
    ['then', yes],
    ['else', no],
  ])
