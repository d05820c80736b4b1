/** What we cannot decide is unknown where it matters, and nowhere else. */
import { describe, expect, it } from 'vitest'
import { compileSchema, type ValidationResult } from '../../../src/json-schema/validator.ts'
import { check, condition } from '../../fixtures/check-schema.ts'

describe('an undecidable schema', () => {
  const far = { $ref: 'https://elsewhere.example/schema.json' }

  it('is unknown only where it matters and is noted', () => {
    const compiled = compileSchema({ properties: { a: far, b: { type: 'string' } } })
    if (!compiled.ok) throw new Error('not ok')
    expect(compiled.notes.map((note) => note.path)).toEqual(['properties.a.$ref'])
    expect(compiled.validate({ b: 'x' })).toEqual({ valid: true })
    expect(compiled.validate({ a: 1, b: 1 }).valid).toBe(false)
    expect(compiled.validate({ a: 1, b: 'x' })).toEqual({
      valid: 'unknown',
      reason: expect.stringContaining('elsewhere'),
    })
  })

  it.each<[string, unknown, unknown, ValidationResult['valid']]>([
    ['anyOf with a match', { anyOf: [far, { type: 'string' }] }, 'x', true],
    ['anyOf without', { anyOf: [far, { type: 'string' }] }, 1, 'unknown'],
    ['oneOf with two matches', { oneOf: [far, {}, {}] }, 1, false],
    ['oneOf with one', { oneOf: [far, {}] }, 1, 'unknown'],
    ['not', { not: far }, 1, 'unknown'],
    ['a condition whose ways agree', condition(far, { type: 'string' }, { minLength: 1 }), 'x', true],
    ['a condition whose ways differ', condition(far, { type: 'string' }, true), 1, 'unknown'],
    ['contains', { contains: far }, [1], 'unknown'],
    ['contains in nothing', { contains: far }, [], false],
    ['unevaluatedProperties', { ...far, unevaluatedProperties: false }, { a: 1 }, 'unknown'],
    ['a back reference', { pattern: '^(a)\\1$' }, 'aa', 'unknown'],
    ['a look ahead', { pattern: '^(?=a)' }, 'aa', 'unknown'],
    ['a broken pattern', { pattern: '(' }, 'aa', 'unknown'],
    ['a pattern for a number', { pattern: '(?=a)' }, 1, true],
    [
      'a key that may match',
      { patternProperties: { '(?=a)': { type: 'string' } }, additionalProperties: false },
      { a: 1 },
      'unknown',
    ],
    [
      'a dynamic reference with two ends',
      { $dynamicRef: '#n', $defs: { a: { $id: 'a', $dynamicAnchor: 'n' }, b: { $dynamicAnchor: 'n' } } },
      1,
      'unknown',
    ],
  ])('%s', (...[, schema, value, expected]) => {
    expect(check(schema, value).valid).toBe(expected)
  })
})
