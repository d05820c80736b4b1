/** What a user changes of servers that others prepared, and of tools that others wrote: commands with holes, switches, words. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { FILESYSTEM } from '../../../test/real-servers.ts'
import { type OpenApp, openApp } from './open-app.ts'
import { type FixtureServer, fixtureServer } from './servers.ts'

let app: OpenApp
let page: Page
const dialog = () => page.getByRole('dialog')
const row = (name: string) =>
  page.getByRole('listitem').filter({ has: page.getByRole('heading', { name, exact: true }) })
const tool = (name: string) =>
  page
    .getByRole('listitem')
    .filter({ has: page.getByRole('button', { name, exact: true }) })
    .last()
const read = async (path: string) => (await fetch(`${app.url}${path}`)).json()

describe('adding a server from a template', () => {
  let folder: string
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'loadout-templates-'))
    const file = join(folder, 'templates.json')
    const notes = {
      id: 'notes',
      title: 'Shared notes',
      description: 'Files in a folder of the team.',
      command: process.execPath,
      args: [FILESYSTEM, '{folder}'],
      env: { OPERATORS: 'own-key-51f0', TOKEN: '{token}' },
      holes: {
        folder: { type: 'path', title: 'Folder', roots: [folder] },
        token: { type: 'string', title: 'Token', description: 'From your profile.' },
      },
    }
    const modes = { id: 'modes', command: 'x', args: ['{mode}'], holes: { mode: { type: 'enum', values: ['a', 'b'] } } }
    await writeFile(file, JSON.stringify([notes, modes]))
    app = await openApp(undefined, { LOADOUT_STDIO: 'templates', LOADOUT_STDIO_TEMPLATES: file })
    page = await app.open()
  })
  afterAll(async () => {
    await app[Symbol.asyncDispose]()
    await rm(folder, { recursive: true, force: true })
  })

  it('fills the inputs with a form and shows errors at their field', async () => {
    await page.getByRole('button', { name: 'Add server' }).click()
    await dialog().getByRole('button', { name: 'Add server' }).click()
    await dialog().getByText('Choose one of them.').waitFor()
    expect(await dialog().getByRole('textbox', { name: 'Command' }).count()).toBe(0)
    await dialog().getByRole('combobox', { name: 'Prepared command' }).selectOption('modes')
    await dialog().getByRole('combobox', { name: 'mode' }).selectOption('b')
    await dialog().getByRole('combobox', { name: 'Prepared command' }).selectOption('Shared notes')
    await dialog().getByText('Files in a folder of the team.').waitFor()
    expect(await dialog().getByRole('textbox', { name: 'Name', exact: true }).inputValue()).toBe('Shared notes')
    await dialog().getByRole('textbox', { name: 'Folder' }).fill('/etc')
    await dialog().getByRole('button', { name: 'Add server' }).click()
    await dialog().getByText(`Give a path in ${folder}.`).waitFor()
    await dialog().getByText('Give a value.').waitFor()
    await dialog().getByRole('textbox', { name: 'Folder' }).fill(folder)
    const token = dialog().getByRole('textbox', { name: 'Token', exact: true })
    expect(await token.getAttribute('type')).toBe('password')
    await token.fill('planted-92ab')
    await dialog().getByRole('button', { name: 'Add server' }).click()
    await dialog().waitFor({ state: 'detached' })
    await row('Shared notes').getByText('Connected', { exact: true }).waitFor()
    await row('Shared notes')
      .getByText(/^14 tools,/)
      .waitFor()
    expect(await page.content()).not.toMatch(/planted-92ab|own-key-51f0/)
  })

  it('stores the values and replaces one of them separately', async () => {
    await page.getByRole('button', { name: 'Actions for Shared notes' }).click()
    await page.getByRole('menuitem', { name: 'Edit' }).click()
    await dialog().getByRole('button', { name: 'Replace the stored value of Folder' }).click()
    await dialog().getByRole('textbox', { name: 'Folder' }).fill(join(folder, 'none'))
    await dialog().getByRole('button', { name: 'Save changes' }).click()
    await dialog().getByText('Shared notes is saved, but could not be reached').waitFor()
    await dialog().getByRole('button', { name: 'Replace the stored value of Folder' }).click()
    await dialog().getByRole('textbox', { name: 'Folder' }).fill(folder)
    await dialog().getByRole('button', { name: 'Save and try again' }).click()
    await dialog().waitFor({ state: 'detached' })
    await row('Shared notes').getByText('Connected', { exact: true }).waitFor()
  })
})

describe('tools of a server', () => {
  let server: FixtureServer
  beforeAll(async () => {
    server = await fixtureServer({
      tools: [
        { name: 'post', description: 'Posts a thing.', annotations: { readOnlyHint: true } },
        { name: 'list', annotations: { readOnlyHint: true } },
      ],
    })
    const record = { command: server.command, args: server.args }
    app = await openApp(async ({ toolkits, catalog }) => {
      const board = await toolkits.register({ name: 'Board', ...record, exclude: ['hidden'] }, { tier: 'app' })
      const mine = await toolkits.register({ name: 'Mine', ...record }, { tier: 'user', userId: 'local' })
      for (const { stored } of [board, mine]) await catalog.introspect(stored, 'local')
    })
    page = await app.open()
  })
  afterAll(async () => {
    await app[Symbol.asyncDispose]()
    await server[Symbol.asyncDispose]()
  })

  it('are turned off for one user of a global server in all windows, with their discovery time', async () => {
    await row('Board').getByRole('button', { name: 'Board', exact: true }).click()
    await row('Board')
      .getByText(/Tools last discovered (just now|\d+ seconds? ago)/)
      .waitFor()
    const other = await app.open()
    const count = other
      .getByRole('listitem')
      .filter({ has: other.getByRole('heading', { name: 'Board', exact: true }) })
      .getByText(/^1 of 2 tools on/)
    await tool('post').getByRole('switch', { name: 'Offer post' }).click()
    await row('Board')
      .getByText(/^1 of 2 tools on/)
      .waitFor()
    await count.waitFor()
    const call = await fetch(`${app.url}/api/tools/board/post/call`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"arguments":{}}',
    })
    expect((await call.json()).code).toBe('not-carried')
    await tool('post').getByRole('switch', { name: 'Offer post' }).click()
    await count.waitFor({ state: 'detached' })
    await other.context().close()
    expect((await read('/api/mcp/board')).options.exclude).toEqual(['hidden'])
  })

  it('of the user’s own are overridden for models with stricter annotations and then restored', async () => {
    await page.goto('/connectors?open=mine')
    await tool('post').getByRole('button', { name: 'post', exact: true }).click()
    await tool('post').getByRole('button', { name: 'Change how models see post' }).click()
    await dialog().getByRole('textbox', { name: 'Title' }).fill('Post a message')
    await dialog().getByRole('textbox', { name: 'Description' }).fill('Tells everyone. Ask first.')
    await dialog().getByRole('switch', { name: 'It changes things' }).click()
    await page.keyboard.press('Escape')
    await page.getByRole('alertdialog').getByRole('button', { name: 'Keep editing' }).click()
    await dialog().getByRole('button', { name: 'Save' }).click()
    await dialog().waitFor({ state: 'detached' })
    await tool('post').getByText('Overridden').waitFor()
    await tool('post').getByText('Tells everyone. Ask first.').waitFor()
    await tool('post').getByText('You changed its title, description, and claims').click()
    await tool('post').getByText('Posts a thing.').waitFor()
    const decided = async () => {
      const { items } = await read('/api/policy/decisions?toolkit=mine')
      return items.find(({ ref }: { ref: string }) => ref === 'mine.post').decision
    }
    expect(await decided()).toBe('ask')
    const found = await read('/api/tools?q=tells%20everyone')
    expect(found.tools[0]).toMatchObject({ ref: 'mine.post', description: 'Tells everyone. Ask first.' })
    await page.goto('/tools?tool=mine.post')
    await page.getByRole('heading', { name: 'Post a message' }).waitFor()
    await page.goto('/connectors?open=mine')
    await tool('post').getByRole('button', { name: 'post', exact: true }).click()
    await tool('post').getByRole('button', { name: 'Show post as its server says' }).click()
    await page.getByText('post is as its server says').waitFor()
    await tool('post').getByText('Overridden').waitFor({ state: 'detached' })
    expect(await decided()).toBe('allow')
    expect((await read('/api/mcp/mine')).options.overrides).toEqual({})
  })
})
