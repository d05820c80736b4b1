/** Screens of the operator's page, each from scratch. */
import { rule } from '@loadout/core'
import type { HostServices } from '@loadout/core/services'
import type { Page } from 'playwright'
import { ago, forget, OLGA, standIn } from './stand-in.ts'

const APP = { tier: 'app' } as const

export async function fill(host: HostServices): Promise<void> {
  await host.toolkits.register({ name: 'Handbook', url: 'https://handbook.example.com/mcp' }, APP)
  await host.toolkits.register({ name: 'Rooms', command: 'rooms-mcp', args: ['--floor', '3'], shared: true }, APP)
  await host.rules.set({}, [
    rule('*.delete_*', 'deny'),
    { pattern: '*', when: { readOnly: true }, decision: 'allow' },
    { pattern: 'mail.*', decision: 'ask', reason: 'Mail leaves the house.', allowRemember: false },
  ] as never)
}

const user = (name: string, more: object = {}) => ({
  id: `user_${name}`,
  name,
  email: `${name.toLowerCase()}@example.com`,
  operator: false,
  disabled: false,
  createdAt: ago(9000),
  lastSignInAt: ago(50),
  methods: ['password'],
  ...more,
})
const USERS = [
  user('Olga', OLGA),
  user('Ann', { methods: ['oidc'] }),
  user('Bob', { methods: [], lastSignInAt: null }),
  user('Cleo', { disabled: true }),
]

const tab = (name: string, heading: string) => async (page: Page) => {
  await forget(page)
  await page.goto('/operator')
  await page.getByRole('tab', { name }).click()
  await page.getByRole('heading', { name: heading }).first().waitFor()
}

export const SCREENS: Record<string, (page: Page) => Promise<unknown>> = {
  'global servers': tab('Global servers', 'Handbook'),
  'add a global server': async (page) => {
    await forget(page)
    await page.goto('/operator?server=new')
    await page.getByRole('dialog', { name: 'Add a global server' }).getByRole('textbox', { name: 'Command' }).waitFor()
  },
  'policy of everyone': tab('Policy', 'Rule 1'),
  'settings of everyone': tab('Settings and limits', 'Limits'),
  users: async (page) => {
    await standIn(page, { users: { items: USERS } })
    await page.goto('/operator?tab=users')
    await page.getByRole('heading', { name: 'Cleo' }).waitFor()
  },
  'invite somebody': async (page) => {
    await standIn(page, { users: { items: USERS } })
    await page.goto('/operator?tab=users')
    await page.getByRole('button', { name: 'Invite' }).click()
    await page.getByRole('dialog').getByRole('textbox', { name: 'Email' }).waitFor()
  },
  'users of a local server': tab('Users', 'One user, without sign-in'),
  'model keys of everyone': tab('Model keys', 'Keys for everyone'),
  upkeep: async (page) => {
    await forget(page)
    await page.goto('/operator?tab=upkeep')
    await page.getByRole('button', { name: 'Check the log' }).click()
    await page.getByText(/The log is whole/).waitFor()
  },
}
