/** Sign-in by a provider, in real browsers, with the server set up as the guide says. */
import { randomBytes } from 'node:crypto'
import type { Page } from 'playwright'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { createDatabase } from '../../../test/database.ts'
import { OidcServer } from '../../../test/oidc-server.ts'
import type {} from '../../../test/start-postgres.ts'
import { type OpenApp, openApp } from './open-app.ts'

describe('sign-in with a provider', () => {
  let app: OpenApp
  let provider: OidcServer
  let operator: Page
  let drop: () => Promise<void>
  const enter = async (): Promise<Page> => {
    const page = await app.open()
    await page.goto('/threads')
    await page.getByRole('link', { name: 'Continue with Example ID' }).click()
    return page
  }

  beforeAll(async () => {
    provider = await OidcServer.start()
    const database = await createDatabase(inject('postgresUrl'))
    drop = database.drop
    app = await openApp(undefined, {
      LOADOUT_MODE: 'multi-user',
      HOST: '127.0.0.1',
      DATABASE_URL: database.url,
      LOADOUT_OIDC_ISSUER: provider.issuer,
      LOADOUT_OIDC_CLIENT_ID: provider.clientId,
      LOADOUT_OIDC_CLIENT_SECRET: provider.clientSecret,
      LOADOUT_OIDC_NAME: 'Example ID',
      LOADOUT_MASTER_KEY: randomBytes(32).toString('base64'),
    })
    operator = await app.open()
    await operator.goto(app.setup ?? '')
    await operator.getByLabel('Email').fill('olga@example.com')
    await operator.getByLabel('Name').fill('Olga')
    await operator.getByLabel('New password').fill(`pass-${randomBytes(9).toString('hex')}`)
    await operator.getByRole('button', { name: 'Become the operator' }).click()
    await operator.getByRole('heading', { name: 'Your servers' }).waitFor()
  })
  afterAll(async () => {
    await app?.[Symbol.asyncDispose]()
    await provider?.close()
    await drop?.()
  })

  it('reports an unreachable provider and continues once it responds', async () => {
    provider.rules.down = true
    const page = await enter()
    await page.getByText('The sign-in provider does not answer').waitFor()
    expect(new URL(page.url()).pathname).toBe('/sign-in')
    provider.rules.down = false
    await page.context().close()
  })

  it('shows the provider first and a password form on request', async () => {
    const page = await app.open()
    await page.getByRole('link', { name: 'Continue with Example ID' }).waitFor()
    expect(await page.getByLabel('Password', { exact: true }).count()).toBe(0)
    await page.getByRole('button', { name: 'Use a password instead' }).click()
    await page.getByLabel('Password', { exact: true }).waitFor()
    expect(await page.getByLabel('Email').evaluate((input) => input === document.activeElement)).toBe(true)
    await page.context().close()
  })

  it('lets only invited users in and opens the page they requested', async () => {
    provider.rules.claims = { sub: 'ann-there', email: 'ann@example.com', email_verified: true, name: 'Ann' }
    const stranger = await enter()
    await stranger.getByText('There is no account for you here').waitFor()
    await stranger.context().close()
    await operator.goto('/operator?tab=users')
    await operator.getByRole('button', { name: 'Invite' }).click()
    // Who opens the form begins to type.
    await operator.getByRole('dialog').getByRole('textbox', { name: 'Email' }).waitFor()
    await operator.keyboard.type('ann@example.com')
    await operator.keyboard.press('Enter')
    await operator.getByRole('dialog').locator('[data-link]').waitFor()
    await operator.getByRole('button', { name: 'Done' }).click()
    const ann = await enter()
    await ann.waitForURL('**/threads')
    await ann.getByText('ann@example.com').waitFor()
    await operator.reload()
    const row = operator.getByRole('listitem').filter({ hasText: 'ann@example.com' })
    await row.getByText('by single sign-on').waitFor()
    await ann.context().close()
  })
})

describe('sign-in with a provider only', () => {
  let app: OpenApp
  let provider: OidcServer
  let drop: () => Promise<void>
  beforeAll(async () => {
    provider = await OidcServer.start()
    const database = await createDatabase(inject('postgresUrl'))
    drop = database.drop
    app = await openApp(undefined, {
      LOADOUT_MODE: 'multi-user',
      HOST: '127.0.0.1',
      DATABASE_URL: database.url,
      LOADOUT_PASSWORDS: 'off',
      LOADOUT_OIDC_ISSUER: provider.issuer,
      LOADOUT_OIDC_CLIENT_ID: provider.clientId,
      LOADOUT_OIDC_CLIENT_SECRET: provider.clientSecret,
      LOADOUT_OIDC_NAME: 'Example ID',
      LOADOUT_MASTER_KEY: randomBytes(32).toString('base64'),
    })
  })
  afterAll(async () => {
    await app?.[Symbol.asyncDispose]()
    await provider?.close()
    await drop?.()
  })

  it('makes the first user of the setup link the operator and never asks for a password', async () => {
    provider.rules.claims = { sub: 'olga-there', email: 'olga@example.com', email_verified: true, name: 'Olga' }
    const olga = await app.open()
    const name = async (email: string) => {
      await olga.goto('about:blank')
      await olga.goto(app.setup ?? '')
      await olga.getByLabel('Email').fill(email)
      expect(await olga.getByLabel(/password/i).count()).toBe(0)
      await olga.getByLabel('Name').fill('Olga')
      await olga.getByRole('button', { name: 'Continue with Example ID' }).click()
    }
    // A slip of the pen.
    await name('olag@example.com')
    await olga.getByText('There is no account for you here').waitFor()
    await name('olga@example.com')
    await olga.getByRole('heading', { name: 'Your servers' }).waitFor()
    await olga.goto('/operator?tab=users')
    await olga.getByRole('button', { name: 'Invite' }).click()
    await olga.getByRole('dialog').getByRole('textbox', { name: 'Email' }).fill('ann@example.com')
    await olga.keyboard.press('Enter')
    const link = olga.getByRole('dialog').locator('[data-link]')
    await link.waitFor()
    const invitation = (await link.textContent()) ?? ''

    provider.rules.claims = { sub: 'ann-there', email: 'ann@example.com', email_verified: true, name: 'Ann' }
    const ann = await app.open()
    await ann.getByRole('link', { name: 'Continue with Example ID' }).waitFor()
    expect(await ann.getByText(/password/i).count()).toBe(0)
    await ann.goto(invitation.trim())
    await ann.getByText('as ann@example.com').waitFor()
    await ann.getByRole('link', { name: 'Continue with Example ID' }).click()
    await ann.getByRole('heading', { name: 'Your servers' }).waitFor()
  })
})
