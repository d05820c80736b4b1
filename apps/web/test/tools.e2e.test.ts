/** The page of tools with real servers: found, looked at, tried by a form, asked about, cancelled. */
import { fileURLToPath } from 'node:url'
import type { HostServices } from '@loadout/core/services'
import type { Page } from 'playwright'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { type OpenApp, openApp } from './open-app.ts'
import { fill } from './screens/tools.ts'
import { fixtureServer } from './servers.ts'

const FAST = fileURLToPath(new URL('../../../packages/loadout/test/fixtures/fastmcp-servers.ts', import.meta.url))
const MANY = 1900
const ICON = '<svg xmlns="http://www.w3.org/2000/svg" width="17" height="17"><circle cx="8" cy="8" r="8"/></svg>'

async function fillAll(host: HostServices): Promise<void> {
  await fill(host)
  const tools = Array.from({ length: MANY }, (_, n) => ({
    name: `task_${String(n).padStart(4, '0')}`,
    description: `Task number ${n}.`,
  }))
  const wordy = { name: 'wordy', description: Array.from({ length: 40 }, (_, n) => `Line ${n}.`).join('\n') }
  // What it offered is stored; nobody calls it.
  await using server = await fixtureServer({ tools: [wordy, ...tools] })
  const { command, args } = server
  const { stored } = await host.toolkits.register({ name: 'Many', command, args }, { tier: 'user', userId: 'local' })
  await host.catalog.introspect(stored, 'local')
}

