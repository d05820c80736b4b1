/** The screens of threads, approvals and workflows: see `screens-servers.e2e.test.ts`. */
import { expect, it } from 'vitest'
import { checkScreens, GROUPS } from './check-screens.ts'
import { PAGES } from './screens/index.ts'

it('the groups of pages include every page', () => {
  expect(Object.values(GROUPS).flat().sort()).toEqual(Object.keys(PAGES).sort())
})

checkScreens(GROUPS.threads, process.env.LOADOUT_PROVE === 'full')
