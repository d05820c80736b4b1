import { describe, expect, it } from 'vitest'
import { check, condition } from '../../test/fixtures/check-schema.ts'
import { compileSchema } from './validator.ts'

/** keyword, schema, values that match, values that do not. */
type Row = [keyword: string, schema: unknown, good: unknown[], bad: unknown[]]

const ROWS: Row[] = [
  ['type', { type: 'integer' }, [1, 1.0, -0, 1e300], [1.5, '1', null, true, Number.NaN, Number.POSITIVE_INFINITY]],
  ['type of several', { type: ['string', 'null'] }, ['', null], [0, false, [], {}]],
  ['enum', { enum: ['a', 1, null, { x: [1, 2], y: 1 }] }, ['a', 1, null, { y: 1, x: [1, 2] }], ['1', { x: [2, 1] }, 0]],
  ['const', { const: { a: false } }, [{ a: false }], [{ a: 0 }, {}, null]],
  ['const of a simple value', { const: 0 }, [0, -0], [false, '0', null]],
  ['properties', { properties: { a: { type: 'string' } } }, [{ a: '' }, {}, { b: 1 }, 5], [{ a: 1 }]],
  ['required', { required: ['a'] }, [{ a: null }, []], [{}, { b: 1 }, { a: undefined }]],
  ['additionalProperties', { properties: { a: {} }, additionalProperties: false }, [{ a: 1 }], [{ b: 1 }]],
  ['additionalProperties schema', { additionalProperties: { type: 'number' } }, [{ a: 1 }], [{ a: '1' }]],
  ['patternProperties', { patternProperties: { '^n_': { type: 'number' } } }, [{ n_a: 1, a: '' }], [{ n_a: '' }]],
  [
    'patternProperties with additional',
    { patternProperties: { '^a': true }, additionalProperties: false },
    [{ a1: 1 }],
    [{ b: 1 }],
  ],
  ['propertyNames', { propertyNames: { maxLength: 2 } }, [{ ab: 1 }], [{ abc: 1 }]],
  ['min/maxProperties', { minProperties: 1, maxProperties: 2 }, [{ a: 1 }], [{}, { a: 1, b: 2, c: 3 }]],
  ['dependentRequired', { dependentRequired: { a: ['b'] } }, [{ a: 1, b: 1 }, { b: 1 }], [{ a: 1 }]],
  ['dependentSchemas', { dependentSchemas: { a: { required: ['b'] } } }, [{ a: 1, b: 1 }, {}], [{ a: 1 }]],
  ['dependencies', { dependencies: { a: ['b'], c: { required: ['d'] } } }, [{ a: 1, b: 1 }], [{ a: 1 }, { c: 1 }]],
  ['items', { items: { type: 'string' } }, [[], ['a']], [[1], ['a', 1]]],
  ['prefixItems', { prefixItems: [{ type: 'string' }], items: false }, [['a'], []], [[1], ['a', 1]]],
  [
    'items as array',
    { items: [{ type: 'string' }], additionalItems: { type: 'number' } },
    [['a', 1], []],
    [
      [1, 1],
      ['a', 'b'],
    ],
  ],
  [
    'contains',
    { contains: { const: 1 }, maxContains: 2 },
    [
      [0, 1],
      [1, 1],
    ],
    [[], [0], [1, 1, 1]],
  ],
  ['minContains 0', { contains: { const: 1 }, minContains: 0 }, [[], [1]], []],
  ['min/maxItems', { minItems: 1, maxItems: 2 }, [[1]], [[], [1, 2, 3]]],
  [
    'uniqueItems',
    { uniqueItems: true },
    [[1, '1', true, [1], ['1'], '[1]', '#[1]', { a: 1 }, { a: '1' }]],
    [
      [1, 1],
      [
        { a: 1, b: 2 },
        { b: 2, a: 1 },
      ],
      [[1], [1]],
      ['x', 'x'],
      [0, -0],
    ],
  ],
  ['lengths', { minLength: 2, maxLength: 2 }, ['ab', '😀😀', '\ud800\ud800'], ['a', 'abc', '😀', '']],
  ['pattern', { pattern: '^[a-z]{2,3}\\d?$' }, ['ab', 'abc1', 5], ['a', 'abcd', 'AB']],
  ['pattern is a search', { pattern: 'b+' }, ['abbc'], ['ac', '']],
  ['pattern, Unicode', { pattern: '^\\p{Lu}.\\u{1F600}$' }, ['Éx😀', 'A😀😀'], ['éx😀', 'Ax']],
  ['pattern, word edges', { pattern: '\\bcat\\b' }, ['a cat!', 'cat'], ['concat', 'cats']],
  ['format', { format: 'date-time' }, ['2026-02-28T10:00:00Z', 5], ['2026-02-30T10:00:00Z', 'now']],
  ['format of addresses', { format: 'email' }, ['a.b@example.com'], ['a@b@c', '@x', 'a b@c.de']],
  ['format as annotation', { format: 'iri-template' }, ['anything'], []],
  ['minimum, maximum', { minimum: 1, maximum: 2 }, [1, 2, 1.5, 'x'], [0.99, 2.01]],
  ['exclusive bounds', { exclusiveMinimum: 1, exclusiveMaximum: 2 }, [1.5], [1, 2]],
  ['exclusive bounds of draft 4', { minimum: 1, exclusiveMinimum: true }, [1.1], [1, 0]],
  ['multipleOf', { multipleOf: 0.01 }, [0.07, 1.1, 4.35, 1e20, 0, -19.99], [0.005, 1.001]],
  ['allOf', { allOf: [{ minimum: 1 }, { maximum: 2 }] }, [1], [0, 3]],
  ['anyOf', { anyOf: [{ type: 'string' }, { minimum: 5 }] }, ['a', 5, null], [4]],
  ['oneOf', { oneOf: [{ multipleOf: 2 }, { multipleOf: 3 }] }, [2, 3], [6, 1]],
  ['not', { not: { type: 'string' } }, [1, null], ['a']],
  ['if/then/else', condition({ minimum: 10 }, { multipleOf: 10 }, { maximum: 5 }), [20, 5], [15, 7]],
  ['$ref', { $ref: '#/$defs/a~1b', $defs: { 'a/b': { type: 'number' } } }, [1], ['a']],
  [
    '$ref with siblings',
    { $ref: '#/definitions/n', minimum: 1, definitions: { n: { type: 'number' } } },
    [1],
    [0, 'a'],
  ],
  ['$anchor', { $ref: '#here', $defs: { x: { $anchor: 'here', type: 'number' } } }, [1], ['a']],
  [
    '$id',
    {
      $id: 'https://a.example/s',
      $ref: 'other',
      $defs: { x: { $id: 'other', $ref: '#/$defs/y', $defs: { y: { type: 'null' } } } },
    },
    [null],
    [1],
  ],
  [
    'recursion',
    { properties: { next: { $ref: '#' } }, additionalProperties: false },
    [{ next: { next: {} } }],
    [{ next: { x: 1 } }],
  ],
  ['$dynamicRef', { $dynamicRef: '#n', $defs: { x: { $dynamicAnchor: 'n', type: 'null' } } }, [null], [1]],
  [
    'unevaluatedProperties',
    {
      properties: { a: true },
      anyOf: [
        { properties: { b: { const: 1 } }, required: ['b'] },
        { properties: { c: true }, required: ['c'] },
      ],
      unevaluatedProperties: false,
    },
    [{ a: 1, b: 1 }, { c: 1 }, { b: 1, c: 1 }],
    [
      { b: 2, c: 1 },
      { a: 1, b: 1, d: 1 },
    ],
  ],
  [
    'unevaluatedItems',
    { prefixItems: [true], contains: { const: 'x' }, unevaluatedItems: { type: 'number' } },
    [[null, 'x', 1]],
    [[null, 'x', 'y']],
  ],
  ['boolean schemas', { properties: { a: true, b: false } }, [{ a: 1 }], [{ b: 1 }]],
  ['unknown keywords', { 'x-thing': { type: 5 }, title: 'x' }, [1, null, {}], []],
]