describe('the tools page', () => {
  let app: OpenApp
  let page: Page
  const list = () => page.getByRole('list', { name: 'Tools by server' })
  const side = () => page.getByRole('region', { name: /.+/ }).or(page.getByRole('dialog'))
  const run = () => page.getByRole('button', { name: 'Run', exact: true }).click()
  const tried = () => page.getByRole('article', { name: /^Try at/ }).first()
  const open = async (tool: string) => {
    await page.goto(`/tools?tool=${tool}`)
    await page.getByRole('button', { name: 'Run', exact: true }).waitFor()
  }

  beforeAll(async () => {
    app = await openApp(fillAll)
    page = await app.open({ permissions: ['clipboard-read', 'clipboard-write'] })
  })
  afterAll(() => app[Symbol.asyncDispose]())

  it('shows an embedded icon on both pages and loads no icon from another host', async () => {
    const asked: string[] = []
    page.on('request', (request) => asked.push(request.url()))
    const src = `data:image/svg+xml;base64,${Buffer.from(ICON).toString('base64')}`
    await using server = await fixtureServer({
      tools: [
        { name: 'paint', icons: [{ src: 'https://icons.example/paint.png' }, { src, mimeType: 'image/svg+xml' }] },
        { name: 'plain', icons: [{ src: 'https://icons.example/plain.png' }] },
      ],
    })
    const { command, args } = server
    const answer = await page.request.post('/api/mcp', { data: { name: 'Painter', command, args } })
    expect(answer.status()).toBe(201)
    await page.goto('/tools?tool=painter.paint')
    const drawn = () =>
      page.locator('img').evaluateAll((all) => all.map((one) => (one as HTMLImageElement).naturalWidth))
    await expect.poll(drawn).toEqual([17])
    await page.goto('/connectors')
    const row = page.getByRole('listitem').filter({ has: page.getByRole('heading', { name: 'Painter', exact: true }) })
    await row.getByRole('button', { name: 'Painter', exact: true }).click()
    await row.getByRole('button', { name: 'plain', exact: true }).waitFor()
    await expect.poll(drawn).toEqual([17])
    expect(asked.filter((url) => url.includes('icons.example'))).toEqual([])
    await page.request.delete('/api/mcp/painter')
  })

  it('shows the TypeScript declaration of a tool beside its schema, with a copy button', async () => {
    await open('everything.get-sum')
    const copied = () => page.evaluate(() => navigator.clipboard.readText())
    await page.getByRole('tab', { name: 'TypeScript' }).click()
    await page.getByText('await everything["get-sum"](…)').waitFor()
    await page.locator('.cm-content').getByText('declare const everything').waitFor()
    await page.getByRole('button', { name: 'Copy the declaration of get-sum' }).click()
    await expect.poll(copied).toContain('"get-sum"(input: {')
    await page.getByRole('tab', { name: 'Input schema' }).click()
    await page.getByRole('button', { name: 'Copy the input schema' }).click()
    await expect.poll(async () => JSON.parse(await copied()).type).toBe('object')
    const off = (on: boolean) =>
      page.request.patch('/api/mcp/everything', { data: { switches: { 'get-sum': on } } }).then((answer) => answer.ok())
    expect(await off(false)).toBe(true)
    await page.getByRole('tab', { name: 'TypeScript' }).click()
    await page.getByText(/^None of your programs can call it now\. .*Switched off/).waitFor()
    await off(true)
    await page.getByText(/^None of your programs can call it now/).waitFor({ state: 'detached' })
  })

  it('lists tools by server, collapses groups, and opens a tool beside the list', async () => {
    await page.goto('/tools')
    const head = list().getByRole('button', { name: /^Everything/ })
    await list().getByRole('link', { name: /^echo/ }).waitFor()
    await head.click()
    expect(await head.getAttribute('aria-expanded')).toBe('false')
    await list().getByRole('link', { name: /^echo/ }).waitFor({ state: 'detached' })
    await list()
      .getByRole('link', { name: /^write_file/ })
      .click()
    await page.waitForURL('**/tools?tool=documents.write_file')
    await side().getByText('mcp_documents_write_file').waitFor()
    await side().getByText('Asks you first').waitFor()
    await side().getByText('Destructive').waitFor()
    await side()
      .getByText(/^\d+ tokens in a model’s context$/)
      .waitFor()
    await page.getByRole('button', { name: 'Close the tool' }).click()
    await page.getByRole('heading', { name: 'Choose a tool' }).waitFor()
  })

  it('moves from row to row with the arrow keys', async () => {
    await page.goto('/tools')
    await list()
      .getByRole('button', { name: /^Everything/ })
      .focus()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('ArrowUp')
    await page.keyboard.press('Enter')
    await page.waitForURL('**/tools?tool=everything.echo')
  })

  it('draws only the visible rows of two thousand', async () => {
    await page.goto('/tools')
    await list().getByRole('link', { name: /^echo/ }).waitFor()
    expect(await list().getByRole('listitem').count()).toBeLessThan(60)
    await page.evaluate(() => window.scrollTo(0, document.body.scrollHeight))
    await list()
      .getByRole('link', { name: `task_${MANY - 1}` })
      .waitFor()
    expect(await list().getByRole('listitem').count()).toBeLessThan(60)
  })

  it('scrolls to the tool in the URL and shows its details', async () => {
    await open('many.task_1500')
    const link = list().getByRole('link', { name: /^task_1500/ })
    const top = () => link.evaluate((element) => element.getBoundingClientRect().top)
    await expect.poll(top).toBeGreaterThan(0)
    await expect.poll(top).toBeLessThan(page.viewportSize()?.height ?? 0)
    await page.getByText('There is nothing to fill in.').waitFor()
    await page.getByText('It is a tool of one of your servers.').waitFor()
    await page.getByRole('searchbox').fill('task number')
    await page.getByText(/^The best 100, searched by/).waitFor()
  })

  it('truncates a long description and shows it in full on request', async () => {
    await open('many.wordy')
    const text = side()
      .getByText(/^Line 0\.\s/)
      .last()
    const height = () => text.evaluate(({ clientHeight, scrollHeight }) => clientHeight / scrollHeight)
    expect(await height()).toBeLessThan(0.5)
    await page.getByRole('button', { name: 'Show all' }).click()
    await expect.poll(height).toBe(1)
    await page.getByRole('button', { name: 'Show less' }).click()
    await expect.poll(height).toBeLessThan(0.5)
  })

  it('scrolls the result of a test run into view', async () => {
    await open('drawing.large')
    await run()
    await tried().getByText('Done', { exact: true }).waitFor()
    const panel = page.getByRole('region', { name: 'large', exact: true })
    await tried().getByText('line', { exact: false }).first().waitFor()
    const seen = async () => {
      const [card, holder] = await Promise.all([tried().boundingBox(), panel.boundingBox()])
      if (!card || !holder) return 0
      return (Math.min(card.y + card.height, holder.y + holder.height) - card.y) / Math.min(card.height, 400)
    }
    await expect.poll(seen).toBeGreaterThanOrEqual(0.99)
  })

  it('searches as the model does, with scores and reasons, and with other strategies', async () => {
    await page.goto('/tools')
    await page.getByRole('searchbox').fill('read the text of a file')
    const fits = page.getByRole('list', { name: 'Tools that fit' })
    await fits.getByRole('link', { name: /^read_text_file/ }).waitFor()
    const first = fits.getByRole('listitem').first()
    // What was called lately counts a little, and is written behind the call: both must have seen the same.
    await vi.waitFor(
      async () => {
        await page.reload()
        const answer = await fetch(`${app.url}/api/tools?q=read+the+text+of+a+file&limit=100`)
        const { tools } = (await answer.json()) as { tools: { name: string; score: number; reasons: string[] }[] }
        const [best] = tools
        const shown = await first.textContent()
        expect(shown).toContain(`${best?.name}`)
        expect(shown).toContain(best?.score.toFixed(3))
        expect(shown).toContain(best?.reasons[0])
      },
      { timeout: 60_000, interval: 300 },
    )
    await page.getByRole('combobox', { name: 'Strategy' }).selectOption('regex')
    await page.getByRole('searchbox').fill('^get_file_i')
    await page.getByText('1 tool fits, searched by regex').waitFor()
    expect(page.url()).toContain('strategy=regex')
    await page.getByRole('searchbox').fill('zzzz')
    await page.getByRole('heading', { name: 'No tool fits' }).waitFor()
  })

  it('fills a form with every kind of schema and runs it', async () => {
    await open('drawing.draw')
    const box = (name: string) => page.getByRole('textbox', { name, exact: true })
    await box('title').fill('Sun')
    expect(await page.getByRole('spinbutton', { name: 'count' }).inputValue()).toBe('3')
    await page.getByRole('combobox', { name: 'draft' }).selectOption('Yes')
    await page.getByRole('combobox', { name: 'colour' }).selectOption('green')
    await page.getByRole('checkbox', { name: 'tue' }).check()
    for (const tag of ['one', 'two', 'three']) {
      await page.getByRole('button', { name: 'Add an item to tags' }).click()
      await page.getByRole('group', { name: 'tags' }).getByRole('textbox').last().fill(tag)
    }
    await page.getByRole('group', { name: 'tags' }).getByRole('button', { name: 'Move item 3 up' }).click()
    await page.getByRole('group', { name: 'tags' }).getByRole('button', { name: 'Remove item 1' }).click()
    await page.getByRole('group', { name: 'pair' }).getByRole('textbox').fill('x')
    await page.getByRole('group', { name: 'pair' }).getByRole('spinbutton').fill('2.5')
    await page.getByRole('combobox', { name: 'shape', exact: true }).selectOption('square')
    await page.getByRole('spinbutton', { name: 'side' }).fill('4')
    await page.getByRole('button', { name: 'Add tree' }).click()
    await page.getByRole('group', { name: 'tree' }).getByRole('textbox', { name: 'label' }).fill('root')
    await page.getByRole('button', { name: 'Add an item to children' }).click()
    await page.getByRole('textbox', { name: 'label' }).last().fill('leaf')
    await page.getByRole('button', { name: 'Add extra' }).click()
    await page.getByRole('button', { name: 'Add a field to extra' }).click()
    await page.getByRole('textbox', { name: /^Name of/ }).fill('size')
    await page.getByRole('textbox', { name: /^Name of/ }).blur()
    await page.getByRole('spinbutton', { name: 'size' }).fill('7')
    await run()
    await tried().getByText('Done').waitFor()
    await tried().getByRole('radio', { name: 'Raw' }).click()
    const raw = await tried().getByRole('region', { name: 'The result, as it came' }).textContent()
    const { structuredContent, content } = JSON.parse(raw ?? '')
    expect(structuredContent ?? JSON.parse(content[0].text)).toEqual({
      title: 'Sun',
      count: 3,
      draft: true,
      colour: 'green',
      days: ['tue'],
      tags: ['three', 'two'],
      pair: ['x', 2.5],
      shape: { kind: 'square', side: 4 },
      tree: { label: 'root', children: [{ label: 'leaf' }] },
      extra: { size: 7 },
    })
  })

  it('shows errors at their field, and in the JSON at their position', async () => {
    await open('drawing.draw')
    await page.getByRole('textbox', { name: 'title', exact: true }).fill('x')
    await run()
    const title = page.getByRole('textbox', { name: 'title', exact: true })
    await page.locator('[aria-invalid=true]').first().waitFor()
    const ids = ((await title.getAttribute('aria-describedby')) ?? '').split(' ')
    const description = await page.evaluate(
      (all) => all.map((id) => document.getElementById(id)?.textContent).join(' '),
      ids,
    )
    expect(description).toMatch(/at least 2 characters.*What it is called/)
    await expect.poll(() => page.evaluate(() => document.activeElement?.getAttribute('aria-invalid'))).toBe('true')
    await page.getByRole('tab', { name: 'JSON' }).click()
    await page.locator('.cm-lintRange-error', { hasText: '"x"' }).waitFor()
    const editor = page.getByRole('textbox', { name: 'Arguments' })
    await editor.fill('{"title": "Moon", ')
    await page.getByText('A value was expected here.').or(page.getByText('expected here')).first().waitFor()
    expect(await page.getByRole('tab', { name: 'Form' }).isDisabled()).toBe(true)
    await editor.fill('{"title": "Moon", "shape": {"kind": "square", "side": 1}, "pair": ["a", 1]}')
    await page.getByRole('tab', { name: 'Form' }).click()
    expect(await page.getByRole('spinbutton', { name: 'side' }).inputValue()).toBe('1')
    expect(await page.getByRole('textbox', { name: 'title', exact: true }).inputValue()).toBe('Moon')
  })

  it('sends a value of another format, with a hint at the field and a warning beside the result', async () => {
    const answer = await page.request.post('/api/mcp', {
      data: { name: 'Loose', command: process.execPath, args: [FAST] },
    })
    expect(answer.status()).toBe(201)
    await open('loose.formats')
    await page.getByRole('textbox', { name: 'id optional' }).fill('123e4567e89b42d3a456426614174000')
    await page.getByText(/^Expected: a UUID such as/).waitFor()
    await run()
    await tried().getByText('Done', { exact: true }).waitFor()
    await tried()
      .getByRole('list', { name: 'Warnings' })
      .getByText(/^arguments\.id must be a UUID/)
      .waitFor()
    await page.request.delete('/api/mcp/loose')
  })

  it('shows JSON for a schema that no form can draw', async () => {
    await open('drawing.deep')
    await page.getByText('Its fields lie too deep inside one another.').waitFor()
    await page.getByRole('textbox', { name: 'Arguments' }).fill('{"a": {}}')
    await run()
    await tried().getByText('Done').waitFor()
  })

  it('shows progress and cancels', async () => {
    await open('everything.trigger-long-running-operation')
    await page.getByRole('spinbutton', { name: 'duration' }).fill('60')
    await page.getByRole('spinbutton', { name: 'steps' }).fill('200')
    await run()
    await tried().getByRole('progressbar').waitFor()
    await tried()
      .getByText(/^\d+ of 200/)
      .waitFor()
    const asksBeforeReload = () =>
      page.evaluate(() => !window.dispatchEvent(new Event('beforeunload', { cancelable: true })))
    expect(await asksBeforeReload()).toBe(true)
    // Who goes to another page gives nothing up, and finds it again.
    await page.getByRole('link', { name: 'Workflows', exact: true }).click()
    await page.getByRole('heading', { name: 'Workflows', level: 1 }).waitFor()
    expect(await asksBeforeReload()).toBe(true)
    const seen = (text: string | null) => Number.parseInt(text ?? '', 10)
    await page.getByRole('link', { name: 'Tools', exact: true }).click()
    await page.getByRole('heading', { name: 'Choose a tool' }).waitFor()
    await list()
      .getByRole('link', { name: /^trigger-long-running-operation/ })
      .click()
    const counted = tried().getByText(/^\d+ of 200/)
    const before = seen(await counted.textContent())
    await expect.poll(async () => seen(await counted.textContent())).toBeGreaterThan(before)
    await tried().getByRole('button', { name: 'Cancel' }).click()
    await tried().getByText('Cancelled').waitFor()
    expect(await asksBeforeReload()).toBe(false)
  })

  it('asks before a call that may write and accepts the answer in place', async () => {
    await open('everything.toggle-simulated-logging')
    await run()
    const card = tried().getByRole('article')
    await card.getByText('Changes', { exact: true }).waitFor()
    await expect.poll(() => card.evaluate((element) => element === document.activeElement)).toBe(true)
    await page.keyboard.press('n')
    await tried().getByText('It could not be called').waitFor()
    await run()
    await tried()
      .getByRole('button', { name: /^Allow .* once$/ })
      .click()
    await tried().getByText('Done', { exact: true }).waitFor()
    expect(await page.getByRole('article', { name: /^Try at/ }).count()).toBe(2)
    // Another tool and back: the tries of this page are still there.
    await list().getByRole('link', { name: /^echo/ }).click()
    await page.getByRole('textbox', { name: 'message' }).waitFor()
    expect(await page.getByRole('article', { name: /^Try at/ }).count()).toBe(0)
    await page.goBack()
    await expect.poll(() => page.getByRole('article', { name: /^Try at/ }).count()).toBe(2)
  })

  it('shows the input request of a server during a call and sends the answer', async () => {
    await open('everything.trigger-elicitation-request')
    await run()
    await tried()
      .getByRole('button', { name: /^Allow .* once$/ })
      .click()
    const question = tried().getByRole('article')
    await question.getByText('Input needed').waitFor()
    await question.getByRole('textbox', { name: 'String', exact: true }).fill('Ann')
    await question.getByRole('button', { name: 'Send' }).click()
    await tried().getByText('Done', { exact: true }).waitFor()
    await tried().getByText('Ann', { exact: false }).first().waitFor()
  })

  it('shows images, links, structured content, and large results by page', async () => {
    await open('everything.get-tiny-image')
    await run()
    const picture = tried().getByRole('img')
    await picture.waitFor()
    expect(await picture.evaluate((image) => (image as HTMLImageElement).naturalWidth)).toBeGreaterThan(0)
    await open('everything.get-resource-links')
    await run()
    await tried().getByText('demo://resource/dynamic/').first().waitFor()
    await open('everything.get-structured-content')
    await page.getByRole('combobox', { name: 'location' }).selectOption({ index: 1 })
    await run()
    await tried().getByRole('radio', { name: 'Structured' }).click()
    await tried().getByText('temperature').waitFor()
    await open('drawing.large')
    await run()
    await tried().getByText('20,000 of 200,000 characters').waitFor()
    await tried().getByRole('button', { name: 'Read on' }).click()
    await tried().getByText('40,000 of 200,000 characters').waitFor()
  })

  it('copies the call as a command line', async () => {
    await open('everything.echo')
    await page.getByRole('textbox', { name: 'message' }).fill("it's")
    await page.getByRole('button', { name: 'Copy as curl' }).click()
    await page.getByText('Copied').waitFor()
    const text = await page.evaluate(() => navigator.clipboard.readText())
    expect(text).toContain(`curl -X POST '${app.url}/api/tools/everything/echo/call'`)
    expect(text).toContain(`-d '{"arguments":{"message":"it'\\''s"}}'`)
    expect(text).not.toContain('Authorization')
  })

  it('opens a tool above the list on a phone and returns to the same position', async () => {
    const phone = await app.open({ viewport: { width: 360, height: 740 } })
    await phone.goto('/tools')
    await phone.getByRole('link', { name: /^get-sum/ }).click()
    const sheet = phone.getByRole('dialog')
    await sheet.getByRole('spinbutton', { name: 'a', exact: true }).fill('2')
    await sheet.getByRole('spinbutton', { name: 'b', exact: true }).fill('3')
    await sheet.getByRole('button', { name: 'Run', exact: true }).click()
    await sheet.getByText('The sum of 2 and 3 is 5.').waitFor()
    await phone.keyboard.press('Escape')
    await sheet.waitFor({ state: 'detached' })
    await expect.poll(() => phone.evaluate(() => document.activeElement?.id)).toBe('tool-everything.get-sum')
    await phone.context().close()
  })
})
