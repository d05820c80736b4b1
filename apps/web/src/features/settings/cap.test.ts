import { expect, it } from 'vitest'
import { capOf } from './cap.ts'

it('is told where it is what holds', () => {
  expect(capOf(undefined, 100)).toBe(100)
  expect(capOf(500, 100)).toBe(100)
  expect(capOf(50, 50)).toBeUndefined()
  expect(capOf(undefined, undefined)).toBeUndefined()
})
