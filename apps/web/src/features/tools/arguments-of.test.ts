import { expect, it } from 'vitest'
import { argumentsOf } from './arguments-of.ts'

it('a tool that names no argument takes none', () => {
  expect(argumentsOf({ type: 'object' })).toEqual({ type: 'object', properties: {} })
  expect(argumentsOf({})).toEqual({ type: 'object', properties: {} })
})

it('what says anything of its arguments stays as it is', () => {
  for (const schema of [
    { properties: { a: {} } },
    { type: 'object', additionalProperties: true },
    { $ref: '#/x' },
    true,
  ])
    expect(argumentsOf(schema)).toBe(schema)
})
