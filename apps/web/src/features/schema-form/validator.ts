/**
 * Value validation with the host's own validator, so that form and calls agree. It needs no `eval`, which the CSP
 * forbids.
 */

import { type Compiled, compileSchema } from '@loadout/core/json-schema'
import type { ErrorSchema, RJSFSchema, ValidatorType } from '@rjsf/utils'

/** A problem with its path: `items.0.name` or `(root)`. */
export interface ValueProblem {
  path: string
  message: string
}

/** Validation problems of tool arguments. As in a call, `format` is only an annotation. */
export const checkArguments = (schema: unknown, value: unknown): ValueProblem[] =>
  checkValue(schema, value, { assertFormats: false })

/** Validation problems; empty if valid or if the schema cannot be compiled. */
export function checkValue(schema: unknown, value: unknown, limits?: { assertFormats: boolean }): ValueProblem[] {
  const compiled = compileSchema(schema, limits)
  const result = compiled.ok ? compiled.validate(value) : undefined
  return result?.valid === false ? result.errors : []
}

const MAX_COMPILED = 500

/** Validator for RJSF, which uses it to match `anyOf` options. References point into the root's `$defs`. */
export function createValidator(): ValidatorType {
  const cache = new Map<string, Compiled>()
  const compile = (schema: RJSFSchema, root: RJSFSchema): Compiled => {
    const whole = { ...schema, $defs: root.$defs }
    const key = JSON.stringify(schema)
    const found = cache.get(key)
    if (found) return found
    if (cache.size >= MAX_COMPILED) cache.clear()
    const compiled = compileSchema(whole)
    cache.set(key, compiled)
    return compiled
  }
  return {
    isValid(schema, value, root) {
      const compiled = compile(schema, root)
      return !compiled.ok || compiled.validate(value).valid !== false
    },
    // RJSF never validates; the page passes problems to it.
    validateFormData: () => ({ errors: [], errorSchema: {} as ErrorSchema }),
    rawValidation: () => ({ errors: [] }),
    reset: () => cache.clear(),
  }
}
