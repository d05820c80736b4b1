import { expect, it } from 'vitest'
import { readDoor } from './door-search.ts'

it('leads to pages of our own alone', () => {
  expect(readDoor({ returnTo: '/threads/th_1?tab=x' })).toEqual({ returnTo: '/threads/th_1?tab=x' })
  for (const returnTo of ['https://evil.example', '//evil.example', '/\\evil.example', 'javascript:alert(1)', ''])
    expect(readDoor({ returnTo })).toEqual({})
})

it('keeps what went wrong', () => {
  expect(readDoor({ problem: 'no-account', other: 1 })).toEqual({ problem: 'no-account' })
})
