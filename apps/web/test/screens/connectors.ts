/** The states of the page of servers that must look right: filled by real servers, some of which fail or changed. */

import { relative } from 'node:path'
import type { HostServices } from '@loadout/core/services'
import type { Page } from 'playwright'
import { FILESYSTEM } from '../../../../test/real-servers.ts'
import { fixtureServer } from '../servers.ts'

const APP = { tier: 'app' } as const
const USER = { tier: 'user', userId: 'local' } as const
const SCHEMA = { type: 'object', properties: { title: { type: 'string' } }, required: ['title'] }

const PAGES = [
  { name: 'find_page', description: 'Finds pages by words.', annotations: { readOnlyHint: true } },
  { name: 'edit_page', description: 'Writes a page anew.', annotations: { destructiveHint: true } },
  { name: 'delete_page', description: 'Deletes a page.', annotations: { destructiveHint: true } },
].map((tool) => ({ ...tool, inputSchema: { type: 'object' } }))

/** Runs before the server is there, so what it looks at is stored: tools, a change and a failure. */
export async function fill({ toolkits, catalog }: HostServices): Promise<void> {
  await toolkits.register(
    { name: 'Wiki', url: 'https://wiki.example.com/mcp', tools: PAGES, exclude: ['delete_page'] },
    APP,
  )
  const files = { name: 'Files', command: 'node', args: [relative(process.cwd(), FILESYSTEM), '.'] }
  await look((await toolkits.register(files, USER)).stored)
  const created = { name: 'create_issue', description: 'Creates an issue.', annotations: { destructiveHint: false } }
  await using issues = await fixtureServer({
    tools: [created, { name: 'list_issues', annotations: { readOnlyHint: true } }],
  })
  const { stored } = await toolkits.register({ name: 'Issues', ...issues.short }, USER)
  await look(stored)
  await issues.say({
    tools: [{ ...created, description: 'Creates an issue, and tells everyone.', inputSchema: SCHEMA }],
  })
  await look(stored)
  await using broken = await fixtureServer({ dies: 'Error: GITHUB_TOKEN is not set\n    at start (server.js:12)\n' })
  await look((await toolkits.register({ name: 'Broken', ...broken.short }, USER)).stored)
  await toolkits.register({ name: 'Tracker', url: 'https://t.example/mcp', auth: { type: 'bearer', token: 't' } }, USER)
  await toolkits.register({ name: 'Off', command: 'off', enabled: false }, USER)
  await toolkits.register({ name: 'A'.repeat(100), command: 'run', args: ['x'.repeat(300)], enabled: false }, USER)

  async function look(one: typeof stored) {
    await catalog.introspect(one, 'local').catch(() => {})
  }
}

const row = (page: Page, name: string) =>
  page.getByRole('listitem').filter({ has: page.getByRole('heading', { name, exact: true }) })
const dialog = (page: Page) => page.getByRole('dialog', { name: 'Add a server' })
const open = async (page: Page, path = '/connectors') => {
  await page.request.delete('/api/mcp/calendar')
  await page.goto(path)
  await page.locator('h3', { hasText: 'Files' }).waitFor()
}

