/** The screens of threads, approvals and workflows: see `looks.e2e.test.ts`. */
import { expect, it } from 'vitest'
import { GROUPS, lookAt } from './look-at.ts'
import { PAGES } from './screens/index.ts'

it('the groups of pages include every page', () => {
  expect(Object.values(GROUPS).flat().sort()).toEqual(Object.keys(PAGES).sort())
})

lookAt(GROUPS.threads, process.env.LOADOUT_PROVE === 'full')
