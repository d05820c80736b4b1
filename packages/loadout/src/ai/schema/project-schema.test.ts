import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compileSchema } from '../../json-schema/validator.ts'
import type { JsonObject } from '../../schema/json.ts'
import { projectSchema } from './project-schema.ts'
import { restoreArguments } from './restore-arguments.ts'
import { SCHEMA_PROVIDERS } from './schema-rules.ts'

const READ = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  type: 'object',
  properties: {
    path: { type: 'string', minLength: 1 },
    lines: { type: 'integer', minimum: 1, default: 10 },
    how: { type: 'string', enum: ['head', 'tail'] },
  },
  required: ['path'],
  additionalProperties: false,
}
const lostAt = (schema: unknown, provider: (typeof SCHEMA_PROVIDERS)[number]) =>
  projectSchema(schema, provider).lost.map(({ path }) => path)

describe('the OpenAI strict projection', () => {
  it('requires every field and makes optional fields nullable', () => {
    expect(projectSchema(READ, 'openai-strict')).toEqual({
      schema: {
        type: 'object',
        properties: {
          path: { type: 'string' },
          lines: { type: ['integer', 'null'], minimum: 1 },
          how: { type: ['string', 'null'], enum: ['head', 'tail', null] },
        },
        required: ['path', 'lines', 'how'],
        additionalProperties: false,
      },
      lost: [
        { path: '/properties/path/minLength', what: 'minLength' },
        { path: '/properties/lines/default', what: 'default' },
      ],
    })
  })

  it('removes null from the arguments if the tool does not accept it', () => {
    const schema = {
      type: 'object',
      properties: {
        a: { type: 'string' },
        b: { type: ['string', 'null'] },
        c: {
          type: 'object',
          properties: { d: { type: 'number' }, e: { anyOf: [{ type: 'null' }, { type: 'number' }] } },
        },
        f: { type: 'array', items: { type: 'object', properties: { g: { $ref: '#/$defs/g' } } } },
      },
      required: ['a'],
      $defs: { g: { type: 'string' } },
    }
    const written = { a: null, b: null, c: { d: null, e: null }, f: [{ g: null }], h: null }
    expect(restoreArguments(schema, written)).toEqual({ a: null, b: null, c: { e: null }, f: [{}], h: null })
  })

  it('reports maps, top-level combinators and unknown keywords', () => {
    const schema = {
      type: 'object',
      properties: { env: { type: 'object', additionalProperties: { type: 'string' } } },
      anyOf: [
        { properties: { url: { type: 'string', format: 'uri' } }, required: ['url'] },
        { properties: { command: { type: 'string' } }, required: ['command'] },
      ],
      if: { required: ['env'] },
    }
    const { schema: made, lost } = projectSchema(schema, 'openai-strict')
    expect(Object.keys(made.properties as object)).toEqual(['env', 'url', 'command'])
    expect(lost.map(({ path }) => path).sort()).toEqual(
      ['/anyOf', '/if', '/properties/env', '/properties/env/additionalProperties', '/properties/url/format'].sort(),
    )
  })

  it('keeps recursive references', () => {
    const tree = {
      type: 'object',
      properties: { next: { $ref: '#/$defs/node' } },
      $defs: { node: { type: 'object', properties: { next: { $ref: '#/$defs/node' } } } },
    }
    const { schema, lost } = projectSchema(tree, 'openai-strict')
    expect(lost).toEqual([])
    expect(schema).toMatchObject({
      properties: { next: { anyOf: [{ $ref: '#/$defs/node' }, { type: 'null' }] } },
      $defs: { node: { required: ['next'], additionalProperties: false } },
    })
  })
})

describe('the Gemini projection', () => {
  it('has no refs, no type lists and no numbers in an enum', () => {
    const schema = {
      type: 'object',
      properties: {
        size: { enum: [1, 2], type: 'integer' },
        note: { type: ['string', 'null'], format: 'uri' },
        either: { type: ['string', 'number'] },
        point: { $ref: '#/$defs/point' },
        kind: { const: 'a' },
        any: {},
      },
      $defs: { point: { type: 'object', properties: { x: { type: 'number', exclusiveMinimum: 0 } } } },
    }
    const { schema: made, lost } = projectSchema(schema, 'gemini')
    expect(made.properties).toEqual({
      size: { type: 'integer' },
      note: { type: 'string', nullable: true },
      either: { anyOf: [{ type: 'string' }, { type: 'number' }] },
      point: { type: 'object', properties: { x: { type: 'number' } } },
      kind: { enum: ['a'] },
      any: { type: 'string' },
    })
    expect(made).not.toHaveProperty('$defs')
    expect(lost.map(({ path }) => path)).toEqual([
      '/properties/size/enum',
      '/properties/note/format',
      '/properties/point/properties/x/exclusiveMinimum',
      '/properties/any',
    ])
  })

  it('stops at a recursive schema', () => {
    const tree = { type: 'object', properties: { next: { $ref: '#' } } }
    expect(lostAt(tree, 'gemini')).toEqual(['/properties/next/properties/next'])
  })
})

