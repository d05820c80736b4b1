import { expect, it } from 'vitest'
import { problemWords } from './problem-words.ts'

it('says of a conflict what happened, and of all else first what kind it is', () => {
  const told = { title: 'This meets something that is already there', detail: 'You are the last operator.' }
  const action = 'Make somebody else one first.'
  expect(problemWords({ ...told, type: 'urn:loadout:problem:conflict', action })).toEqual({
    ...told,
    title: told.detail,
    action,
  })
  expect(problemWords({ ...told, type: 'urn:loadout:problem:read-only', action })).toEqual({ ...told, action })
})
