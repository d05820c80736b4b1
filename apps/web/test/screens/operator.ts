/** Screens of the operator's page, each from scratch. */
import { type Host, rule } from 'loadout'
import type { Page } from 'playwright'

const APP = { tier: 'app' } as const

export async function fill(host: Host): Promise<void> {
  await host.toolkits.register({ name: 'Handbook', url: 'https://handbook.example.com/mcp' }, APP)
  await host.toolkits.register({ name: 'Rooms', command: 'rooms-mcp', args: ['--floor', '3'], shared: true }, APP)
  await host.rules.set({}, [
    rule('*.delete_*', 'deny'),
    { pattern: '*', when: { readOnly: true }, decision: 'allow' },
    { pattern: 'mail.*', decision: 'ask', reason: 'Mail leaves the house.', allowRemember: false },
  ] as never)
}

const tab = (name: string, heading: string) => async (page: Page) => {
  await page.goto('/operator')
  await page.getByRole('tab', { name }).click()
  await page.getByRole('heading', { name: heading }).first().waitFor()
}

export const SCREENS: Record<string, (page: Page) => Promise<unknown>> = {
  'global servers': tab('Global servers', 'Handbook'),
  'add a global server': async (page) => {
    await page.goto('/operator?server=new')
    await page.getByRole('dialog', { name: 'Add a global server' }).getByRole('textbox', { name: 'Command' }).waitFor()
  },
  'policy of everyone': tab('Policy', 'Rule 1'),
  'settings of everyone': tab('Settings and limits', 'Limits'),
  'users of a local server': tab('Users', 'One user, without sign-in'),
  'model keys of everyone': tab('Model keys', 'Keys for everyone'),
  upkeep: async (page) => {
    await page.goto('/operator?tab=upkeep')
    await page.getByRole('button', { name: 'Check the log' }).click()
    await page.getByText(/The log is whole/).waitFor()
  },
}
