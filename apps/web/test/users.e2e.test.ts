/** Many users: the README's command twice on one PostgreSQL, and people in browsers of their own. */
import { randomBytes } from 'node:crypto'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, BrowserContext, Page } from 'playwright'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { createDatabase } from '../../../test/database.ts'
import { start } from '../../../test/run-process.ts'
import { connectChromium } from '../../../test/start-chromium.ts'
import type {} from '../../../test/start-postgres.ts'

const PASSWORD = `pass-${randomBytes(9).toString('hex')}`
const env: Record<string, string> = {
  LOADOUT_MODE: 'multi-user',
  HOST: '127.0.0.1',
  LOADOUT_MASTER_KEY: randomBytes(32).toString('base64'),
  LOADOUT_DATA_DIR: join(tmpdir(), 'loadout-never-made'),
  LOADOUT_STDIO: 'on',
}

type Served = Awaited<ReturnType<typeof serve>>
async function serve(port = '0') {
  const program = start(['apps/server/src/main.ts'], { ...env, PORT: port })
  const [, url = ''] = await program.says(/Loadout is at (http:\S+)/)
  return { program, url }
}

describe('the multi-user web app', () => {
  let drop: () => Promise<void>
  let one: Served
  let two: Served
  let browser: Browser
  let operator: Page
  let ann: Page
  let bob: Page

  const open = async (): Promise<Page> => {
    const context: BrowserContext = await browser.newContext({ reducedMotion: 'reduce' })
    context.setDefaultTimeout(60_000)
    return context.newPage()
  }
  /** An operator invites; who is invited opens the link. */
  const invite = async (email: string, name: string): Promise<Page> => {
    const answer = await operator.request.post(`${one.url}/api/users`, {
      data: { email, name },
      headers: { origin: one.url },
    })
    expect(answer.status()).toBe(201)
    const page = await open()
    await page.goto((await answer.json()).link.url)
    await page.getByLabel('New password').fill(PASSWORD)
    await page.getByRole('button', { name: 'Come in' }).click()
    await page.getByRole('heading', { name: 'Your servers' }).waitFor()
    return page
  }
  const addServer = (page: Page, url: string, name: string) =>
    page.request.post(`${url}/api/mcp`, {
      data: { name, command: '/nowhere/server' },
      headers: { origin: url },
    })

  beforeAll(async () => {
    const database = await createDatabase(inject('postgresUrl'))
    drop = database.drop
    env.DATABASE_URL = database.url
    one = await serve()
    browser = await connectChromium()
  })
  afterAll(async () => {
    await browser?.close()
    await one?.program.end()
    await two?.program.end()
    await drop?.()
  })

  it('makes the first operator with the printed setup link, once', async () => {
    const [, link = ''] = await one.program.says(/(http:\S+\/setup#\S+)/)
    operator = await open()
    await operator.goto(one.url)
    await operator.getByRole('heading', { name: 'Nobody operates this server yet' }).waitFor()
    await operator.goto(link)
    await operator.getByLabel('Email').waitFor()
    // What makes the link one's own is not in the address any more, and a reload does not lose it.
    expect(operator.url()).not.toContain('#')
    await operator.reload()
    await operator.getByLabel('Email').fill('olga@example.com')
    await operator.getByLabel('Name').fill('Olga')
    await operator.getByLabel('New password').fill('short')
    await operator.getByRole('button', { name: 'Become the operator' }).click()
    await operator.getByRole('alert').waitFor()
    await operator.getByLabel('New password').fill(PASSWORD)
    await operator.getByRole('button', { name: 'Become the operator' }).click()
    await operator.getByRole('heading', { name: 'Your servers' }).waitFor()
    await operator.getByRole('link', { name: 'Operator' }).waitFor()
    const late = await open()
    await late.goto(link)
    await late.getByRole('heading', { name: 'This link does not work' }).waitFor()
  })

  it('hides the data of two users in two browsers in each other’s pages', async () => {
    ann = await invite('ann@example.com', 'Ann')
    bob = await invite('bob@example.com', 'Bob')
    expect(await ann.getByRole('link', { name: 'Operator' }).count()).toBe(0)
    expect((await addServer(ann, one.url, 'Secret of Ann')).status()).toBe(201)
    expect((await addServer(bob, one.url, 'Secret of Bob')).status()).toBe(201)
    await ann.getByRole('heading', { name: 'Secret of Ann' }).waitFor()
    await bob.getByRole('heading', { name: 'Secret of Bob' }).waitFor()
    for (const [page, other] of [
      [ann, 'Secret of Bob'],
      [bob, 'Secret of Ann'],
    ] as const) {
      for (const path of ['connectors', 'tools', 'threads', 'approvals', 'workflows', 'activity', 'settings']) {
        await page.goto(`${one.url}/${path}`)
        await page.getByRole('heading', { level: 1 }).waitFor()
        await page.waitForLoadState('networkidle')
        expect(await page.content(), path).not.toContain(other)
      }
      await page.goto(`${one.url}/connectors`)
    }
  })

  it('shows a change from one process on the page of another process', async () => {
    two = await serve()
    const there = await ann.context().newPage()
    // A session holds on every process.
    await there.goto(`${two.url}/connectors`)
    await there.getByRole('heading', { name: 'Secret of Ann' }).waitFor()
    await addServer(ann, one.url, 'Made on the first')
    await there.getByRole('heading', { name: 'Made on the first' }).waitFor()
    await there.close()
  })

  it('asks to sign in again above the page after a session ends and keeps the typed values', async () => {
    await bob.getByRole('button', { name: 'Add server' }).click()
    const name = bob.getByRole('dialog').getByRole('textbox', { name: 'Name' })
    await name.fill('Half typed')
    const { items } = await (await operator.request.get(`${one.url}/api/users`)).json()
    const { id } = items.find(({ email }: { email: string }) => email === 'bob@example.com')
    await operator.request.delete(`${one.url}/api/users/${id}/sessions`, { headers: { origin: one.url } })
    const again = bob.getByRole('dialog', { name: 'Your session has ended' })
    await again.waitFor()
    expect(await again.getByRole('button', { name: 'Close' }).count()).toBe(0)
    // Who types goes on with the password.
    await bob.keyboard.type(PASSWORD)
    expect(await again.getByLabel('Password', { exact: true }).inputValue()).toBe(PASSWORD)
    await again.getByRole('button', { name: 'Sign in' }).click()
    await again.waitFor({ state: 'detached' })
    expect(await name.inputValue()).toBe('Half typed')
  })

  it('reconnects automatically after the server restarts', async () => {
    const { port } = new URL(one.url)
    await one.program.end('SIGKILL')
    await ann.getByText('Connection lost.').waitFor()
    // A page that was never open cannot come now: it says so, the rest stays, and it comes by itself.
    await operator.getByRole('link', { name: 'Workflows' }).click()
    await operator.getByRole('heading', { name: 'This page is not here yet' }).waitFor()
    await operator.getByText('The server does not answer').waitFor()
    one = await serve(port)
    await operator.getByRole('heading', { name: 'Workflows', level: 1 }).waitFor({ timeout: 60_000 })
    await ann.getByText('Connection lost.').waitFor({ state: 'detached', timeout: 60_000 })
    await addServer(ann, one.url, 'After the restart')
    await ann.getByRole('heading', { name: 'After the restart' }).waitFor()
  })

  it('clears all user data on sign-out', async () => {
    await ann.getByRole('button', { name: 'Sign out' }).click()
    await ann.getByRole('heading', { name: 'Sign in' }).waitFor()
    expect(await ann.content()).not.toContain('Secret of Ann')
    await ann.goto(`${one.url}/threads`)
    await ann.getByLabel('Email').fill('ann@example.com')
    await ann.getByLabel('Password', { exact: true }).fill('wrong password')
    await ann.getByRole('button', { name: 'Sign in' }).click()
    await ann.getByRole('alert').waitFor()
    await ann.getByLabel('Password', { exact: true }).fill(PASSWORD)
    await ann.getByRole('button', { name: 'Sign in' }).click()
    await ann.waitForURL('**/threads')
  })

  it('shows no data of the previous user after a sign-in in another tab', async () => {
    const made = await ann.request.post(`${one.url}/api/threads`, {
      data: { title: 'Thread of Ann' },
      headers: { origin: one.url },
    })
    const { id } = await made.json()
    await ann.goto(`${one.url}/threads/${id}`)
    await ann.getByRole('heading', { name: 'Thread of Ann' }).waitFor()
    await ann.getByRole('textbox').last().fill('Draft of Ann')
    const other = await ann.context().newPage()
    await other.goto(`${one.url}/settings`)
    await other.getByRole('button', { name: 'Sign out' }).click()
    await other.getByLabel('Email').fill('bob@example.com')
    await other.getByLabel('Password', { exact: true }).fill(PASSWORD)
    await other.getByRole('button', { name: 'Sign in' }).click()
    await other.getByRole('heading', { name: 'Your servers' }).waitFor()
    await ann.bringToFront()
    await ann.getByRole('heading', { name: 'Secret of Bob' }).waitFor()
    expect(await ann.content()).not.toContain('of Ann')
    expect(await ann.evaluate(() => JSON.stringify({ ...sessionStorage }))).not.toContain('Draft of Ann')
  })
})
