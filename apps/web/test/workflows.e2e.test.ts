/** Workflows in a browser: built as a list with its graph, checked, saved, run, asked about, and run again from a node. */
import type { Page } from 'playwright'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type OpenApp, openApp, textOf } from './open-app.ts'

describe('the workflow pages', () => {
  let app: OpenApp
  let page: Page
  const alert = () => page.getByRole('alert')
  const timeline = (id: string) => page.locator(`[data-node="${id}"]`)
  const graphNode = (id: string) => page.locator(`[data-graph-node="${id}"]`)
  const standing = (status: string) => page.locator(`[aria-live] [data-status="${status}"]`)
  const run = async () => {
    await page.getByRole('button', { name: 'Run', exact: true }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Run', exact: true }).click()
    await page.waitForURL(/\/runs\//)
  }

  beforeAll(async () => {
    const many = Array.from({ length: 2000 }, (_, index) => ({
      name: `tool_${index}`,
      inputSchema: { type: 'object' },
    }))
    app = await openApp(({ toolkits }) =>
      toolkits.register(
        { name: 'Large', url: 'https://large.example.com/mcp', tools: many },
        { tier: 'user', userId: 'local' },
      ),
    )
    page = await app.open()
  })
  afterAll(() => app[Symbol.asyncDispose]())

  it('put nodes in the order in which they are added and leave no gap', async () => {
    await page.goto('/workflows/new')
    for (const id of ['call', 'call_2', 'call_3']) {
      await page.getByRole('button', { name: 'Add node' }).click()
      await page.getByRole('menuitem', { name: /^Tool/ }).click()
      await page.getByRole('button', { name: `Tool call: ${id}`, exact: false }).waitFor()
    }
    await page.getByRole('button', { name: 'Tool call: call_3 After call_2' }).waitFor()
    await expect.poll(() => page.locator('.react-flow__edge').count()).toBe(2)
    await page.getByRole('button', { name: 'Actions for node call_2' }).click()
    await page.getByRole('menuitem', { name: 'Remove' }).click()
    await page.getByRole('button', { name: 'Tool call: call_3 After call ·' }).waitFor()
  })

  it('draw a few of two thousand tools to choose from, the chosen one first', async () => {
    await page.getByRole('button', { name: 'Tool call: call_3' }).click()
    await page.getByRole('button', { name: 'Choose a tool' }).click()
    const picker = page.getByRole('dialog', { name: 'Choose a tool' })
    const list = picker.getByRole('group', { name: '2,000 tools, scrolling' })
    await list.getByRole('button', { name: 'tool_0', exact: true }).waitFor()
    expect(await picker.getByRole('listitem').count()).toBeLessThan(40)
    await list.evaluate((element) => element.scrollTo(0, element.scrollHeight))
    await list.getByRole('button', { name: 'tool_1999', exact: true }).click()
    await picker.waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Change' }).click()
    await list.getByRole('button', { name: 'tool_1999', exact: true }).waitFor()
    await picker.getByRole('searchbox', { name: 'Search tools' }).fill('tool_1234')
    await picker.getByRole('button', { name: 'tool_1234', exact: true }).click()
    await picker.waitFor({ state: 'detached' })
    await page.getByText('large.tool_1234').first().waitFor()
    await page.getByRole('link', { name: 'Workflows', exact: true }).click()
    await page.getByRole('alertdialog').getByRole('button', { name: 'Discard changes' }).click()
  })

  it('start with an example that has the same graph and list', async () => {
    await page.goto('/workflows')
    await page.getByRole('heading', { name: 'Your first workflow' }).waitFor()
    await page.getByRole('button', { name: /^Ask before it goes on/ }).click()
    await page.getByRole('button', { name: 'Approval: ask' }).waitFor()
    await graphNode('ask').click()
    await page.waitForURL(/node=ask/)
    expect(await page.getByRole('button', { name: 'Approval: ask' }).getAttribute('aria-current')).toBe('true')
    await graphNode('ask').focus()
    await page.keyboard.press('ArrowRight')
    await page.keyboard.press('Enter')
    await page.waitForURL(/node=sign/)
    await page.goBack()
    await page.waitForURL(/node=ask/)
    await page.getByRole('textbox', { name: 'Question' }).waitFor()
  })

  it('show every problem at its node and field, and report a valid definition', async () => {
    const question = page.getByRole('textbox', { name: 'Question' })
    await question.fill('Send {{ nodes.nobody.output }}?')
    await page.getByRole('button', { name: 'Check' }).click()
    await alert().getByRole('link', { name: 'ask' }).waitFor()
    expect(await question.getAttribute('aria-invalid')).toBe('true')
    await page.getByText("There is no node 'nobody'.").first().waitFor()
    await question.fill('Send it?')
    await page.getByRole('button', { name: 'Check' }).click()
    await page.getByText('The definition is whole.').waitFor()
  })

  it('ask before unsaved changes are left and save a version', async () => {
    await page.getByRole('link', { name: 'Tools', exact: true }).click()
    await page.getByRole('alertdialog').getByRole('button', { name: 'Keep editing' }).click()
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('It is version 1.').waitFor()
    await page.waitForURL(/\/workflows\/wf/)
    await page.getByRole('button', { name: 'Check' }).click()
    await page.getByText('nothing would stop a run now').waitFor()
  })

  it('edit JSON both ways and restore an earlier version', async () => {
    await page.getByRole('tab', { name: 'JSON' }).click()
    const editor = page.getByRole('textbox', { name: 'Definition as JSON' })
    await editor.click()
    await page.keyboard.press('ControlOrMeta+A')
    await page.keyboard.insertText(
      JSON.stringify({ name: 'From JSON', nodes: [{ id: 'only', type: 'code', program: 'return 1' }] }),
    )
    await page.getByRole('tab', { name: 'Build' }).click()
    await page.getByRole('button', { name: 'Program: only' }).waitFor()
    await graphNode('only').waitFor()
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('It is version 2.').waitFor()
    await page.getByRole('tab', { name: 'Versions' }).click()
    await page.getByRole('button', { name: 'Restore version 1' }).click()
    await graphNode('sign').waitFor()
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('It is version 3.').waitFor()
  })

  it('show a live run and its approval request', async () => {
    await run()
    await standing('paused').waitFor()
    await expect.poll(() => graphNode('draft').getAttribute('data-status')).toBe('completed')
    expect(await timeline('ask').getAttribute('data-state')).toBe('paused')
    expect(await timeline('sign').getAttribute('data-state')).toBe('waiting')
    await page
      .getByRole('region', { name: 'Waits for you' })
      .getByRole('button', { name: /^Allow/ })
      .click()
    await standing('completed').waitFor()
    expect(await timeline('sign').getAttribute('data-state')).toBe('completed')
    await page.getByRole('region', { name: 'Output' }).getByText('Yours, the workflow.').first().waitFor()
  })

  it('rerun from a node without asking again for earlier steps', async () => {
    const before = page.url()
    await page.getByRole('button', { name: 'Re-run from sign' }).click()
    await page.waitForURL((url) => url.toString() !== before)
    await standing('completed').waitFor()
    expect(await timeline('ask').getAttribute('data-state')).toBe('completed')
    await page.getByRole('button', { name: 'Re-run from ask' }).click()
    await standing('paused').waitFor()
  })

  it('deny a request in the inbox so that the run fails, and cancel another run', async () => {
    const address = page.url()
    await page.goto('/approvals')
    await page.getByRole('button', { name: /^Deny/ }).first().click()
    await page.goto(address)
    await standing('failed').waitFor()
    expect(await timeline('ask').getAttribute('data-state')).toBe('failed')
    await page.getByRole('button', { name: 'Re-run from ask' }).click()
    await standing('paused').waitFor()
    await page.getByRole('button', { name: 'Cancel run' }).click()
    await page.getByRole('alertdialog').getByRole('button', { name: 'Cancel run' }).click()
    await standing('cancelled').waitFor()
  })

  it('list workflows with their last run and duplicate, export, import and delete them', async () => {
    await page.goto('/workflows')
    await page.getByRole('link', { name: /^Last run of Ask before it goes on: cancelled/ }).waitFor()
    await page.getByRole('button', { name: 'Actions for Ask before it goes on' }).click()
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('menuitem', { name: 'Export as JSON' }).click(),
    ])
    expect(file.suggestedFilename()).toBe('ask-before-it-goes-on.workflow.json')
    await page.getByRole('button', { name: 'Actions for Ask before it goes on' }).click()
    await page.getByRole('menuitem', { name: 'Duplicate' }).click()
    await page.getByRole('heading', { name: 'Ask before it goes on (copy)' }).waitFor()
    await page.getByRole('button', { name: 'Save' }).click()
    await page.waitForURL(/\/workflows\/wf/)
    await page.goto('/workflows')
    await page.getByRole('button', { name: 'New workflow' }).click()
    await page.getByRole('menuitem', { name: 'Import a definition' }).click()
    await page
      .getByRole('dialog')
      .locator('input[type=file]')
      .setInputFiles({ name: 'imported.json', mimeType: 'application/json', buffer: Buffer.from(await textOf(file)) })
    await page.getByRole('button', { name: 'Open in the editor' }).click()
    await graphNode('sign').waitFor()
    await page.getByRole('textbox', { name: 'Name', exact: true }).first().fill('Imported')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.waitForURL(/\/workflows\/wf/)
    await page.goto('/workflows')
    await page.getByRole('button', { name: 'Actions for Imported' }).click()
    await page.getByRole('menuitem', { name: 'Delete' }).click()
    await page.getByRole('alertdialog').getByRole('button', { name: 'Delete workflow' }).click()
    await page.getByRole('link', { name: 'Imported', exact: true }).waitFor({ state: 'detached' })
    await page.getByRole('heading', { level: 3, name: 'Ask before it goes on (copy)' }).waitFor()
  })
})
