import { expect, it } from 'vitest'
import { claimsOf } from './tool-badges.tsx'

it('claimsOf lists each annotation of a server, worst first, also contradictory ones', () => {
  const labels = (annotations: Parameters<typeof claimsOf>[0]) => claimsOf(annotations).map(({ label }) => label)
  expect(labels({ readOnlyHint: true, destructiveHint: true })).toEqual(['Destructive', 'Read-only'])
  expect(labels({ readOnlyHint: true, destructiveHint: false })).toEqual(['Read-only'])
  expect(labels({ destructiveHint: false, openWorldHint: true })).toEqual(['Not destructive', 'Open world'])
  expect(labels({ readOnlyHint: false })).toEqual(['Writes'])
  expect(labels(undefined)).toEqual(['No claims'])
})