describe('the Anthropic projection', () => {
  it('accepts a server schema except for top-level combinators and odd names', () => {
    expect(projectSchema(READ, 'anthropic')).toEqual({ schema: READ, lost: [] })
    const odd = { type: 'object', properties: { 'a b': { type: 'string' }, ok: true }, oneOf: [{ required: ['ok'] }] }
    const { schema, lost } = projectSchema(odd, 'anthropic')
    expect(schema).toEqual({ type: 'object', properties: { ok: {} }, required: ['ok'] })
    expect(lost.map(({ path }) => path)).toEqual(['/oneOf', '/properties/a b'])
  })

  it('reads a tuple of the older drafts', () => {
    const schema = {
      type: 'object',
      properties: { pair: { type: 'array', items: [{ type: 'number' }, { type: 'string' }] } },
    }
    expect(projectSchema(schema, 'anthropic').schema.properties).toMatchObject({
      pair: { prefixItems: [{ type: 'number' }, { type: 'string' }], items: {} },
    })
  })
})

/** Problems that OpenAI's strict mode would reject. */
function strictProblems(node: unknown, path = ''): string[] {
  if (typeof node !== 'object' || node === null || Array.isArray(node)) return [`${path}: no schema`]
  const schema = node as JsonObject
  if ('$ref' in schema) return Object.keys(schema).length === 1 ? [] : [`${path}: beside a ref`]
  const types = [schema.type].flat()
  const isTyped = schema.type !== undefined || 'anyOf' in schema || 'enum' in schema || 'const' in schema
  const properties = (schema.properties ?? {}) as JsonObject
  const inside = [
    ...Object.entries(properties),
    ...Object.entries((schema.$defs ?? {}) as JsonObject),
    ...((schema.anyOf ?? []) as unknown[]).map((form, index) => [`anyOf/${index}`, form] as const),
    ...('items' in schema ? [['items', schema.items] as const] : []),
  ]
  return [
    ...(isTyped ? [] : [`${path}: no type`]),
    ...(types.includes('object') && schema.additionalProperties !== false ? [`${path}: open`] : []),
    ...(types.includes('object') && String(schema.required) !== String(Object.keys(properties))
      ? [`${path}: required`]
      : []),
    ...['allOf', 'oneOf', 'not', 'minLength', 'default', 'patternProperties'].filter((word) => word in schema),
    ...inside.flatMap(([name, one]) => strictProblems(one, `${path}/${name}`)),
  ]
}

/** Schemas as servers write them, and as they should not. */
const anySchema = fc.letrec<{ node: JsonObject }>((tie) => ({
  node: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom<JsonObject>({}, { type: 'string', minLength: 2 }, { type: ['number', 'null'] }, { enum: ['a', 1] }),
    fc.constantFrom<JsonObject>({ $ref: '#' }, { $ref: '#/$defs/a' }, { $ref: '#/nowhere' }, { const: null }),
    fc.record({ type: fc.constant('array'), items: tie('node') }),
    fc.record({ allOf: fc.array(tie('node'), { maxLength: 3 }) }),
    fc.record({ oneOf: fc.array(tie('node'), { maxLength: 3 }), not: tie('node') }),
    fc.record(
      {
        type: fc.constant('object'),
        properties: fc.dictionary(fc.constantFrom('a', 'b', 'c d', 'e/f'), tie('node')),
        required: fc.subarray(['a', 'b', 'nope']),
        additionalProperties: fc.oneof(fc.boolean(), tie('node')),
      },
      { requiredKeys: ['type'] },
    ),
  ),
})).node
const root = fc.record({
  type: fc.constant('object'),
  properties: fc.dictionary(fc.string(), anySchema),
  $defs: fc.record({ a: anySchema }),
})

describe('the projection of any schema', () => {
  it.each(SCHEMA_PROVIDERS)('is readable for %s and leaves the server schema unchanged', (provider) => {
    fc.assert(
      fc.property(root, (schema) => {
        const before = JSON.stringify(schema)
        const { schema: made } = projectSchema(schema, provider)
        expect(JSON.stringify(schema)).toBe(before)
        expect(made.type).toBe('object')
        expect(compileSchema(made).ok).toBe(true)
        if (provider === 'openai-strict') expect(strictProblems(made)).toEqual([])
      }),
      { numRuns: 300 },
    )
  })

  it.each(SCHEMA_PROVIDERS)('never throws on any JSON for %s', (provider) => {
    fc.assert(fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => void projectSchema(value, provider)))
    const ring: JsonObject = { type: 'object' }
    ring.properties = { ring }
    ring.anyOf = [ring]
    const deep = { type: 'object', properties: { x: {} as JsonObject } }
    let at = deep.properties.x
    for (let i = 0; i < 50_000; i++) {
      const inner: JsonObject = {}
      at.anyOf = [inner]
      at = inner
    }
    const wide = {
      type: 'object',
      properties: Object.fromEntries(Array.from({ length: 60_000 }, (_, i) => [`f${i}`, true])),
    }
    for (const hostile of [ring, deep, wide, { format: Object.create(null), enum: [10n] }, null, true]) {
      const { lost } = projectSchema(hostile, provider)
      expect(lost.length).toBeLessThanOrEqual(200)
    }
  })
})
