import { expect, it } from 'vitest'
import { newId, slugFrom, toolkitId } from './ids.ts'

it('IDs have a kind prefix, are unique and sort by creation time', async () => {
  const ids: string[] = []
  for (let i = 0; i < 200; i++) {
    ids.push(newId('config'))
    if (i % 10 === 0) await new Promise((resolve) => setImmediate(resolve))
  }
  expect(new Set(ids).size).toBe(200)
  for (const id of ids) expect(id).toMatch(/^usco_[0-9a-z]{26}$/)
  const tens = ids.filter((_, i) => i % 10 === 0)
  expect(tens.toSorted()).toEqual(tens)
})

it('a slug is a valid ID or empty', () => {
  for (const name of [
    'GitHub',
    ' My Files! ',
    'Crème brûlée',
    'a'.repeat(80),
    '__x__',
    '日本 2',
    'call_center',
    'USCO_x',
  ])
    expect(toolkitId.safeParse(slugFrom(name)).success, name).toBe(true)
  expect([slugFrom('Crème brûlée'), slugFrom('漢字')]).toEqual(['creme-brulee', ''])
})
