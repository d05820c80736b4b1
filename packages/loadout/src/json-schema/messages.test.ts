import { describe, expect, it } from 'vitest'
import { compileSchema, type ValidationResult } from './validator.ts'

function check(schema: unknown, value: unknown): ValidationResult {
  const compiled = compileSchema(schema)
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.errors))
  return compiled.validate(value)
}

const ISSUE = {
  type: 'object',
  properties: {
    title: { type: 'string', minLength: 1 },
    state: { enum: ['open', 'closed'] },
    count: { type: 'integer', minimum: 1 },
    tags: { type: 'array', items: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] } },
    target: { anyOf: [{ type: 'string' }, { type: 'null' }] },
  },
  required: ['title'],
  additionalProperties: false,
}

const SHAPES = {
  oneOf: [
    {
      type: 'object',
      properties: { kind: { const: 'circle' }, radius: { type: 'number' } },
      required: ['kind', 'radius'],
    },
    { type: 'object', properties: { kind: { const: 'square' }, side: { type: 'number' } }, required: ['kind', 'side'] },
  ],
}

describe('validation messages', () => {
  it.each<[string, unknown, unknown, string[]]>([
    [
      'a choice',
      ISSUE,
      { title: 'x', state: 'opne' },
      ['state: must be one of "open", "closed"; did you mean "open"?'],
    ],
    ['what is missing', ISSUE, {}, ['title: is required: a string']],
    [
      'a name that is nearly right',
      ISSUE,
      { titel: 'x' },
      ['title: is required: a string', 'titel: is not a known property; did you mean "title"?'],
    ],
    ['a wrong type', ISSUE, { title: 'x', count: '3' }, ['count: must be an integer, not a string']],
    ['a fraction', ISSUE, { title: 'x', count: 1.5 }, ['count: must be an integer, not a fraction']],
    ['a place deep inside', ISSUE, { title: 'x', tags: [{ name: 'a' }, {}] }, ['tags.1.name: is required: a string']],
    ['alternatives of types', ISSUE, { title: 'x', target: 5 }, ['target: must be a string or null']],
    ['the whole value', ISSUE, [], ['(root): must be an object, not an array']],
    ['the alternative that was meant', SHAPES, { kind: 'square' }, ['side: is required: a number']],
    ['the choice between alternatives', SHAPES, { kind: 'cube' }, ['kind: must be "circle" or "square"']],
    [
      'several errors at once',
      ISSUE,
      { title: '', count: 0 },
      ['title: must have at least 1 character', 'count: must be at least 1'],
    ],
  ])('%s', (...[, schema, value, expected]) => {
    const result = check(schema, value)
    expect(result.valid === false && result.errors.map(({ path, message }) => `${path}: ${message}`)).toEqual(expected)
  })

  it('include at most maxErrors errors and shorten long literals', () => {
    const compiled = compileSchema({ items: { const: 'x'.repeat(5_000) } }, { maxErrors: 3 })
    const result = compiled.ok && compiled.validate(Array(50).fill(1))
    expect(result && result.valid === false && result.errors.length).toBe(3)
    expect(JSON.stringify(result).length).toBeLessThan(1_000)
  })
})
