import type { Page } from 'playwright'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type OpenApp, openApp } from './open-app.ts'

const SECRET = 'planted-secret-5f2c'
const LATER_SECRET = 'planted-secret-91ab'
// A finger stays on a key for a moment; a radio group looks at the key while it is down.
const PRESS = { delay: 60 }

describe('the servers page', () => {
  let app: OpenApp
  let page: Page
  const dialog = () => page.getByRole('dialog')
  const row = (name: string) => page.getByRole('listitem').filter({ has: page.getByRole('heading', { name }) })
  const choose = async (name: string, action: string) => {
    await page.getByRole('button', { name: `Actions for ${name}` }).click()
    await page.getByRole('menuitem', { name: action }).click()
  }

  const leaveFailed = async () => {
    await dialog().getByText('but could not be reached').waitFor()
    await dialog().getByRole('button', { name: 'Close' }).last().click()
  }

  beforeAll(async () => {
    app = await openApp()
    page = await app.open()
  })
  afterAll(() => app[Symbol.asyncDispose]())

  it('is the first page and explains itself while it is empty', async () => {
    await page.goto('/')
    await page.waitForURL('**/connectors')
    await page.getByRole('heading', { name: 'MCP servers', level: 1 }).waitFor()
    await page.getByRole('heading', { name: 'Add your first server' }).waitFor()
    await page.getByRole('heading', { name: 'Global servers' }).waitFor()
    expect(await page.title()).toBe('MCP servers · Loadout')
    await page.getByRole('link', { name: /Connect to a URL/ }).click()
    await dialog().getByRole('textbox', { name: 'URL' }).waitFor()
    await page.goBack()
    await dialog().waitFor({ state: 'detached' })
  })

  it('shows an error at the field it names, with the fix', async () => {
    await page.getByRole('button', { name: 'Add server' }).click()
    await dialog().getByRole('textbox', { name: 'Name' }).fill('notes')
    await dialog().getByRole('button', { name: 'Add server' }).click()
    const command = dialog().getByRole('textbox', { name: 'Command' })
    await dialog().getByText('Command must not be empty.').waitFor()
    expect(await command.getAttribute('aria-invalid')).toBe('true')
    expect(await describedBy(page, command)).toContain('Command must not be empty.')
    expect(await command.evaluate((element) => element === document.activeElement)).toBe(true)
    const alert = dialog().getByRole('alert')
    expect(await alert.textContent()).toContain('Correct the named fields')
    expect(await alert.textContent()).toMatch(/server\.command: must not be empty.*req_/)
    await command.fill('node')
    await dialog().getByText('Command must not be empty.').waitFor({ state: 'detached' })
  })

  it('adds a server with a secret that is not shown again', async () => {
    await dialog().getByRole('textbox', { name: 'Arguments' }).fill('server.js\n--root\n./my notes')
    await dialog().getByRole('button', { name: 'Add variable' }).click()
    await dialog().getByRole('textbox', { name: 'Name of variable 1' }).fill('NOTES_TOKEN')
    await dialog().getByLabel('NOTES_TOKEN', { exact: true }).fill(SECRET)
    await dialog().getByRole('button', { name: 'Add server' }).click()
    // It is saved, and says in the same place why it does not work.
    await dialog().getByText('notes is saved, but could not be reached').waitFor()
    await dialog().getByText('Stored ••••').waitFor()
    await dialog().getByRole('button', { name: 'Save and try again' }).waitFor()
    await dialog().getByRole('button', { name: 'Close' }).last().click()
    await dialog().waitFor({ state: 'detached' })
    await row('notes').getByText("node server.js --root './my notes'").waitFor()
    await row('notes').getByText('1 stored secret').waitFor()
    await row('notes').getByText('Failed', { exact: true }).waitFor()
    expect(await page.content()).not.toContain(SECRET)
    expect(await focusedId(page)).toBe('add-server')
  })

  it('does not overwrite a server of the same name', async () => {
    await page.getByRole('button', { name: 'Add server' }).click()
    await dialog().getByRole('textbox', { name: 'Name' }).fill('Notes')
    await dialog().getByRole('textbox', { name: 'Command' }).fill('other')
    await dialog().getByRole('button', { name: 'Add server' }).click()
    await dialog().getByText('You already have a server named “notes”.').waitFor()
    await page.goBack()
    await page.getByRole('alertdialog').getByRole('button', { name: 'Keep editing' }).click()
    expect(await dialog().getByRole('textbox', { name: 'Command' }).inputValue()).toBe('other')
    await page.keyboard.press('Escape')
    await page.getByRole('alertdialog').getByRole('button', { name: 'Discard' }).click()
    await dialog().waitFor({ state: 'detached' })
    expect(await page.getByRole('heading', { level: 3 }).count()).toBe(1)
  })

  it('edits a server and keeps its secret, which never reaches the page', async () => {
    await choose('notes', 'Edit')
    await dialog().getByText('Stored ••••').waitFor()
    expect(await page.content()).not.toContain(SECRET)
    await dialog().getByRole('textbox', { name: 'Name', exact: true }).fill('My notes')
    const [request] = await Promise.all([
      page.waitForRequest((one) => one.method() === 'PATCH'),
      dialog().getByRole('button', { name: 'Save changes' }).click(),
    ])
    await leaveFailed()
    expect(request.postDataJSON()).toMatchObject({
      name: 'My notes',
      server: { args: ['server.js', '--root', './my notes'], env: { NOTES_TOKEN: '${secret:env.NOTES_TOKEN}' } },
    })
    await row('My notes').getByText('1 stored secret').waitFor()
    await dialog().waitFor({ state: 'detached' })
    expect(await focusedId(page)).toMatch(/^actions-usco_/)
  })

  it('replaces a stored secret or keeps it after a change of mind', async () => {
    await choose('My notes', 'Edit')
    await dialog().getByRole('button', { name: 'Replace the stored value of NOTES_TOKEN' }).click()
    await dialog().getByRole('textbox', { name: 'Working directory' }).pressSequentially('/srv')
    expect(await dialog().getByRole('textbox', { name: 'Working directory' }).inputValue()).toBe('/srv')
    await dialog().getByRole('button', { name: 'Keep the stored value of NOTES_TOKEN' }).click()
    await dialog().getByRole('button', { name: 'Replace the stored value of NOTES_TOKEN' }).click()
    await page.keyboard.type(LATER_SECRET)
    await dialog().getByRole('button', { name: 'Save changes' }).click()
    await leaveFailed()
    await dialog().waitFor({ state: 'detached' })
    await row('My notes').getByText('1 stored secret').waitFor()
    expect(await page.content()).not.toContain(LATER_SECRET)
  })

  it('adds a server by URL, with errors at the URL and the token', async () => {
    await page.getByRole('button', { name: 'Add server' }).click()
    await dialog().getByRole('textbox', { name: 'Name' }).fill('Tracker')
    await dialog().getByRole('radio', { name: /^URL/ }).click()
    await dialog().getByRole('textbox', { name: 'URL' }).fill('tracker.example.com')
    await dialog().getByRole('combobox', { name: 'Authentication' }).selectOption({ label: 'Bearer token' })
    await dialog().getByRole('button', { name: 'Add server' }).click()
    await dialog().getByText('URL must be an absolute http:// or https:// URL.').waitFor()
    await dialog().getByText('Token must not be empty.').waitFor()
    await dialog().getByRole('textbox', { name: 'URL' }).fill('https://tracker.example.com/mcp')
    await dialog().getByLabel('Token', { exact: true }).fill(SECRET)
    await dialog().getByRole('button', { name: 'Add server' }).click()
    await leaveFailed()
    await dialog().waitFor({ state: 'detached' })
    await row('Tracker').getByText('https://tracker.example.com/mcp').waitFor()
    expect(await page.content()).not.toContain(SECRET)
  })

  it('turns a server off and keeps all values after a reload', async () => {
    await row('My notes').getByRole('switch', { name: 'Enable My notes' }).click()
    await row('My notes').getByText('Disabled').waitFor()
    await page.reload()
    await row('My notes').getByText('Disabled').waitFor()
    expect(await row('My notes').getByRole('switch').getAttribute('aria-checked')).toBe('false')
    await row('Tracker').getByText('Failed', { exact: true }).waitFor()
  })

  it('asks before it deletes a server', async () => {
    await choose('My notes', 'Delete')
    await page.getByRole('alertdialog', { name: 'Delete “My notes”?' }).getByRole('button', { name: 'Keep it' }).click()
    await row('My notes').waitFor()
    expect(await focusedId(page)).toMatch(/^actions-usco_/)
    await choose('My notes', 'Delete')
    await page.getByRole('alertdialog').getByRole('button', { name: 'Delete server' }).click()
    await row('My notes').waitFor({ state: 'detached' })
    await expect.poll(() => focusedId(page)).toBe('your-servers')
    await page.reload()
    await row('Tracker').waitFor()
    expect(await page.getByRole('heading', { level: 3 }).count()).toBe(1)
  })

  it('adds a server with the keyboard only', async () => {
    await page.reload()
    await page.getByRole('button', { name: 'Add server' }).waitFor()
    await tabTo(page, 'Add server')
    await page.keyboard.press('Enter')
    await dialog().waitFor()
    await page.keyboard.type('By keyboard')
    await page.keyboard.press('Shift+Tab')
    await page.keyboard.press('ArrowLeft', PRESS)
    await dialog().getByRole('radio', { name: /^URL/, checked: true }).waitFor()
    await page.keyboard.press('ArrowRight', PRESS)
    await dialog()
      .getByRole('radio', { name: /^Command/, checked: true })
      .waitFor()
    await tabTo(page, 'Command')
    await page.keyboard.type('uvx')
    await tabTo(page, 'Arguments')
    await page.keyboard.type('mcp-server-time')
    await tabTo(page, 'Add variable')
    await page.keyboard.press('Enter')
    await page.keyboard.type('ZONE_TOKEN')
    await page.keyboard.press('Tab')
    await page.keyboard.type('utc-0123456789abcdef')
    await page.keyboard.press('Enter')
    await dialog().getByText('but could not be reached').waitFor()
    await page.keyboard.press('Escape')
    await dialog().waitFor({ state: 'detached' })
    await row('By keyboard').getByText('uvx mcp-server-time').waitFor()
    await row('By keyboard').getByText('1 stored secret').waitFor()
  })

  it('reports when the API is unreachable and recovers', async () => {
    await page.route('**/api/mcp', (route) => route.abort())
    await page.reload()
    await page.getByRole('alert').getByText('The server does not answer').waitFor()
    await page.unroute('**/api/mcp')
    await page.getByRole('button', { name: 'Try again' }).click()
    await row('Tracker').waitFor()
    await page.getByRole('alert').waitFor({ state: 'detached' })
  })

  it('shows a not-found page for unknown URLs', async () => {
    await page.goto('/no/such/page')
    await page.getByRole('heading', { name: 'There is no such page' }).waitFor()
    await page.getByRole('link', { name: 'Go to MCP servers' }).click()
    await page.getByRole('heading', { name: 'Your servers' }).waitFor()
  })
})

const focusedId = (page: Page) => page.evaluate(() => document.activeElement?.id)

const describedBy = (page: Page, control: ReturnType<Page['locator']>) =>
  control
    .getAttribute('aria-describedby')
    .then((ids) =>
      page.evaluate(
        (list) => list.map((id) => document.getElementById(id)?.textContent).join(' '),
        (ids ?? '').split(' '),
      ),
    )

/** Presses Tab until what has the focus is called so; a keyboard user has no other way. */
async function tabTo(page: Page, name: string): Promise<void> {
  for (let presses = 0; presses < 40; presses++) {
    const called = await page.evaluate(() => {
      const element = document.activeElement
      const isField = element instanceof HTMLInputElement || element instanceof HTMLTextAreaElement
      const label = isField ? element.labels?.[0]?.firstChild : element
      return element?.getAttribute('aria-label') ?? label?.textContent?.trim()
    })
    if (called === name) return
    await page.keyboard.press('Tab')
  }
  throw new Error(`"${name}" cannot be reached with the Tab key.`)
}
