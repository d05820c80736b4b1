import { expect, it } from 'vitest'
import { effectiveLimit } from './effective-limit.ts'

it('capOf returns the cap if it is the effective limit', () => {
  expect(effectiveLimit(undefined, 100)).toBe(100)
  expect(effectiveLimit(500, 100)).toBe(100)
  expect(effectiveLimit(50, 50)).toBeUndefined()
  expect(effectiveLimit(undefined, undefined)).toBeUndefined()
})
