/** The page of servers with eighty of them: what is drawn, in which order, and what can be done to many at once. */
import type { HostServices } from '@loadout/core/services'
import type { Page } from 'playwright'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type OpenApp, openApp } from './open-app.ts'

const COUNT = 80
const USER = { tier: 'user', userId: 'local' } as const
const toolsOf = (at: number) =>
  Array.from({ length: 29 }, (_, index) => ({
    name: `tool_${at}_${index}`,
    description: `Does the thing number ${index} of server ${at}.`,
    inputSchema: { type: 'object' },
  }))

/** Commands that do not exist: nothing is started, and a refresh fails at once. */
async function fill({ toolkits, catalog }: HostServices): Promise<void> {
  for (let at = 0; at < COUNT; at++) {
    const name = `Server ${String(at).padStart(2, '0')}`
    await toolkits.register({ name, command: '/nowhere/server', args: [String(at)], tools: toolsOf(at) }, USER)
  }
  const { stored } = await toolkits.register({ name: 'Zebra', command: '/nowhere/zebra' }, USER)
  await catalog.introspect(stored, 'local').catch(() => {})
}

let app: OpenApp
let page: Page
beforeAll(async () => {
  app = await openApp(fill)
  page = await app.open()
}, 120_000)
afterAll(() => app?.[Symbol.asyncDispose]())

const rows = () => page.locator('li:has(h3)')
const row = (name: string) => rows().filter({ has: page.getByRole('heading', { name, exact: true }) })
const states = async () => {
  const { toolkits } = await (await page.request.get('/api/mcp')).json()
  return new Map<string, { enabled: boolean }>(toolkits.map((one: { name: string }) => [one.name, one]))
}

describe('eighty servers', () => {
  it('shows the failed one first with its reason, and draws only what is in sight', async () => {
    await row('Zebra').waitFor()
    expect(await rows().first().getByRole('heading').textContent()).toBe('Zebra')
    await rows().first().getByText('/nowhere/zebra', { exact: false }).first().waitFor()
    expect(await rows().count()).toBeLessThan(40)
    expect(await rows().first().getAttribute('aria-setsize')).toBe(String(COUNT + 1))
    await page.evaluate(() => window.scrollTo(0, document.body.scrollHeight))
    await row('Server 79').waitFor()
    expect(await rows().count()).toBeLessThan(40)
  })

  it('finds a server by the name of a tool, and filters failed ones', async () => {
    await page.evaluate(() => window.scrollTo(0, 0))
    await page.getByRole('searchbox', { name: 'Find a server or a tool' }).fill('tool_42_7')
    await row('Server 42').waitFor()
    await expect.poll(() => rows().count()).toBe(1)
    await page.getByRole('searchbox', { name: 'Find a server or a tool' }).fill('')
    await page.getByRole('combobox', { name: 'Which servers' }).selectOption('failed')
    await expect.poll(() => rows().count()).toBe(1)
    await page.getByRole('combobox', { name: 'Which servers' }).selectOption('')
  })

  it('opens a row that stays open while the list scrolls', async () => {
    await page.getByRole('searchbox', { name: 'Find a server or a tool' }).fill('server-0')
    await row('Server 05').getByRole('button', { expanded: false }).first().click()
    await page.getByText('tool_5_3', { exact: true }).waitFor()
    await page.getByRole('searchbox', { name: 'Find a server or a tool' }).fill('')
    await expect.poll(() => rows().count()).toBeGreaterThan(5)
    await page.getByText('tool_5_3', { exact: true }).waitFor()
    await row('Server 05').getByRole('button', { expanded: true }).first().click()
  })

  it('turns off the selected servers, and deletes them after a question', async () => {
    await page.getByRole('button', { name: 'Select', exact: true }).click()
    const bar = page.getByRole('region', { name: 'Selected servers' })
    await bar.getByText('0 servers selected').waitFor()
    for (const name of ['Server 00', 'Server 01']) await page.getByRole('checkbox', { name: `Select ${name}` }).check()
    await bar.getByRole('button', { name: 'Turn off' }).click()
    await page.getByText('2 servers turned off').waitFor()
    expect([...(await states())].filter(([, { enabled }]) => !enabled).map(([name]) => name)).toEqual([
      'Server 00',
      'Server 01',
    ])
    await bar.getByRole('button', { name: 'Delete' }).click()
    const question = page.getByRole('alertdialog', { name: 'Delete 2 servers?' })
    await question.getByText('Server 00, Server 01').waitFor()
    await question.getByRole('button', { name: 'Cancel' }).click()
    expect((await states()).size).toBe(COUNT + 1)
    await bar.getByRole('button', { name: 'Delete' }).click()
    await question.getByRole('button', { name: 'Delete 2 servers' }).click()
    await page.getByText('2 servers deleted').waitFor()
    await expect.poll(async () => (await states()).size).toBe(COUNT - 1)
    await bar.getByRole('button', { name: 'Done' }).click()
    expect(await page.getByRole('checkbox').count()).toBe(0)
  })

  it('refreshes the tools of all servers that are shown, and names those that failed', async () => {
    await page.getByRole('searchbox', { name: 'Find a server or a tool' }).fill('server-7')
    await expect.poll(() => rows().count()).toBe(10)
    await page.getByRole('button', { name: 'Refresh tools of all servers' }).click()
    await page.getByText('0 servers refreshed, 10 failed').waitFor()
    await expect.poll(() => rows().getByText('Failed', { exact: true }).count()).toBe(10)
  })
})
