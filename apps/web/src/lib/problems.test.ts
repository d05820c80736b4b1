import { expect, it } from 'vitest'
import { formatProblem } from './problems.tsx'

it('formatProblem shows the detail of a conflict first, and the kind of every other problem first', () => {
  const problem = { title: 'This meets something that is already there', detail: 'You are the last operator.' }
  const action = 'Make somebody else one first.'
  expect(formatProblem({ ...problem, type: 'urn:loadout:problem:conflict', action })).toEqual({
    ...problem,
    title: problem.detail,
    action,
  })
  expect(formatProblem({ ...problem, type: 'urn:loadout:problem:read-only', action })).toEqual({ ...problem, action })
})
