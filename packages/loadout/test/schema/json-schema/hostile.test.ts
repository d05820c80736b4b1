/** Schemas and values made to block the event loop: each ends after a bounded number of steps, whatever it ends with. */
import { describe, expect, it } from 'vitest'
import { newWork } from '../../../../../test/prove/work.ts'
import { compileSchema, type ValidationResult } from '../../../src/json-schema/validator.ts'

const work = newWork()
const SOON = { steps: 15_000_000, ms: 200 }

const times = <T>(count: number, make: (i: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i))
const record = <T>(count: number, make: (i: number) => [string, T]) => Object.fromEntries(times(count, make))

function nest(levels: number, wrap: (inner: unknown) => unknown, inner: unknown = 1): unknown {
  let value = inner
  for (let i = 0; i < levels; i++) value = wrap(value)
  return value
}

/** A chain of definitions, each with two or more ways to the next one. */
const doubling = (keyword: string, ways: number) => ({
  $ref: '#/$defs/d0',
  $defs: record(60, (i) => [
    `d${i}`,
    i < 59 ? { [keyword]: times(ways, () => ({ $ref: `#/$defs/d${i + 1}` })) } : { type: 'string' },
  ]),
})

type Outcome = ValidationResult['valid'] | 'not ok'

const CASES: [name: string, schema: () => unknown, value: () => unknown, outcome: Outcome][] = [
  ['a pattern that backtracks', () => ({ pattern: '^(a+)+$' }), () => `${'a'.repeat(100_000)}!`, false],
  ['a pattern on 10 MB', () => ({ pattern: '(.*)*(.*)*x$' }), () => 'a'.repeat(10_000_000), 'unknown'],
  ['a pattern of 10^9 parts', () => ({ pattern: '((a{1000}){1000}){1000}' }), () => 'a', 'unknown'],
  [
    'a pattern of 20,000 groups',
    () => ({ pattern: `${'('.repeat(20_000)}a${')'.repeat(20_000)}` }),
    () => 'a',
    'unknown',
  ],
  ['a pattern that is wide', () => ({ pattern: '(a?){2000}(a*){50}$' }), () => `${'a'.repeat(100_000)}!`, 'unknown'],
  ['9,000 large patterns', () => ({ allOf: times(9_000, (i) => ({ pattern: `(a|b${i}){999}` })) }), () => 'c', false],
  [
    'patterns on many keys',
    () => ({ patternProperties: record(400, (i) => [`^(x+)+y${i}`, { type: 'string' }]) }),
    () => record(5_000, (i) => [`${'x'.repeat(50)}${i}`, 1]),
    'unknown',
  ],
  [
    '20,000 properties',
    () => ({ properties: record(20_000, (i) => [`p${i}`, { type: 'string' }]) }),
    () => ({}),
    'not ok',
  ],
  [
    '9,000 properties',
    () => ({ properties: record(9_000, (i) => [`p${i}`, { type: 'string' }]), additionalProperties: false }),
    () => record(9_000, (i) => [`q${i}`, 1]),
    false,
  ],
  ['11,000 schemas', () => ({ allOf: times(11_000, () => ({ type: 'string' })) }), () => 'a', 'not ok'],
  ['a schema 20,000 deep', () => nest(20_000, (inner) => ({ not: inner }), {}), () => 1, 'not ok'],
  ['properties 20,000 deep', () => nest(20_000, (inner) => ({ properties: { a: inner } }), {}), () => 1, 'not ok'],
  ['a literal 20,000 deep', () => ({ enum: [nest(20_000, (inner) => [inner])] }), () => 1, 'not ok'],
  [
    'a value 20,000 deep',
    () => ({ properties: { a: { $ref: '#' } } }),
    () => nest(20_000, (inner) => ({ a: inner })),
    'unknown',
  ],
  ['an array 20,000 deep', () => ({ items: { $ref: '#' } }), () => nest(20_000, (inner) => [inner]), 'unknown'],
  ['a deep value to compare', () => ({ uniqueItems: true }), () => [nest(20_000, (inner) => [inner])], 'unknown'],
  [
    'a deep value that nobody looks into',
    () => ({ type: 'object' }),
    () => nest(20_000, (inner) => ({ a: inner })),
    true,
  ],
  ['a reference to itself', () => ({ $ref: '#' }), () => 1, 'unknown'],
  [
    'references in a circle',
    () => ({ $ref: '#/$defs/a', $defs: { a: { anyOf: [{ $ref: '#/$defs/b' }] }, b: { not: { $ref: '#/$defs/a' } } } }),
    () => 1,
    'unknown',
  ],
  [
    'a chain of 6,000 references',
    () => ({ $ref: '#/$defs/d0', $defs: record(6_000, (i) => [`d${i}`, { $ref: `#/$defs/d${i + 1}` }]) }),
    () => 1,
    'unknown',
  ],
  ['a pointer of 20,000 parts', () => ({ $ref: `#${'/a'.repeat(20_000)}` }), () => 1, 'unknown'],
  ['anyOf that doubles 60 times', () => doubling('anyOf', 2), () => 1, 'unknown'],
  ['oneOf that triples 60 times', () => doubling('oneOf', 3), () => 1, 'unknown'],
  ['allOf that doubles 60 times', () => doubling('allOf', 2), () => 'x', 'unknown'],
  ['a huge enum', () => ({ enum: times(25_000, (i) => `e${i}`) }), () => 'no', false],
  ['a huge enum of objects', () => ({ enum: times(12_000, (i) => ({ a: i })) }), () => ({ a: -1 }), false],
  ['uniqueItems of a million', () => ({ uniqueItems: true }), () => times(1_000_000, (i) => i), 'unknown'],
  ['uniqueItems of objects', () => ({ uniqueItems: true }), () => times(50_000, (i) => ({ a: i, b: [i] })), 'unknown'],
  [
    'uniqueItems of long texts',
    () => ({ uniqueItems: true }),
    () => times(500, (i) => `${'x'.repeat(20_000)}${1_000 + i}`),
    'unknown',
  ],
  [
    '100,000 keys, often',
    () => ({ allOf: times(3_000, () => ({ minProperties: 1 })) }),
    () => record(100_000, (i) => [`k${i}`, 1]),
    'unknown',
  ],
  [
    '100,000 rows',
    () => ({ items: { properties: { a: { type: 'string' }, b: { type: 'integer' } }, required: ['a'] } }),
    () => times(100_000, (i) => ({ a: '', b: i })),
    'unknown',
  ],
  ['numbers far apart', () => ({ items: { multipleOf: 1e-300 } }), () => times(100_000, () => 1.5e300), 'unknown'],
  [
    'long texts in formats',
    () => ({
      not: { anyOf: ['email', 'hostname', 'ipv6', 'date-time', 'duration', 'uri'].map((format) => ({ format })) },
    }),
    () => ':.'.repeat(200_000),
    true,
  ],
  [
    'unevaluated keys',
    () => ({
      anyOf: times(200, (i) => ({ properties: record(40, (j) => [`k${i * 40 + j}`, true]) })),
      unevaluatedProperties: false,
    }),
    () => record(20_000, (i) => [`k${i}`, 1]),
    'unknown',
  ],
  [
    'names that are nearly right',
    () => ({ properties: record(2_000, (i) => [`a_rather_long_name_${i}`, {}]), additionalProperties: false }),
    () => record(2_000, (i) => [`b_rather_long_nams_${i}`, 1]),
    false,
  ],
  ['an array without end', () => ({ items: { type: 'string' } }), () => Array(4_000_000_000), false],
]

