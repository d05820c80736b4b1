import { expect, it } from 'vitest'
import { budgetProblem, readOptions, stepsProblem } from './chat-options.ts'

it('readOptions reads stored options and a bare model name, and drops invalid values', () => {
  const whole = { model: 'openai:gpt-5.6', programs: true, maxSteps: 5, budget: 1000 }
  expect(readOptions(JSON.stringify(whole))).toEqual(whole)
  expect(readOptions('openai:gpt-5.6')).toEqual({ model: 'openai:gpt-5.6' })
  expect(readOptions(JSON.stringify({ model: 'no name', programs: 'yes', maxSteps: 0, budget: 1.5 }))).toEqual({})
  for (const nothing of [null, '', 'null', '3', '[]']) expect(readOptions(nothing)).toEqual({})
})

it('the option checks report values that the server would reject', () => {
  expect([stepsProblem(undefined), stepsProblem(1), stepsProblem(100), budgetProblem(100_000_000)]).toEqual(
    Array.from({ length: 4 }),
  )
  for (const wrong of [0, 101, 1.5, Number.NaN]) expect(stepsProblem(wrong)).toMatch(/1 to 100/)
  expect(budgetProblem(0)).toMatch(/100,000,000/)
})
