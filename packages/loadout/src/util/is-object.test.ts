import { expect, it } from 'vitest'
import { isObject } from './is-object.ts'

it('accepts objects with named fields only', () => {
  for (const value of [{}, { a: 1 }, Object.create(null)]) expect(isObject(value)).toBe(true)
  for (const value of [null, undefined, [], 'a', 1, () => {}]) expect(isObject(value)).toBe(false)
})
