import { expect, it } from 'vitest'
import { argumentsOf } from './input-schema.ts'

it('a tool without declared arguments takes none', () => {
  expect(argumentsOf({ type: 'object' })).toEqual({ type: 'object', properties: {} })
  expect(argumentsOf({})).toEqual({ type: 'object', properties: {} })
})

it('argumentsOf keeps a schema that describes its arguments', () => {
  for (const schema of [
    { properties: { a: {} } },
    { type: 'object', additionalProperties: true },
    { $ref: '#/x' },
    true,
  ])
    expect(argumentsOf(schema)).toBe(schema)
})
