/** The other half: see `looks.e2e.test.ts`. */
import { expect, it } from 'vitest'
import { lookAt } from './look-at.ts'
import { PAGES } from './screens/index.ts'

const HERE = ['threads', 'workflows', 'activity', 'settings', 'operator']
const THERE = ['connectors', 'custom', 'tools', 'doors', 'approvals']

it('the visual tests cover every page', () => {
  expect([...HERE, ...THERE].sort()).toEqual(Object.keys(PAGES).sort())
})

lookAt(HERE, process.env.LOADOUT_PROVE === 'full')
