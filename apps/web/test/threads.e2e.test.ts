/** Threads in a real browser: with a model that says what a script tells it to, and without any; with a real MCP server. */
import { startModelServer } from '@loadout/core/testing'
import type { Page } from 'playwright'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { EVERYTHING } from '../../../test/real-servers.ts'
import { type OpenApp, openApp } from './open-app.ts'

const send = async (method: string, url: string, body: unknown) => {
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(url, { method, headers, body: JSON.stringify(body) })
  expect(response.status, await response.clone().text()).toBeLessThan(300)
}
const addEverything = async ({ url }: OpenApp) => {
  await send('POST', `${url}/api/mcp`, { name: 'everything', command: process.execPath, args: [EVERYTHING] })
  await send('PUT', `${url}/api/policy/own`, { rules: [{ pattern: 'everything.get-sum', decision: 'ask' }] })
}

const newThread = async (page: Page) => {
  await page.goto('/threads')
  await page.getByRole('button', { name: 'New thread' }).click()
  await page.waitForURL(/\/threads\/.+/)
}
const mode = (page: Page, name: string) => page.getByRole('radio', { name }).click()
const panel = (page: Page) => page.getByRole('complementary', { name: 'Tools of this thread' })

describe('a thread without a model', () => {
  let app: OpenApp
  let page: Page
  beforeAll(async () => {
    app = await openApp()
    await addEverything(app)
    page = await app.open({ viewport: { width: 1400, height: 900 } })
  })
  afterAll(() => app[Symbol.asyncDispose]())

  it('explains itself while it is empty and shows what a model needs', async () => {
    await page.goto('/threads')
    await page.getByRole('heading', { name: 'No threads yet' }).waitFor()
    await page.getByRole('button', { name: 'Begin the first' }).waitFor()
    await newThread(page)
    await page.getByRole('heading', { name: 'Find tools' }).waitFor()
    await mode(page, 'Ask')
    await page.getByText('No model is chosen yet').waitFor()
    expect(await page.getByRole('link', { name: 'Save a key in Settings' }).getAttribute('href')).toContain(
      'tab=models',
    )
  })

  it('accepts no input before its models are loaded', async () => {
    const models = Promise.withResolvers<void>()
    await page.route(/\/api\/models/, async (route) => {
      await models.promise
      await route.continue()
    })
    await page.goto(page.url().split('?')[0] ?? '')
    const composer = page.getByRole('form', { name: 'Composer' })
    await composer.waitFor()
    expect(await composer.getByRole('textbox').count()).toBe(0)
    models.resolve()
    await composer.getByRole('textbox', { name: /Say what should be done/ }).waitFor()
    await page.unroute(/\/api\/models/)
  })

  it('finds tools with scores, reasons and costs and keeps one', async () => {
    await mode(page, 'Find tools')
    await page.getByRole('textbox', { name: /Say what should be done/ }).fill('add two numbers')
    await page.keyboard.press('Enter')
    const found = page.getByRole('article', { name: 'Search' })
    const sum = found.getByRole('listitem').filter({ hasText: 'everything.get-sum' })
    await sum.getByText(/Score\s*\d\.\d\d/).waitFor()
    await found.getByText(/tokens carried/).waitFor()
    await sum.getByRole('button', { name: 'Keep loaded' }).click()
    await panel(page).getByRole('tab', { name: 'Loaded' }).click()
    await panel(page).getByRole('button', { name: 'Unload everything.get-sum' }).waitFor()
    await page.getByRole('heading', { name: 'add two numbers', level: 1 }).waitFor()
    await sum.getByRole('button', { name: 'Use in a program' }).click()
    await page.getByText('await everything["get-sum"]({ a: 0, b: 0 })').waitFor()
  })

  it('runs a program that waits for an approval and continues after it', async () => {
    await write(page, 'console.log("two calls")\nreturn await everything["get-sum"]({ a: 20, b: 22 })')
    await page.getByRole('button', { name: 'Run', exact: true }).click()
    const run = page.getByRole('article', { name: 'Program' })
    await run.getByText('Waits for you').first().waitFor()
    await run.getByText('everything.get-sum').first().waitFor()
    await run.getByRole('button', { name: /^Allow .* once$/ }).click()
    await run.getByText('Done').first().waitFor()
    await run.getByText('two calls', { exact: true }).waitFor()
    await run.getByText(/sum of 20 and 22 is 42/).waitFor()
  })

  it('cancels a pending program and shows programs after a reload', async () => {
    await write(page, 'return await everything["get-sum"]({ a: 1, b: 1 })')
    await page.keyboard.press('Control+Enter')
    const second = page.getByRole('article', { name: 'Program' }).nth(1)
    await second.getByText('Waits for you').first().waitFor()
    await second.getByRole('button', { name: 'Cancel' }).click()
    await second.getByText('Cancelled', { exact: true }).waitFor()
    await page.reload()
    await page.getByRole('article', { name: 'Program' }).nth(1).waitFor()
    expect(await page.getByRole('article', { name: 'Program' }).count()).toBe(2)
    await page.getByRole('article', { name: 'Program' }).first().getByRole('button', { name: 'Show' }).click()
    await page.getByText(/sum of 20 and 22 is 42/).waitFor()
  })

  it('shows the errors of a program', async () => {
    await write(page, 'throw new Error("on purpose")')
    await page.getByRole('button', { name: 'Run', exact: true }).click()
    const last = page.getByRole('article', { name: 'Program' }).last()
    await last
      .getByRole('alert')
      .getByText(/on purpose/)
      .waitFor()
  })

  it('makes turned-on tools available, explains why, and applies its limits', async () => {
    await panel(page).getByRole('tab', { name: 'Toolkits' }).click()
    await panel(page).getByRole('button', { name: 'Tools of everything' }).click()
    await panel(page).getByRole('switch', { name: 'Carry everything.echo' }).click()
    await panel(page).getByText('here', { exact: true }).waitFor()
    await panel(page).getByRole('tab', { name: 'Why' }).click()
    await panel(page).getByRole('searchbox').fill('everything.echo')
    await panel(page).getByText('Left out').waitFor()
    await panel(page).getByRole('tab', { name: 'Toolkits' }).click()
    await panel(page).getByRole('switch', { name: 'Carry everything', exact: true }).click()
    await panel(page).getByText('switched off here').waitFor()
    await panel(page).getByRole('button', { name: 'Forget what was switched here' }).click()
    await panel(page).getByText('switched off here').waitFor({ state: 'detached' })
    await panel(page).getByRole('tab', { name: 'Limits' }).click()
    await panel(page).getByRole('spinbutton', { name: 'Most tools' }).fill('2')
    await panel(page).getByRole('button', { name: 'Save limits' }).click()
    await panel(page).getByRole('tab', { name: 'Toolkits' }).click()
    await panel(page)
      .getByText(/^2 tools carried/)
      .waitFor()
  })

  it('has its own rules, which apply only in this thread', async () => {
    await panel(page).getByRole('tab', { name: 'Rules' }).click()
    await panel(page).getByText('This thread has no rules of its own').waitFor()
    await panel(page).getByRole('button', { name: 'Add rule' }).click()
    const dialog = page.getByRole('dialog', { name: 'Rule for this thread' })
    await dialog.getByRole('button', { name: 'Add rule' }).click()
    await dialog.locator('[aria-invalid=true]').waitFor()
    await dialog.getByRole('textbox', { name: 'Tools' }).fill('everything.echo')
    await dialog.getByRole('combobox', { name: 'Decision' }).selectOption('Deny')
    await dialog.getByRole('textbox', { name: 'Reason' }).fill('No echoes here.')
    await dialog.getByRole('button', { name: 'Add rule' }).click()
    await dialog.waitFor({ state: 'detached' })
    const rules = panel(page).getByRole('list', { name: 'Rules of this thread' })
    await rules.getByText('No echoes here.').waitFor()
    expect(await page.evaluate(() => document.activeElement?.textContent)).toContain('Add rule')
    await write(page, 'return await everything.echo({ message: "hello" })')
    await page.getByRole('button', { name: 'Run', exact: true }).click()
    const run = page.getByRole('article', { name: 'Program' }).last()
    await run
      .getByText(/No echoes here/)
      .first()
      .waitFor({ state: 'attached' })
    await rules.getByRole('button', { name: 'Remove the rule for everything.echo' }).click()
    await panel(page).getByText('This thread has no rules of its own').waitFor()
  })

  it('is renamed and deleted in the list', async () => {
    await page.getByRole('link', { name: 'All threads' }).click()
    await page.getByRole('button', { name: 'Actions for add two numbers' }).click()
    await page.getByRole('menuitem', { name: 'Rename' }).click()
    await page.getByRole('textbox', { name: 'Title' }).fill('Sums')
    await page.keyboard.press('Enter')
    await page.getByRole('link', { name: 'Sums' }).waitFor()
    await page.getByRole('button', { name: 'Actions for Sums' }).click()
    await page.getByRole('menuitem', { name: 'Delete' }).click()
    await page.getByRole('button', { name: 'Delete thread' }).click()
    await page.getByRole('heading', { name: 'No threads yet' }).waitFor()
  })

  it('leaves room for messages in a low window, as at 400 % zoom', async () => {
    await newThread(page)
    const composer = page.getByRole('form', { name: 'Composer' })
    const stays = () => composer.evaluate((form) => getComputedStyle(form).position)
    await composer.waitFor()
    expect(await stays()).toBe('sticky')
    await page.setViewportSize({ width: 320, height: 256 })
    expect(await stays()).toBe('static')
    await page.setViewportSize({ width: 1400, height: 900 })
  })

  it('shows that it is gone after a deletion elsewhere, and so do missing workflows and runs', async () => {
    await newThread(page)
    await page.getByRole('form', { name: 'Composer' }).waitFor()
    const { pathname } = new URL(page.url())
    expect((await fetch(`${app.url}/api${pathname}`, { method: 'DELETE' })).status).toBeLessThan(300)
    await page.getByRole('heading', { name: 'This thread is gone' }).waitFor()
    expect(await page.getByRole('form', { name: 'Composer' }).count()).toBe(0)
    expect(await page.getByRole('alert').count()).toBe(0)
    await page.getByRole('link', { name: 'Go to threads' }).click()
    await page.waitForURL(/\/threads$/)
    for (const [path, what] of [
      ['/workflows/nope', 'workflow'],
      ['/runs/nope', 'run'],
    ]) {
      await page.goto(path ?? '')
      await page.getByRole('heading', { name: `This ${what} is gone` }).waitFor()
    }
  })
})

