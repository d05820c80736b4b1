/** The editor of custom toolkits: written as a form and as JSON, checked while one types, tried, saved, and changed later. */
import type { Page } from 'playwright'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type OpenApp, openApp } from './open-app.ts'

const SECRET = 'planted-margin-4417'
let app: OpenApp
let page: Page
const panel = () => page.getByRole('region', { name: 'Try it' })
const code = () => page.getByRole('textbox', { name: 'Code', exact: true })
const json = () => page.getByRole('textbox', { name: 'The toolkit as JSON' })
const show = (view: 'Form' | 'JSON') =>
  page.getByRole('radiogroup', { name: 'View' }).getByRole('radio', { name: view }).click()
const valid = () => page.getByText('Valid', { exact: true }).waitFor()
const read = async (path: string) => (await fetch(`${app.url}${path}`)).json()

beforeAll(async () => {
  app = await openApp()
  page = await app.open()
})
afterAll(() => app[Symbol.asyncDispose]())

it('the custom toolkit editor opens from the add server dialog', async () => {
  await page.getByRole('button', { name: 'Add server' }).click()
  await page.getByRole('radio', { name: /^Custom toolkit/ }).click()
  await page.getByRole('link', { name: 'Open the editor' }).click()
  await page.waitForURL('**/connectors/custom/new')
  await page.getByRole('heading', { name: 'New custom toolkit' }).waitFor()
  await valid()
})

it('the custom toolkit editor asks for a name before saving', async () => {
  await page.getByRole('button', { name: 'Save toolkit' }).click()
  await page.getByText('Name must not be empty.').waitFor()
  const name = page.getByRole('textbox', { name: 'Name', exact: true })
  expect(await name.evaluate((element) => element === document.activeElement)).toBe(true)
})

it('the custom toolkit editor shows errors in code and names at their place', async () => {
  await page.getByRole('textbox', { name: 'Tool name' }).fill('say it')
  await page.getByText('Must be 1 to 128 of A-Z, a-z, 0-9').waitFor()
  await code().fill('const loud = input.text.toUpperCase(\nreturn loud')
  await page
    .getByText(/line 2, column \d+/)
    .first()
    .waitFor()
  await page.locator('[data-code-editor]').nth(1).locator('.cm-lint-marker-error').waitFor()
  await page.getByText('2 problems').waitFor()
  expect(await panel().getByRole('button', { name: 'Run' }).getAttribute('aria-disabled')).toBe('true')
  await page.getByRole('textbox', { name: 'Tool name' }).fill('shout')
  await code().fill("console.log('said', input.text)\nreturn input.text.toUpperCase() + secrets.END")
  await valid()
})

it('the custom toolkit editor runs a tool before saving and shows its log', async () => {
  await page.getByRole('button', { name: 'Add secret' }).click()
  await page.getByRole('textbox', { name: 'Name of secret 1' }).fill('END')
  await page.getByLabel('END', { exact: true }).fill(SECRET)
  await valid()
  await panel().getByRole('button', { name: 'Run' }).click()
  await panel()
    .getByText(/required/i)
    .first()
    .waitFor()
  await panel().getByLabel(/^text/).fill('hello')
  await panel().getByRole('button', { name: 'Run' }).click()
  await panel().getByText('It worked').waitFor()
  // Its secret is masked in what comes back.
  await panel().getByRole('group', { name: 'Result' }).getByText('HELLO•••').waitFor()
  await panel().getByRole('group', { name: 'Log' }).getByText('said hello').waitFor()
  expect((await read('/api/mcp')).toolkits).toEqual([])
})

it('the custom toolkit editor asks for approval of a test run if a call needs approval', async () => {
  await page.getByRole('checkbox', { name: 'Only reads' }).uncheck()
  await valid()
  await panel().getByRole('button', { name: 'Run' }).click()
  await panel().getByText('Who calls it is asked first').waitFor()
  await panel().getByRole('button', { name: 'Allow this one call' }).click()
  await panel().getByText('It worked').waitFor()
})

it('the custom toolkit editor shows the same record as JSON and marks errors at their position', async () => {
  await show('JSON')
  const text = JSON.parse(await plainText())
  expect(text).toMatchObject({ tools: [{ name: 'shout' }], secrets: { END: SECRET } })
  const second = { name: 'shout', inputSchema: { type: 'object' }, execute: 'ref:nobody' }
  await json().fill(JSON.stringify({ ...text, tools: [...text.tools, second] }, undefined, 2))
  await page.getByText(/Line \d+: "shout" is there twice/i).waitFor()
  await page.getByText(/Line \d+: "nobody" is no function of this app/i).waitFor()
  await expect.poll(() => page.locator('.cm-lintRange-error').allTextContents()).toContain('"ref:nobody"')
  await json().fill('{ "tools": [')
  await page.getByText('Not valid JSON').waitFor()
  expect(await page.getByRole('radio', { name: 'Form' }).first().getAttribute('aria-checked')).toBe('false')
  const whisper = { ...second, name: 'whisper', execute: 'return prices.shout(input)', tools: ['prices.shout'] }
  await json().fill(JSON.stringify({ ...text, tools: [...text.tools, whisper] }, undefined, 2))
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Prices')
  await valid()
  await show('Form')
  await page.getByRole('button', { name: 'whisper', exact: true }).click()
  expect(await page.getByRole('textbox', { name: 'Tools it may call' }).inputValue()).toBe('prices.shout')
})

