/** Settings in a real browser: each change holds on the server, keys are shown once, nothing unsaved is lost in silence. */
import type { Page } from 'playwright'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type OpenApp, openApp } from './open-app.ts'

const APP_KEY = 'planted-model-key-77aa'

describe('the settings page', () => {
  let app: OpenApp
  let page: Page
  const read = async (path: string) => (await fetch(`${app.url}/api${path}`)).json()
  const post = async (path: string, body: object) => {
    const headers = { 'content-type': 'application/json' }
    return (await fetch(`${app.url}/api${path}`, { method: 'POST', headers, body: JSON.stringify(body) })).status
  }
  const tab = (name: string) => page.getByRole('tab', { name }).click()

  beforeAll(async () => {
    app = await openApp(async ({ toolkits, app: config }) => {
      const secret = { command: 'tracker', env: { TOKEN: 'planted-secret-11' } }
      await toolkits.register({ name: 'Tracker', ...secret }, { tier: 'user', userId: 'local' })
      await config.update({ limits: { maxCallsPerHour: 500 } })
    })
    page = await app.open({ permissions: ['clipboard-read', 'clipboard-write'] })
    await page.goto('/settings')
  })
  afterAll(() => app[Symbol.asyncDispose]())

  it('saves preferences and applies the theme at once', async () => {
    await page.getByRole('switch', { name: 'Choose tools for each prompt' }).click()
    await expect.poll(async () => (await read('/preferences')).autoLoadTools).toBe(false)
    await page.getByRole('switch', { name: 'Learn from use' }).click()
    await expect.poll(async () => (await read('/preferences')).learnFromUse).toBe(false)
    await page.getByRole('spinbutton', { name: 'Max servers per thread' }).fill('0')
    await page.getByText('A whole number from 1 to 1,000, or empty for no limit.').waitFor()
    await page.getByRole('spinbutton', { name: 'Max servers per thread' }).fill('5')
    await page.getByRole('link', { name: 'Tools', exact: true }).click()
    await page.getByRole('alertdialog').getByRole('button', { name: 'Keep editing' }).click()
    await page.getByRole('alertdialog').waitFor({ state: 'detached' })
    await page.getByRole('spinbutton', { name: 'Max servers per thread' }).focus()
    await page.keyboard.press('Enter')
    await expect.poll(async () => (await read('/preferences')).maxServersPerThread).toBe(5)
    await page.locator('main').getByRole('radio', { name: /^Dark/ }).click()
    await expect.poll(() => page.evaluate(() => document.documentElement.dataset.theme)).toBe('dark')
    await expect.poll(async () => (await read('/preferences')).theme).toBe('dark')
    expect(await page.getByRole('tab', { name: 'Account' }).count()).toBe(0)
  })

  it('edits rules by pattern, shows errors at their field, and asks before unsaved changes are lost', async () => {
    await tab('Rules')
    await page.waitForURL(/tab=rules/)
    await page.getByRole('button', { name: 'Add rule' }).click()
    await page.getByRole('button', { name: 'Save rules' }).click()
    await page.getByText(/^Tools .+\.$/).waitFor()
    await page.getByRole('textbox', { name: 'Tools' }).fill('tracker.delete_*')
    await tab('Limits')
    await page.getByRole('alertdialog').getByRole('button', { name: 'Keep editing' }).click()
    await page.getByRole('combobox', { name: 'Decision' }).selectOption('deny')
    await page.getByRole('button', { name: 'Save rules' }).click()
    await page.getByText('Rules saved').waitFor()
    expect((await read('/policy/own')).rules).toMatchObject([{ pattern: 'tracker.delete_*', decision: 'deny' }])
  })

  it('sets limits below the limits of the operator', async () => {
    await tab('Limits')
    await page.getByText(/The operator allows 500 at most/).waitFor()
    await page.getByRole('textbox', { name: 'Most calls in an hour' }).fill('20')
    await tab('Rules')
    await page.getByRole('alertdialog').getByRole('button', { name: 'Keep editing' }).click()
    await page.getByRole('alertdialog').waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Save limits' }).click()
    await page.getByText('0 of 20').waitFor()
    expect((await read('/usage')).callsThisHour.limit).toBe(20)
    // What is saved asks nothing.
    await tab('Rules')
    await page.waitForURL(/tab=rules/)
  })

  it('creates an API key that is shown once, works, and is revoked', async () => {
    await tab('API keys')
    await page.getByRole('button', { name: 'New key' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name: 'Make key' }).click()
    await dialog.getByText('Name it.').waitFor()
    await dialog.getByRole('textbox', { name: 'Name' }).fill('script')
    await dialog.getByRole('checkbox', { name: /^write/ }).uncheck()
    await dialog.getByRole('button', { name: 'Make key' }).click()
    await dialog.getByRole('button', { name: 'Copy the key' }).click()
    await dialog.getByText('Copied').waitFor()
    const key = await page.evaluate(() => navigator.clipboard.readText())
    expect(key).toMatch(/^lo_\w{40}$/)
    const as = (method: string) =>
      fetch(`${app.url}/api/threads`, {
        method,
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        ...(method === 'POST' ? { body: '{}' } : {}),
      })
    expect([(await as('GET')).status, (await as('POST')).status]).toEqual([200, 403])
    await dialog.getByRole('button', { name: 'I have it' }).click()
    await dialog.waitFor({ state: 'detached' })
    expect(await page.content()).not.toContain(key)
    await page.getByRole('button', { name: 'Revoke script' }).click()
    await page.getByRole('button', { name: 'Revoke key' }).click()
    await page.getByRole('heading', { name: 'No API keys' }).waitFor()
    expect((await as('GET')).status).toBe(401)
  })

  it('stores a model key and never shows it', async () => {
    await tab('Model keys')
    await page.getByRole('button', { name: 'Set your key for Anthropic' }).click()
    await page.getByLabel('Key for Anthropic', { exact: true }).fill(APP_KEY)
    await page.keyboard.press('Enter')
    await page.getByText('Your own key', { exact: true }).waitFor()
    await page.getByLabel('Key for Anthropic', { exact: true }).waitFor({ state: 'detached' })
    expect(await page.content()).not.toContain(APP_KEY)
    await page.getByRole('button', { name: 'Remove your key for Anthropic' }).click()
    await page.getByText('Your own key', { exact: true }).waitFor({ state: 'detached' })
  })

  it('revokes a saved permission', async () => {
    await tab('Remembered answers')
    await page.getByRole('heading', { name: 'No remembered answers' }).waitFor()
    const pay = { name: 'pay', inputSchema: { type: 'object' }, execute: 'return 1' }
    expect(await post('/mcp', { name: 'Shop', tools: [pay] })).toBe(201)
    expect(await post('/grants', { ref: 'shop.pay', decision: 'allow' })).toBe(201)
    await page.getByRole('button', { name: 'Take back the answer about shop.pay' }).click()
    await page.getByRole('heading', { name: 'No remembered answers' }).waitFor()
    expect((await read('/grants')).items).toEqual([])
  })

  it('exports servers without their secrets', async () => {
    await tab('Import and export')
    await page.getByRole('button', { name: 'Show' }).click()
    await page.getByText(/"mcpServers"/).waitFor()
    expect(await page.content()).not.toContain('planted-secret-11')
    await page.getByRole('link', { name: 'Paste a config' }).click()
    await page.waitForURL(/connectors\?add=paste/)
  })
})
