import { expect, it } from 'vitest'
import { formatProblem } from './problems.tsx'

it('problemWords shows the detail of a conflict first, and the kind of every other problem first', () => {
  const told = { title: 'This meets something that is already there', detail: 'You are the last operator.' }
  const action = 'Make somebody else one first.'
  expect(formatProblem({ ...told, type: 'urn:loadout:problem:conflict', action })).toEqual({
    ...told,
    title: told.detail,
    action,
  })
  expect(formatProblem({ ...told, type: 'urn:loadout:problem:read-only', action })).toEqual({ ...told, action })
})
