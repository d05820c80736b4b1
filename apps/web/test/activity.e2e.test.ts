/** What happened, as the page of activity tells it: real calls of a real MCP server, one of them denied. */
import type { Page } from 'playwright'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { EVERYTHING } from '../../../test/real-servers.ts'
import { type OpenApp, openApp, textOf } from './open-app.ts'

describe('the activity page', () => {
  let app: OpenApp
  let page: Page
  const send = async (method: string, path: string, body: unknown) => {
    const headers = { 'content-type': 'application/json' }
    return (await fetch(`${app.url}/api${path}`, { method, headers, body: JSON.stringify(body) })).status
  }
  const echo = (message: string) => send('POST', '/tools/everything/echo/call', { arguments: { message } })
  const rows = () => page.getByRole('list', { name: 'What happened' }).getByRole('listitem')

  beforeAll(async () => {
    app = await openApp()
    page = await app.open({ viewport: { width: 1280, height: 900 }, acceptDownloads: true })
  })
  afterAll(() => app[Symbol.asyncDispose]())

  it('explains itself while it is empty', async () => {
    await page.goto('/activity')
    await page.getByRole('heading', { name: 'Nothing has happened yet' }).waitFor()
  })

  it('shows new log entries live, one per call, with arguments without secrets', async () => {
    expect(await send('POST', '/mcp', { name: 'everything', command: process.execPath, args: [EVERYTHING] })).toBe(201)
    await send('PUT', '/policy/own', {
      rules: [{ pattern: 'everything.get-env', decision: 'deny', reason: 'no looking' }],
    })
    expect(await echo('hello')).toBe(200)
    expect(await send('POST', '/tools/everything/get-env/call', { arguments: {} })).toBe(403)
    const call = rows().filter({ hasText: 'everything.echo' })
    await call.getByText('Done').waitFor()
    await rows().filter({ hasText: 'Server added' }).waitFor()
    await call.locator('summary').click()
    await call.getByText('"hello"').waitFor()
    await call.getByText('Model or app').or(call.getByText('direct')).waitFor()
    const denied = rows().filter({ hasText: 'everything.get-env' })
    await denied.locator('summary').click()
    await denied.getByText(/no looking/).waitFor()
  })

  it('updates on an event and stays still while live updates are off', async () => {
    const asked: string[] = []
    page.on('request', (request) => {
      // A call that is unfolded is read again as it goes on; the list is not.
      if (/\/api\/audit(?!.*callId=)/.test(request.url())) asked.push(request.url())
    })
    const live = page.getByRole('switch', { name: 'Show new lines as they come' })
    await Promise.all([page.waitForResponse(/\/api\/audit(?!.*callId=)/), live.click()])
    const notified = page.evaluate(
      () =>
        new Promise((resolve) => {
          new EventSource('/api/events').addEventListener('stored-changed', ({ data }) => {
            if (JSON.parse(data).collection === 'audit') resolve(true)
          })
        }),
    )
    const before = asked.length
    expect(await echo('unseen')).toBe(200)
    expect(await notified).toBe(true)
    expect(await rows().filter({ hasText: 'everything.echo' }).count()).toBe(1)
    expect(asked).toHaveLength(before)
    await live.click()
    await rows().filter({ hasText: 'everything.echo' }).nth(1).waitFor()
  })

  it('filters entries and keeps the filters in the URL', async () => {
    await page.getByRole('combobox', { name: 'Outcome' }).selectOption('denied')
    await page.waitForURL(/outcome=denied/)
    await rows().filter({ hasText: 'everything.echo' }).first().waitFor({ state: 'detached' })
    expect(await rows().count()).toBe(1)
    await page.reload()
    expect(await page.getByRole('combobox', { name: 'Outcome' }).inputValue()).toBe('denied')
    await page.getByRole('button', { name: 'Clear filters' }).click()
    await rows().filter({ hasText: 'Server added' }).waitFor()
    await page.getByRole('combobox', { name: 'Decision' }).selectOption('deny')
    await page.getByRole('textbox', { name: 'Tool' }).fill('everything.get-env')
    await page.keyboard.press('Enter')
    await page.waitForURL(/tool=everything/)
    await expect.poll(() => rows().count()).toBe(1)
    await page.getByRole('combobox', { name: 'Asked for by' }).selectOption('workflow')
    await page.getByRole('heading', { name: 'Nothing fits the filters' }).waitFor()
    await page.getByRole('combobox', { name: 'Asked for by' }).selectOption('')
  })

  it('exports the filtered entries', async () => {
    await page.getByRole('button', { name: 'Export' }).click()
    const download = page.waitForEvent('download')
    await page.getByRole('menuitem', { name: 'As JSON lines' }).click()
    const lines = (await textOf(await download)).trim().split('\n')
    expect(lines).toHaveLength(1)
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ ref: 'everything.get-env', outcome: 'denied' })
  })

  it('pages back to older entries', async () => {
    await page.goto('/activity')
    await page.getByRole('switch', { name: 'Show new lines as they come' }).click()
    for (let i = 0; i < 60; i++) await echo(String(i))
    await page.reload()
    await page.getByRole('button', { name: 'Show older lines' }).click()
    await rows().filter({ hasText: 'Server added' }).waitFor()
    expect(await rows().filter({ hasText: 'everything.echo' }).count()).toBe(62)
  })

  it('shows usage as charts and as tables', async () => {
    await page.getByRole('tab', { name: 'Usage' }).click()
    await page.waitForURL(/tab=usage/)
    await page.locator('dd').filter({ hasText: /^63$/ }).waitFor()
    await page.getByText('Calls this hour').waitFor()
    await page.locator('.recharts-bar-rectangle').first().waitFor()
    const colours = page.getByRole('list', { name: 'Calls: colours' }).getByRole('listitem')
    expect(await colours.allTextContents()).toEqual(['Done', 'Refused', 'Errors'])
    await page
      .getByRole('radiogroup', { name: 'Tools called most: view' })
      .getByRole('radio', { name: 'Table' })
      .click()
    const table = page.getByRole('region', { name: 'Tools called most, as a table' })
    expect(
      await table.getByRole('row').filter({ hasText: 'everything.echo' }).getByRole('cell').first().textContent(),
    ).toBe('62')
    await page.getByRole('radio', { name: '30 days' }).click()
    await page.waitForURL(/range=30d/)
  })
})
