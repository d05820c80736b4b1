import { expect, it } from 'vitest'
import { readSignInSearch } from './sign-in-search.ts'

it('readDoor keeps only return paths of the same site', () => {
  expect(readSignInSearch({ returnTo: '/threads/th_1?tab=x' })).toEqual({ returnTo: '/threads/th_1?tab=x' })
  for (const returnTo of ['https://evil.example', '//evil.example', '/\\evil.example', 'javascript:alert(1)', ''])
    expect(readSignInSearch({ returnTo })).toEqual({})
})

it('readDoor keeps the problem code', () => {
  expect(readSignInSearch({ problem: 'no-account', other: 1 })).toEqual({ problem: 'no-account' })
})
