/**
 * What decides whether a value fits, without code made at run time: the page's policy forbids that. It is the host's own
 * validator, so that the form and a call say the same.
 */

import { type Compiled, compileSchema } from '@loadout/core/json-schema'
import type { ErrorSchema, RJSFSchema, ValidatorType } from '@rjsf/utils'

/** What is wrong at a place of a value: `items.0.name`, or `(root)` for all of it. */
export interface ValueProblem {
  path: string
  message: string
}

/** What does not fit arguments of a tool. As in a call, `format` is an annotation. */
export const checkArguments = (schema: unknown, value: unknown): ValueProblem[] =>
  checkValue(schema, value, { assertFormats: false })

/** What does not fit; nothing where it fits, or where nobody can tell. */
export function checkValue(schema: unknown, value: unknown, limits?: { assertFormats: boolean }): ValueProblem[] {
  const compiled = compileSchema(schema, limits)
  const result = compiled.ok ? compiled.validate(value) : undefined
  return result?.valid === false ? result.errors : []
}

const MAX_COMPILED = 500

/** For the form, which asks which of several schemas a value is meant for. Their references lead into the root's `$defs`. */
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
    // The page tells the form what is wrong; it never validates by itself.
    validateFormData: () => ({ errors: [], errorSchema: {} as ErrorSchema }),
    rawValidation: () => ({ errors: [] }),
    reset: () => cache.clear(),
  }
}
