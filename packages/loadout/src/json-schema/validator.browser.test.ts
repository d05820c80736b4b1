import { expect, it } from 'vitest'
import { compileSchema } from './validator.ts'

// A match that tries every way would not end before the test's own timeout; `hostile.test.ts` counts its steps.
it('the validator works in a browser and is not blocked there either', () => {
  const compiled = compileSchema({ properties: { name: { type: 'string', pattern: '^(a+)+$' } }, required: ['name'] })
  if (!compiled.ok) throw new Error('not ok')
  expect(compiled.validate({ name: 'aaa' })).toEqual({ valid: true })
  expect(compiled.validate({})).toEqual({ valid: false, errors: [{ path: 'name', message: 'is required: a string' }] })
  expect(compiled.validate({ name: `${'a'.repeat(50_000)}!` }).valid).toBe(false)
})

it('the validator stays within the smaller stack of a browser', () => {
  const compiled = compileSchema({ anyOf: [{ allOf: [{ $ref: '#' }] }] })
  expect(compiled.ok && compiled.validate(1).valid).toBe('unknown')
})
