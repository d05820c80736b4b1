import { expect, it } from 'vitest'
import { capOf } from './effective-limit.ts'

it('capOf returns the cap if it is the effective limit', () => {
  expect(capOf(undefined, 100)).toBe(100)
  expect(capOf(500, 100)).toBe(100)
  expect(capOf(50, 50)).toBeUndefined()
  expect(capOf(undefined, undefined)).toBeUndefined()
})
