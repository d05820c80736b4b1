/** One's own account in several browsers: its sessions, its password, and the theme that goes with it. */
import { randomBytes } from 'node:crypto'
import type { Page } from 'playwright'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { createDatabase } from '../../../test/database.ts'
import type {} from '../../../test/start-postgres.ts'
import { type OpenApp, openApp } from './open-app.ts'

const PASSWORD = `pass-${randomBytes(9).toString('hex')}`
const NEXT = `next-${randomBytes(9).toString('hex')}`
const FIREFOX = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:143.0) Gecko/20100101 Firefox/143.0'

describe('the account page', () => {
  let app: OpenApp
  let page: Page
  let drop: () => Promise<void>
  const session = (name: string) => page.getByRole('listitem').filter({ hasText: name })
  const theme = (of: Page) => of.evaluate(() => document.documentElement.dataset.theme)
  const signIn = async (password: string, userAgent = FIREFOX): Promise<Page> => {
    const other = await app.open({ userAgent, colorScheme: 'light' })
    await other.getByLabel('Email').fill('olga@example.com')
    await other.getByLabel('Password', { exact: true }).fill(password)
    await other.getByRole('button', { name: 'Sign in', exact: true }).click()
    return other
  }
  const isIn = (other: Page) => other.getByRole('heading', { name: 'Your servers' }).waitFor()
  const isOut = (other: Page) => other.getByRole('dialog', { name: 'Your session has ended' }).waitFor()
  const change = async (current: string, password: string, again = password) => {
    await page.getByLabel('Present password').fill(current)
    await page.getByLabel('New password', { exact: true }).fill(password)
    await page.getByLabel('New password again').fill(again)
    await page.getByRole('button', { name: 'Change password' }).click()
  }

  beforeAll(async () => {
    const database = await createDatabase(inject('postgresUrl'))
    drop = database.drop
    app = await openApp(undefined, {
      LOADOUT_MODE: 'multi-user',
      HOST: '127.0.0.1',
      DATABASE_URL: database.url,
      LOADOUT_MASTER_KEY: randomBytes(32).toString('base64'),
    })
    page = await app.open({ colorScheme: 'light' })
    await page.goto(app.setup ?? '')
    await page.getByLabel('Email').fill('olga@example.com')
    await page.getByLabel('Name').fill('Olga')
    await page.getByLabel('New password').fill(PASSWORD)
    await page.getByRole('button', { name: 'Become the operator' }).click()
    await isIn(page)
    await page.goto('/settings?tab=account')
  })
  afterAll(async () => {
    await app?.[Symbol.asyncDispose]()
    await drop?.()
  })

  it('lists sessions by browser name and ends one session or all others', async () => {
    await session('Chrome').getByText('This one').waitFor()
    expect(await page.getByRole('button', { name: 'End all others' }).count()).toBe(0)
    const [one, two] = [await signIn(PASSWORD), await signIn(PASSWORD, 'curl/8.5.0')]
    await Promise.all([isIn(one), isIn(two)])
    await page.reload()
    await page.getByRole('button', { name: 'End the session of Firefox on Windows' }).click()
    await session('Firefox on Windows').waitFor({ state: 'detached' })
    await isOut(one)
    await session('curl/8.5.0').waitFor()
    await page.getByRole('button', { name: 'End all others' }).click()
    await session('curl/8.5.0').waitFor({ state: 'detached' })
    await isOut(two)
    await session('Chrome').getByText('This one').waitFor()
    for (const other of [one, two]) await other.context().close()
  })

  it('changes the password, shows errors at their field, and ends the other sessions', async () => {
    const other = await signIn(PASSWORD)
    await isIn(other)
    await change('', 'short', 'other')
    await page.getByText('Give your present password.').waitFor()
    expect(await page.getByLabel('New password', { exact: true }).getAttribute('aria-invalid')).toBe('true')
    await page.getByText('It is not the same.').waitFor()
    await change('not the password', NEXT)
    await page.getByRole('alert').waitFor()
    await change(PASSWORD, NEXT)
    await page.getByText('Password changed').waitFor()
    expect(await page.getByLabel('Present password').inputValue()).toBe('')
    await isOut(other)
    await other.context().close()
    await page.reload()
    await session('Chrome').getByText('This one').waitFor()
    const refused = await signIn(PASSWORD)
    await refused.getByRole('alert').waitFor()
    await refused.getByLabel('Password', { exact: true }).fill(NEXT)
    await refused.getByRole('button', { name: 'Sign in', exact: true }).click()
    await isIn(refused)
    await refused.context().close()
  })

  it('applies one theme in every open and later browser', async () => {
    const open = await signIn(NEXT)
    await isIn(open)
    expect(await theme(open)).toBe('light')
    await page.getByRole('radio', { name: 'Dark' }).first().click()
    await expect.poll(() => theme(page)).toBe('dark')
    await expect.poll(() => theme(open)).toBe('dark')
    const next = await signIn(NEXT)
    // Already the first page is worn so: there is none in the other theme.
    const before = next.waitForFunction(
      () => document.querySelector('main#main') && document.documentElement.dataset.theme,
    )
    expect(await (await before).jsonValue()).toBe('dark')
    await next.reload()
    expect(await theme(next)).toBe('dark')
    await next.getByRole('radio', { name: 'As the system' }).click()
    await expect.poll(() => theme(page)).toBe('light')
    await page.reload()
    await page.getByRole('radio', { name: 'As the system', checked: true }).first().waitFor()
    for (const other of [open, next]) await other.context().close()
  })

  it('saves a theme that is chosen before the session has loaded', async () => {
    const loads = Promise.withResolvers<void>()
    await page.route('**/api/auth/session', (route) => loads.promise.then(() => route.continue()))
    await page.reload()
    const saved = page.waitForRequest((request) => request.method() === 'PATCH' && /preferences$/.test(request.url()))
    await page.getByRole('radio', { name: 'Dark' }).first().click()
    loads.resolve()
    expect((await saved).postDataJSON()).toEqual({ theme: 'dark' })
    await expect.poll(() => theme(page)).toBe('dark')
    await page.unroute('**/api/auth/session')
  })
})