describe('schema keywords', () => {
  it.each(ROWS)('%s', (...[, schema, good, bad]) => {
    for (const value of good) expect([value, check(schema, value)]).toEqual([value, { valid: true }])
    for (const value of bad) expect([value, check(schema, value).valid]).toEqual([value, false])
  })
})

describe('invalid schemas', () => {
  it.each<[string, unknown, string]>([
    ['a schema that is none', 5, '(root)'],
    ['null', null, '(root)'],
    ['an unknown type', { properties: { a: { type: 'strng' } } }, 'properties.a.type'],
    ['a type in a list', { type: ['string', 5] }, 'type'],
    ['required that is no list', { items: { required: 'a' } }, 'items.required'],
    ['properties that are a list', { properties: [] }, 'properties'],
    ['a property that is no schema', { properties: { a: 'string' } }, 'properties.a'],
    ['a limit that is no number', { minLength: '5' }, 'minLength'],
    ['a negative limit', { minItems: -1 }, 'minItems'],
    ['a divisor of 0', { multipleOf: 0 }, 'multipleOf'],
    ['anyOf that is no list', { anyOf: {} }, 'anyOf'],
    ['a pattern that is no string', { pattern: 5 }, 'pattern'],
    ['a broken schema behind a reference', { $ref: '#/x/y', x: { y: { type: 7 } } }, 'x.y.type'],
  ])('%s', (_name, schema, path) => {
    const compiled = compileSchema(schema)
    expect(compiled.ok ? 'ok' : compiled.errors[0]?.path).toBe(path)
  })
})