describe('bounded validation of a hostile schema or value', () => {
  it.each(CASES)('%s', (...[, makeSchema, makeValue, outcome]) => {
    const schema = makeSchema()
    const value = makeValue()
    const compiled = work.within(SOON, () => compileSchema(schema))
    expect(work.within(SOON, () => (compiled.ok ? compiled.validate(value).valid : 'not ok'))).toBe(outcome)
  })

  it('rejects a schema that contains itself', () => {
    const schema: Record<string, unknown> = {}
    schema.not = schema
    expect(compileSchema(schema).ok).toBe(false)
  })
})

describe('JavaScript property names', () => {
  const parse = (text: string) => JSON.parse(text) as unknown
  const result = (schema: string, value: string) => {
    const compiled = compileSchema(parse(schema))
    return compiled.ok && compiled.validate(parse(value)).valid
  }

  it.each<[string, string, boolean]>([
    ['{"required":["__proto__"]}', '{}', false],
    ['{"required":["__proto__"]}', '{"__proto__":1}', true],
    ['{"required":["constructor","hasOwnProperty","toString"]}', '{}', false],
    ['{"properties":{"constructor":{"type":"number"},"toString":{"type":"string"}}}', '{}', true],
    ['{"properties":{"__proto__":{"type":"number"}}}', '{"__proto__":"x"}', false],
    ['{"properties":{"__proto__":{"type":"number"}}}', '{"__proto__":5}', true],
    ['{"additionalProperties":false}', '{"__proto__":{}}', false],
    ['{"properties":{"a":true},"additionalProperties":false}', '{"constructor":1}', false],
    ['{"dependentRequired":{"constructor":["x"]}}', '{}', true],
    ['{"const":{"__proto__":1}}', '{}', false],
    ['{"const":{"__proto__":1}}', '{"__proto__":1}', true],
    ['{"$ref":"#/$defs/__proto__","$defs":{"__proto__":{"type":"number"}}}', '"x"', false],
    ['{"__proto__":{"type":"number"}}', '"x"', true],
    ['{"unevaluatedProperties":false,"properties":{"a":true}}', '{"valueOf":1}', false],
  ])('decides %s with %s', (schema, value, expected) => {
    expect(result(schema, value)).toBe(expected)
  })

  it('do not let a reference reach a prototype', () => {
    const compiled = compileSchema({ $ref: '#/constructor/prototype' })
    expect(compiled.ok && compiled.notes.length).toBe(1)
  })
})

describe('ordinary tool schemas', () => {
  it('compile in a few steps each, for 1,000 schemas', () => {
    const schemas = times(1_000, (i) => ({
      type: 'object',
      properties: {
        ...record(8, (j) => [`p${i}_${j}`, { type: 'string', description: 'x', minLength: 1 }]),
        id: { type: 'integer' },
      },
      required: ['id'],
    }))
    const bound = { steps: 1_000 * 2_000, ms: 300 }
    expect(work.within(bound, () => schemas.every((schema) => compileSchema(schema).ok))).toBe(true)
  })
})
