import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compileSchema, type ValidationResult } from '../../../src/json-schema/validator.ts'

function check(schema: unknown, value: unknown): ValidationResult {
  const compiled = compileSchema(schema)
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.errors))
  return compiled.validate(value)
}

describe('any JSON', () => {
  const names = fc.constantFrom('a', 'b', '__proto__', 'constructor', 'hasOwnProperty', 'toString')
  const value = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      fc.constantFrom(null, true, 0, -0, 1.5, 1e308, '', 'a', '\ud800', '😀'),
      fc.array(tie('value'), { maxLength: 4 }),
      fc.dictionary(names, tie('value'), { maxKeys: 4 }),
    ),
  })).value
  const keyword = fc.constantFrom(
    'type',
    'enum',
    'const',
    'properties',
    'required',
    'additionalProperties',
    'patternProperties',
    'propertyNames',
    'minProperties',
    'dependentRequired',
    'dependentSchemas',
    'dependencies',
    'items',
    'prefixItems',
    'contains',
    'minContains',
    'uniqueItems',
    'minLength',
    'pattern',
    'format',
    'minimum',
    'multipleOf',
    'allOf',
    'anyOf',
    'oneOf',
    'not',
    'if',
    'then',
    'else',
    '$ref',
    '$defs',
    '$anchor',
    '$id',
    '$dynamicRef',
    'unevaluatedProperties',
    'unevaluatedItems',
    '__proto__',
    'constructor',
  )
  const schema = fc.letrec((tie) => ({
    schema: fc.oneof(
      { maxDepth: 5 },
      fc.constantFrom<unknown>(true, false, 'string', '#', '#/$defs/a', 'x', '^a(b|', '(a*)*$', 'uri', 0, 2, 0.1, null),
      fc.dictionary(keyword, tie('schema'), { maxKeys: 4 }),
      fc.dictionary(names, tie('schema'), { maxKeys: 3 }),
      fc.array(tie('schema'), { maxLength: 3 }),
    ),
  })).schema

  it('never makes compile or validate throw and never touches a prototype', () => {
    fc.assert(
      fc.property(schema, value, (anySchema, anyValue) => {
        const compiled = compileSchema(anySchema, { maxSteps: 5_000 })
        if (compiled.ok) compiled.validate(anyValue)
        else expect(compiled.errors.length).toBeGreaterThan(0)
        expect(({} as Record<string, unknown>).a).toBeUndefined()
      }),
      { numRuns: 2_000 },
    )
  })

  it('is compared like its JSON with sorted keys', () => {
    fc.assert(
      fc.property(value, value, (a, b) => {
        const same = JSON.stringify(sorted(a)) === JSON.stringify(sorted(b))
        expect(check({ const: a }, b).valid).toBe(same)
        expect(check({ uniqueItems: true }, [a, b]).valid).toBe(!same)
      }),
    )
  })
})

/** Keys in order, so that equal values have equal texts. */
function sorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value === 0 ? 0 : value
  if (Array.isArray(value)) return value.map(sorted)
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return { entries: entries.map(([key, part]) => [key, sorted(part)]) }
}
