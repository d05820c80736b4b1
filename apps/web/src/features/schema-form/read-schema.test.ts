import { describe, expect, it } from 'vitest'
import { newWork } from '../../../../../test/prove/work.ts'
import { defaultsOf } from './defaults-of.ts'
import { readSchema } from './read-schema.ts'

const work = newWork()

const read = (schema: unknown) => {
  const outcome = readSchema(schema)
  if (!outcome.ok) throw new Error(outcome.reason)
  return outcome.schema
}
const $defs = { Point: { type: 'number' } }
const field = (schema: unknown, required: string[] = []) =>
  (read({ type: 'object', properties: { x: schema }, required, $defs }).properties as Record<string, unknown>).x

describe('a schema for the form', () => {
  it('keeps references, also recursive ones', () => {
    const schema = read({
      type: 'object',
      properties: { tree: { $ref: '#/$defs/Node' } },
      $defs: { Node: { type: 'object', properties: { children: { type: 'array', items: { $ref: '#/$defs/Node' } } } } },
    })
    expect(schema.properties).toMatchObject({ tree: { title: 'tree', $ref: '#/$defs/ref0' } })
    expect(schema.$defs?.ref0).toMatchObject({
      properties: { children: { items: { $ref: '#/$defs/ref0' } } },
    })
  })

  it('resolves a reference to any path, and accepts any JSON for an unresolved one', () => {
    const schema = read({
      properties: { a: { type: 'string' }, b: { $ref: '#/properties/a' }, c: { $ref: 'https://elsewhere.example/x' } },
    })
    expect(schema.properties?.c).toEqual({ 'x-any-json': true })
    expect(schema.$defs?.ref0).toEqual({ type: 'string' })
  })

  it('treats "this or nothing" as an optional field if it is not required', () => {
    const either = { anyOf: [{ type: 'string', minLength: 2 }, { type: 'null' }], default: null, title: 'Name' }
    expect(field(either)).toEqual({ type: 'string', minLength: 2, title: 'Name' })
    expect(field(either, ['x'])).toMatchObject({
      anyOf: [
        { title: 'Text', type: 'string' },
        { title: 'Nothing (null)', type: 'null' },
      ],
    })
    expect(field({ type: ['integer', 'null'] })).toEqual({ type: 'integer' })
    expect(field({ type: ['integer', 'null'] }, ['x'])).toMatchObject({
      anyOf: [{ type: 'integer' }, { type: 'null' }],
    })
  })

  it('puts required fields first', () => {
    const { properties } = read({ properties: { a: {}, b: {}, c: {} }, required: ['c'] })
    expect(Object.keys(properties ?? {})).toEqual(['c', 'a', 'b'])
  })

  it('turns several types into a choice with names', () => {
    expect(field({ type: ['string', 'number', 'integer'], description: 'd' })).toEqual({
      description: 'd',
      anyOf: [
        { title: 'Text', type: 'string' },
        { title: 'Number', type: 'number' },
      ],
    })
  })

  it('names choices by their distinguishing part', () => {
    const oneOf = [
      { type: 'object', properties: { kind: { const: 'circle' } }, required: ['kind'] },
      { type: 'object', properties: { side: { type: 'number' } }, required: ['side'] },
      { const: 5 },
      { $ref: '#/$defs/Point' },
      { type: 'boolean' },
    ]
    const { oneOf: choices } = field({ oneOf }) as { oneOf: { title: string }[] }
    expect(choices.map(({ title }) => title)).toEqual(['circle', 'With side', '5', 'Point', 'Yes or no'])
  })

  it('reads tuples in both spellings', () => {
    const tuple = { items: [{ type: 'string' }, { type: 'number' }], additionalItems: false, type: 'array' }
    expect(field({ type: 'array', prefixItems: [{ type: 'string' }, { type: 'number' }] })).toEqual(tuple)
    expect(field({ items: [{ type: 'string' }, { type: 'number' }] })).toEqual(tuple)
  })

  it('drops invalid defaults and unknown keywords', () => {
    expect(field({ type: 'integer', default: 'x', $id: 'StringField', 'ui:field': 'evil', minimum: 'no' })).toEqual({
      type: 'integer',
    })
    expect(field({ type: 'integer', default: 3 })).toEqual({ type: 'integer', default: 3 })
  })

  it('uses a JSON editor for free objects and unknown types', () => {
    for (const free of [{}, true, { type: 'object' }, { description: 'd' }, 5])
      expect(field(free)).toHaveProperty('x-any-json')
  })
})

describe('a hostile schema', () => {
  const deep = (levels: number): unknown =>
    levels === 0 ? { type: 'string' } : { type: 'object', properties: { a: deep(levels - 1) } }
  const laughs = {
    $ref: '#/$defs/l0',
    $defs: Object.fromEntries(
      Array.from({ length: 40 }, (_, n) => [
        `l${n}`,
        { type: 'object', properties: { a: { $ref: `#/$defs/l${n + 1}` }, b: { $ref: `#/$defs/l${n + 1}` } } },
      ]),
    ),
  }
  const wide = { properties: Object.fromEntries(Array.from({ length: 5000 }, (_, n) => [`p${n}`, {}])) }
  const CASES: Record<string, unknown> = {
    deep: deep(300),
    'a billion fields': laughs,
    wide,
    'a reserved name': JSON.parse('{"properties": {"__proto__": {"type": "string"}}}'),
    'no schema': 'x',
    nothing: null,
    list: [],
  }
  for (const [name, schema] of Object.entries(CASES))
    it(`is rejected with a message: ${name}`, () => {
      const outcome = work.within({ steps: 1_000_000, ms: 1000 }, () => readSchema(schema))
      expect(outcome.ok ? '' : outcome.reason).toMatch(/^[A-Z].*\.$/)
    })

  const ODD: unknown[] = [
    { $ref: '#' },
    { $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } } },
    { type: 'object', properties: [], required: {}, anyOf: {}, allOf: 5, items: 'x' },
    { type: 'array', items: { $ref: '#' }, minItems: 1e9 },
    { anyOf: [], oneOf: [null, true, false, 3] },
    { $ref: '#/%E0%A4%A' },
    { enum: [] },
    { type: ['nonsense'] },
    JSON.parse('{"if": true, "then": false, "else": 7}'),
  ]
  for (const schema of ODD)
    it(`never throws: ${JSON.stringify(schema)}`, () => {
      expect(() => readSchema(schema)).not.toThrow()
    })
})

it('defaultsOf returns the valid defaults only', () => {
  const schema = {
    properties: {
      a: { type: 'integer', default: 3 },
      b: { type: 'string', default: 4 },
      c: { anyOf: [{ type: 'null' }] },
    },
  }
  expect(defaultsOf(schema)).toEqual({ a: 3 })
  expect(defaultsOf({ default: { x: 1 }, type: 'object', properties: { x: { default: 2 } } })).toEqual({ x: 1 })
  expect(defaultsOf('nonsense')).toEqual({})
})