it('the custom toolkit editor asks before unsaved changes are left', async () => {
  await page.getByRole('link', { name: 'MCP servers' }).last().click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Stay here' }).click()
  expect(page.url()).toContain('/connectors/custom/new')
})

it('a saved custom toolkit has its own URL and never shows its secret', async () => {
  await page.getByRole('button', { name: 'Save toolkit' }).click()
  await page.waitForURL(/\/connectors\/custom\/usco_/)
  await page.getByRole('heading', { name: 'Prices', level: 1 }).waitFor()
  await page.getByText('Stored ••••').waitFor()
  expect(await page.content()).not.toContain(SECRET)
  const { toolkits } = await read('/api/mcp')
  expect(toolkits).toMatchObject([
    { name: 'Prices', toolCount: 2, server: { secrets: { END: '${secret:secrets.END}' } } },
  ])
  await page.getByRole('link', { name: 'MCP servers' }).last().click()
  const row = page.getByRole('listitem').filter({ has: page.getByRole('heading', { name: 'Prices' }) })
  await row.getByText(/^2 tools,/).waitFor()
  await row.getByText('1 stored secret').waitFor()
  await row.getByRole('button', { name: 'Prices', exact: true }).click()
  await row.getByText('whisper', { exact: true }).waitFor()
})

it('an edited custom toolkit keeps settings changed elsewhere, and a test run uses the stored secret', async () => {
  await fetch(`${app.url}/api/mcp/prices`, {
    method: 'PATCH',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ exclude: ['whisper'] }),
  })
  await page.getByRole('button', { name: 'Actions for Prices' }).click()
  await page.getByRole('menuitem', { name: 'Edit' }).click()
  await page.getByRole('heading', { name: 'Prices', level: 1 }).waitFor()
  await page.getByRole('textbox', { name: 'Title' }).fill('Shout')
  await panel().getByLabel(/^text/).fill('again')
  await valid()
  await panel().getByRole('button', { name: 'Run' }).click()
  await panel().getByRole('button', { name: 'Allow this one call' }).click()
  await panel().getByText('AGAIN•••').waitFor()
  await page.getByRole('button', { name: 'Remove this tool' }).waitFor()
  await page.getByRole('button', { name: 'Save toolkit' }).click()
  // A word of an earlier save may still be there.
  const soon = { timeout: 60_000 }
  const first = async () => (await read('/api/mcp/prices')).server.tools[0]
  await expect.poll(first, soon).toMatchObject({ name: 'shout', title: 'Shout' })
  expect(await read('/api/mcp/prices')).toMatchObject({ options: { exclude: ['whisper'] }, toolCount: 2 })
  await expect.poll(() => page.getByRole('button', { name: 'Save toolkit' }).isDisabled(), soon).toBe(true)
})

it('a custom toolkit that was saved elsewhere is never overwritten without a warning', async () => {
  const other = await page.context().newPage()
  const LONG = { timeout: 60_000 }
  const stored = async () => (await read('/api/mcp/prices')).server.tools[0].title
  const title = (of: Page) => of.getByRole('textbox', { name: 'Title' })
  await other.goto(page.url())
  await title(other).fill('Second')
  await title(page).fill('First')
  await other.getByRole('button', { name: 'Save toolkit' }).click()
  await other.getByText('Prices saved').waitFor()
  await page.getByText('This toolkit was saved elsewhere while you changed it here.').waitFor()
  expect(await page.getByRole('button', { name: 'Save toolkit' }).isDisabled()).toBe(true)
  expect(await stored()).toBe('Second')
  await page.getByRole('button', { name: 'Keep mine' }).click()
  await page.getByRole('button', { name: 'Save toolkit' }).click()
  await expect.poll(stored, LONG).toBe('First')
  // Who changed nothing there goes on from what is saved here.
  await expect.poll(() => title(other).inputValue(), LONG).toBe('First')
  // Without the news from the server, the save itself finds out.
  await page.route('**/api/mcp', (route) => route.abort())
  await title(page).fill('Third')
  await title(other).fill('Fourth')
  await other.getByRole('button', { name: 'Save toolkit' }).click()
  await expect.poll(stored, LONG).toBe('Fourth')
  await page.getByRole('button', { name: 'Save toolkit' }).click()
  await page.getByText('This toolkit was saved elsewhere while you changed it here.').waitFor()
  await page.unroute('**/api/mcp')
  expect(await stored()).toBe('Fourth')
  await page.getByRole('button', { name: 'Take what was saved' }).click()
  expect(await title(page).inputValue()).toBe('Fourth')
  await other.close()
})

it('the custom toolkit editor reports an unknown toolkit', async () => {
  await page.goto('/connectors/custom/nobody')
  await page.getByText('There is no such toolkit of yours').waitFor()
  await page.getByRole('link', { name: 'Go to MCP servers' }).click()
  await page.getByRole('heading', { name: 'Your servers' }).waitFor()
})

/** The text of the editor, which draws its lines one by one. */
const plainText = () =>
  json().evaluate((element) => [...element.querySelectorAll('.cm-line')].map((line) => line.textContent).join('\n'))