describe('a chat', () => {
  let app: OpenApp
  let page: Page
  let models: Awaited<ReturnType<typeof startModelServer>>
  const sum = {
    calls: [{ name: 'mcp_everything_get-sum', arguments: { a: 2, b: 3 } }],
    usage: { input: 100, output: 10 },
  }
  const MARKDOWN = '**Five.** <img src=x onerror=alert(1)>\n\n- one\n- two\n\n```\nsum = 5\n```'
  /** What the model says next. */
  let next: Parameters<typeof startModelServer>[0] extends infer S ? Extract<S, (...args: never[]) => unknown> : never

  beforeAll(async () => {
    models = await startModelServer((request) => next(request), { paceMs: 2 })
    app = await openApp(undefined, {
      LOADOUT_MODEL: 'openai:gpt-5.6',
      LOADOUT_MODEL_URL: models.baseUrl.openai,
      LOADOUT_MODEL_KEY: 'key-of-the-app',
    })
    await addEverything(app)
    page = await app.open({ viewport: { width: 1000, height: 900 } })
    await newThread(page)
  })
  afterAll(async () => {
    await app[Symbol.asyncDispose]()
    await models.close()
  })
  const ask = async (text: string) => {
    await page.getByRole('textbox', { name: 'Ask the model' }).fill(text)
    await page.getByRole('button', { name: 'Send' }).click()
  }
  const answer = () => page.getByRole('article', { name: 'Answer' }).last()

  it('streams an answer with its call, which is approved in place', async () => {
    let count = 0
    next = () => (++count === 1 ? sum : { text: MARKDOWN, usage: { input: 150, output: 5 } })
    await ask('What is 2 and 3?')
    await answer().getByText('Waits for you').waitFor()
    await answer()
      .getByRole('button', { name: /^Allow .* once$/ })
      .click()
    await answer().getByText('265 tokens used').waitFor()
    await answer().getByRole('listitem').getByText('one', { exact: true }).waitFor()
    expect(await answer().locator('strong').first().textContent()).toBe('Five.')
    expect(await answer().locator('img').count()).toBe(0)
    await answer().getByText('everything.get-sum').first().click()
    await answer()
      .getByText(/sum of 2 and 3 is 5/)
      .waitFor()
    await answer()
      .getByText(/of \d+ tools/)
      .click()
    await answer()
      .getByText(/tokens carried/)
      .waitFor()
    await answer().getByRole('list', { name: 'Chosen tools' }).getByText('everything.get-sum').waitFor()
  })

  it('keeps its messages after a reload under its title', async () => {
    await page.reload()
    await page.getByRole('heading', { name: 'What is 2 and 3?', level: 1 }).waitFor()
    await answer().getByText('265 tokens used').waitFor()
    await answer().getByText('Done').waitFor()
    expect(await page.getByRole('article', { name: 'You' }).count()).toBe(1)
  })

  it('is stopped, and the partial answer is kept', async () => {
    next = () => 'On and on. '.repeat(400)
    await ask('Talk.')
    await answer()
      .getByText(/On and on/)
      .waitFor()
    await page.getByRole('button', { name: 'Stop' }).click()
    await page.getByRole('button', { name: 'Send' }).waitFor()
    await expect.poll(() => models.requests.at(-1)?.aborted).toBe(true)
    await page.reload()
    await answer()
      .getByText(/On and on/)
      .waitFor()
  })

  it('shows the error of the model and retries', async () => {
    next = () => ({ raw: { status: 401, body: { error: { message: 'bad key', type: 'auth' } } } })
    await ask('Is it so?')
    await page.getByRole('alert').getByText(/401/).waitFor()
    next = () => 'It is.'
    await page.getByRole('button', { name: 'Try again' }).click()
    await answer().getByText('It is.').waitFor()
    expect(await page.getByRole('article', { name: 'You' }).getByText('Is it so?').count()).toBe(1)
  })

  it('replaces the last answer with a regenerated one, also after a reload', async () => {
    const texts = () => Promise.all(['You', 'Answer'].map((name) => page.getByRole('article', { name }).count()))
    const before = await texts()
    next = () => 'It still is.'
    await page.getByRole('button', { name: 'Ask again' }).click()
    await answer().getByText('It still is.').waitFor()
    await page.getByRole('button', { name: 'Ask again' }).waitFor()
    for (const look of [async () => {}, () => page.reload()]) {
      await look()
      await answer().getByText('It still is.').waitFor()
      expect(await page.getByText('It is.', { exact: true }).count()).toBe(0)
      expect(await texts()).toEqual(before)
    }
  })

  it('keeps the earlier answer if the new one fails', async () => {
    next = () => ({ raw: { status: 401, body: { error: { message: 'bad key', type: 'auth' } } } })
    await page.getByRole('button', { name: 'Ask again' }).click()
    await page.getByRole('alert').getByText(/401/).waitFor()
    await answer().getByText('It still is.').waitFor()
    await page.reload()
    await answer().getByText('It still is.').waitFor()
  })

  it('uses the chosen programs and step limit, also on the next visit', async () => {
    const choose = () => page.getByRole('button', { name: /openai:gpt-5.6/ }).click()
    const dialog = page.getByRole('dialog', { name: 'Model' })
    await choose()
    await dialog.getByRole('switch', { name: 'Programs' }).click()
    await dialog.getByRole('textbox', { name: 'Most steps' }).fill('0')
    await dialog.getByRole('button', { name: 'Use it' }).click()
    await dialog.getByText('A whole number from 1 to 100.').waitFor()
    await dialog.getByRole('textbox', { name: 'Most steps' }).fill('1')
    await dialog.getByRole('button', { name: 'Use it' }).click()
    await dialog.waitFor({ state: 'detached' })
    await page.reload()
    next = () => sum
    await ask('Add with one step.')
    await answer()
      .getByRole('button', { name: /^Allow .* once$/ })
      .click()
    await answer()
      .getByText(/110 tokens used/)
      .waitFor()
    expect(JSON.stringify(models.requests.at(-1)?.body)).toContain('run_code')
    await choose()
    await dialog.getByRole('switch', { name: 'Programs' }).click()
    await dialog.getByRole('textbox', { name: 'Most steps' }).fill('')
    await dialog.getByRole('button', { name: 'Use it' }).click()
    await dialog.waitFor({ state: 'detached' })
  })

  it('uses the chosen model and reports a missing key', async () => {
    await page.getByRole('button', { name: 'openai:gpt-5.6' }).click()
    const dialog = page.getByRole('dialog', { name: 'Model' })
    await dialog.getByRole('combobox', { name: 'Provider' }).selectOption('google')
    await dialog.getByRole('textbox', { name: 'Model' }).fill('gemini')
    await dialog.getByRole('button', { name: 'Use it' }).click()
    await page.getByText('There is no key for Google').waitFor()
    await page.getByRole('button', { name: 'choose another model' }).click()
    await page.getByRole('button', { name: 'Use the operator’s' }).click()
    await page.getByRole('textbox', { name: 'Ask the model' }).waitFor()
  })

  it('shows its tools in a sheet if there is no room beside it and restores the focus', async () => {
    await page.setViewportSize({ width: 360, height: 780 })
    await page.getByRole('button', { name: 'Tools', exact: true }).click()
    await page.getByRole('dialog').getByRole('switch', { name: 'Carry everything', exact: true }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    expect(await page.evaluate(() => document.activeElement?.textContent)).toContain('Tools')
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360)
  })
})

async function write(page: Page, program: string): Promise<void> {
  const editor = page.getByRole('textbox', { name: 'Program' })
  await page.locator('[data-code-editor]').waitFor()
  await editor.fill(program)
}