/** Each from scratch. */
export const SCREENS: Record<string, (page: Page) => Promise<unknown>> = {
  servers: (page) => open(page),
  'a server’s tools': async (page) => {
    await open(page)
    await row(page, 'Files').getByRole('button', { name: 'Files', exact: true }).click()
    await row(page, 'Files').getByRole('button', { name: 'read_text_file' }).click()
    await row(page, 'Files').getByText('The model sees').waitFor()
    await row(page, 'Files').locator('.cm-content').waitFor()
    await row(page, 'Files')
      .getByRole('combobox', { name: 'Calls of read_text_file' })
      .locator('option')
      .first()
      .waitFor({ state: 'attached' })
  },
  'a changed tool': async (page) => {
    await open(page)
    await page.getByRole('button', { name: 'Review the tools of Issues' }).click()
    await row(page, 'Issues').getByRole('button', { name: 'Accept create_issue' }).waitFor()
  },
  'a global server’s tools': async (page) => {
    await open(page)
    await row(page, 'Wiki').getByRole('button', { name: 'Wiki', exact: true }).click()
    await row(page, 'Wiki').getByRole('switch', { name: 'Offer delete_page' }).waitFor()
    await row(page, 'Wiki').getByRole('button', { name: 'edit_page', exact: true }).click()
    await row(page, 'Wiki').locator('.cm-content').waitFor()
  },
  'a tool in other words': async (page) => {
    await reworded(page)
    await row(page, 'Files').getByText('You changed its').click()
  },
  'changing the words of a tool': async (page) => {
    await reworded(page)
    await row(page, 'Files').getByRole('button', { name: 'Change how models see read_text_file' }).click()
    await page.getByRole('dialog').getByRole('switch', { name: 'It changes things' }).waitFor()
  },
  menu: async (page) => {
    await open(page)
    await page.getByRole('button', { name: 'Actions for Tracker' }).click()
    await page.getByRole('menuitem', { name: 'Delete' }).waitFor()
  },
  'delete dialog': async (page) => {
    await SCREENS.menu?.(page)
    await page.getByRole('menuitem', { name: 'Delete' }).click()
    await page.getByRole('alertdialog').waitFor()
  },
  'add by command': async (page) => {
    await open(page, '/connectors?add=stdio')
    await dialog(page).getByRole('button', { name: 'Add variable' }).click()
  },
  'add a prepared command, with errors': async (page) => {
    await withStdio(page, { policy: 'templates', templates: TEMPLATES })
    await dialog(page).getByRole('combobox', { name: 'Prepared command' }).selectOption('Team notes')
    await dialog(page).getByRole('textbox', { name: 'Folder' }).fill('/etc')
    await dialog(page).getByRole('button', { name: 'Add server' }).click()
    await dialog(page).getByText('Give a path in').waitFor()
  },
  'add by URL, with errors': async (page) => {
    await open(page, '/connectors?add=http')
    await dialog(page).getByRole('combobox').selectOption('oauth')
    await dialog(page).getByRole('button', { name: 'Add server' }).click()
    await dialog(page).getByRole('alert').waitFor()
  },
  'more options': async (page) => {
    await open(page, '/connectors?add=stdio')
    await dialog(page).getByText('More options').click()
    await dialog(page).getByLabel('Hosts it may reach').waitFor()
  },
  'a server that cannot be reached': async (page) => {
    await open(page, '/connectors?add=stdio')
    await dialog(page).getByRole('textbox', { name: 'Name', exact: true }).fill('Calendar')
    await dialog(page).getByRole('textbox', { name: 'Command' }).fill('node')
    await dialog(page).getByRole('textbox', { name: 'Arguments' }).fill(`-e\n${DIES}`)
    await dialog(page).getByRole('button', { name: 'Add server' }).click()
    await dialog(page).getByText('What the server printed').waitFor()
  },
  'nothing yet': async (page) => {
    await page.route('**/api/mcp', (route) => route.fulfill({ json: { toolkits: [] } }))
    await page.goto('/connectors')
    await page.getByRole('heading', { name: 'Add your first server' }).waitFor()
    await page.unroute('**/api/mcp')
  },
  'a pasted config': async (page) => {
    await open(page, '/connectors?add=paste')
    await dialog(page).getByRole('textbox', { name: 'Config' }).fill(PASTED)
    await dialog(page).getByText('4 servers found').waitFor()
    await dialog(page).getByLabel('GITHUB_TOKEN').waitFor()
  },
  'the door of custom toolkits': async (page) => {
    await open(page, '/connectors?add=custom')
    await dialog(page).getByRole('link', { name: 'Open the editor' }).waitFor()
  },
  'discard dialog': async (page) => {
    await open(page, '/connectors?add=stdio')
    await dialog(page).getByRole('textbox', { name: 'Name', exact: true }).fill('x')
    await page.keyboard.press('Escape')
    await page.getByRole('alertdialog').waitFor()
  },
  'edit dialog': async (page) => {
    await open(page)
    await page.getByRole('button', { name: 'Actions for Tracker' }).click()
    await page.getByRole('menuitem', { name: 'Edit' }).click()
    await page.getByText('Stored ••••').waitFor()
  },
}

async function reworded(page: Page): Promise<void> {
  const words = { title: 'Read a text', description: 'Reads a text of ours. Ask before it is sent anywhere.' }
  const overrides = { read_text_file: { ...words, annotations: { openWorldHint: true } } }
  await page.request.patch('/api/mcp/files', { data: { overrides } })
  await open(page)
  await row(page, 'Files').getByRole('button', { name: 'Files', exact: true }).click()
  await row(page, 'Files').getByRole('button', { name: 'read_text_file', exact: true }).click()
  await row(page, 'Files').locator('.cm-content').waitFor()
}

/** As an operator would have started the server. */
async function withStdio(page: Page, json: object): Promise<void> {
  await page.route('**/api/stdio', (route) => route.fulfill({ json }))
  await open(page, '/connectors?add=stdio')
  await dialog(page).getByRole('combobox', { name: 'Prepared command' }).waitFor()
  await page.unroute('**/api/stdio')
}

const TEMPLATES = [
  {
    id: 'notes',
    title: 'Team notes',
    description: 'The notes of your team, to read and to write.',
    holes: [
      { name: 'folder', hole: { type: 'path', title: 'Folder', roots: ['/srv/notes'], maxLength: 1024 } },
      { name: 'mode', hole: { type: 'enum', title: 'What it may do', values: ['read', 'read and write'] } },
      { name: 'most', hole: { type: 'integer', title: 'Files at once', min: 1, max: 50 } },
      {
        name: 'token',
        hole: { type: 'string', title: 'Token', description: 'From your profile.', secret: true, maxLength: 200 },
      },
    ],
  },
]

const DIES = "console.error('Error: CALENDAR_TOKEN is not set\\n    at start (server.js:12)'); process.exit(1)"

const PASTED = `{
  // as other apps write it
  "mcpServers": {
    "memory": { "command": "npx", "args": ["-y", "@modelcontextprotocol/server-memory"] },
    "github": { "command": "npx", "args": ["server"], "env": { "GITHUB_TOKEN": "\${GITHUB_TOKEN}" } },
    "Files": { "command": "npx", "args": ["-y", "@modelcontextprotocol/server-filesystem", "."] },
    "odd": { "transport": "carrier-pigeon", "url": "x" },
  },
}`
