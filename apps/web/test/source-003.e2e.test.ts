/** Source 003 in a browser: tools of a real server and of a custom toolkit, found, picked one by one, run, seen in the log. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { FILESYSTEM } from '../../../test/real-servers.ts'
import { type OpenApp, openApp } from './open-app.ts'

const inputSchema = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] }
const CUSTOM = {
  tools: [
    { name: 'shout', description: 'Says it loudly.', inputSchema, execute: 'return input.text.toUpperCase()' },
    { name: 'count', description: 'Counts letters.', inputSchema, execute: 'return { letters: input.text.length }' },
  ],
}

describe('source 003', () => {
  let app: OpenApp
  let page: Page
  let folder: string
  const dialog = () => page.getByRole('dialog')
  const picker = () => page.getByRole('dialog', { name: 'Choose a tool' })
  const node = (id: string) => page.locator(`[data-node="${id}"]`)

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'loadout-003-'))
    await writeFile(join(folder, 'hello.txt'), 'hello from a file')
    app = await openApp()
    page = await app.open()
  })
  afterAll(async () => {
    await app[Symbol.asyncDispose]()
    await rm(folder, { recursive: true, force: true })
  })

  it('adds the filesystem server over stdio and finds its tools', async () => {
    await page.getByRole('button', { name: 'Add server' }).click()
    await dialog().getByRole('textbox', { name: 'Name', exact: true }).fill('filesystem')
    await dialog().getByRole('textbox', { name: 'Command' }).fill(process.execPath)
    await dialog().getByRole('textbox', { name: 'Arguments' }).fill(`${FILESYSTEM}\n${folder}`)
    await dialog().getByRole('button', { name: 'Add server' }).click()
    await dialog().waitFor({ state: 'detached' })
    await page.getByText(/^1\d tools, /).waitFor()
  })

  it('adds a custom toolkit with two tools', async () => {
    await page.getByRole('button', { name: 'Add server' }).click()
    await dialog()
      .getByRole('radio', { name: /^Custom toolkit/ })
      .click()
    await dialog().getByRole('link', { name: 'Open the editor' }).click()
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('words')
    await page.getByRole('radio', { name: 'JSON' }).first().click()
    await page.getByRole('textbox', { name: 'The toolkit as JSON' }).click()
    await page.keyboard.press('ControlOrMeta+A')
    await page.keyboard.insertText(JSON.stringify(CUSTOM, null, 2))
    await page.getByRole('button', { name: 'Save toolkit' }).click()
    await page.waitForURL(/custom\/usco_/)
  })

  it('introspects both on the servers page', async () => {
    await page.goto('/connectors')
    for (const name of ['filesystem', 'words']) {
      await page.getByRole('button', { name: `Actions for ${name}` }).click()
      await page.getByRole('menuitem', { name: 'Refresh tools' }).click()
    }
    await page.getByText(/^1\d tools, /).waitFor()
    await page.getByText(/^2 tools, /).waitFor()
  })

  it('offers the tools of both in the workflow builder by group and refreshes them there', async () => {
    await page.goto('/workflows')
    await page.getByRole('button', { name: 'New workflow' }).click()
    await page.getByRole('menuitem', { name: 'Empty workflow' }).click()
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Both kinds')
    await page.getByRole('button', { name: 'Add node' }).click()
    await page.getByRole('menuitem', { name: /^Tool/ }).click()
    await page.getByRole('button', { name: 'Choose a tool' }).click()
    const words = picker().getByRole('region', { name: 'words' })
    await picker().getByRole('region', { name: 'filesystem' }).getByRole('button', { name: 'read_text_file' }).waitFor()
    await words.getByRole('button', { name: 'Refresh tools of words' }).click()
    await page.getByText('words has 2 tools').waitFor()
    await words.getByRole('button', { name: 'shout', exact: true }).waitFor()
    await picker().getByRole('searchbox', { name: 'Search tools' }).fill('read text')
    await words.waitFor({ state: 'detached' })
    await picker().getByRole('button', { name: 'read_text_file' }).click()
    await picker().waitFor({ state: 'detached' })
    await page.getByRole('group', { name: 'path', exact: true }).getByRole('textbox').fill(join(folder, 'hello.txt'))
    await rename('read')
  })

  it('adds a tool of the other with an expression over the first output', async () => {
    await page.getByRole('button', { name: 'Add node' }).click()
    await page.getByRole('menuitem', { name: /^Tool/ }).click()
    await page.getByRole('button', { name: 'Choose a tool' }).click()
    await picker().getByRole('button', { name: 'shout', exact: true }).click()
    await picker().waitFor({ state: 'detached' })
    await rename('loud')
    const text = page.getByRole('group', { name: 'text', exact: true })
    await text.getByRole('radio', { name: 'Expression' }).click()
    await text.getByRole('button', { name: 'Insert into text' }).click()
    await page.getByRole('menuitem', { name: /nodes\.read\.output\.content/ }).click()
    await expect.poll(() => text.getByRole('textbox').inputValue()).toBe('nodes.read.output.content')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('It is version 1.').waitFor()
    await page.waitForURL(/workflows\/wf/)
  })

  it('runs the workflow and logs both kinds of tool with their outputs', async () => {
    await page.getByRole('button', { name: 'Run', exact: true }).click()
    await dialog().getByRole('button', { name: 'Run', exact: true }).click()
    await page.waitForURL(/\/runs\//)
    // What nobody decided about is asked: once for the custom tool.
    const question = page.getByRole('region', { name: 'Waits for you' })
    await question.getByRole('button', { name: /^Allow .* once$/ }).click()
    await page.locator('[aria-live] [data-status="completed"]').waitFor()
    expect(await node('read').getAttribute('data-state')).toBe('completed')
    expect(await node('loud').getAttribute('data-state')).toBe('completed')
    await node('read').getByText('filesystem.read_text_file').click()
    await node('read').getByText('hello from a file').waitFor()
    await node('loud').getByText('words.shout').click()
    await page.getByRole('region', { name: 'Output' }).getByText('HELLO FROM A FILE').first().waitFor()
  })

  async function rename(id: string): Promise<void> {
    const field = page.getByRole('textbox', { name: 'Id' })
    await field.fill(id)
    await field.press('Enter')
    await page.getByText(`Others read it as nodes.${id}.output`).waitFor()
  }
})
