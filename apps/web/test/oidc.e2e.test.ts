/** Sign-in by a provider, in real browsers, with the server set up as the guide says. */
import { randomBytes } from 'node:crypto'
import type { Page } from 'playwright'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { createDatabase } from '../../../test/database.ts'
import { OidcServer } from '../../../test/oidc-server.ts'
import type {} from '../../../test/start-postgres.ts'
import { type OpenApp, openApp } from './open-app.ts'

describe('sign-in by a provider', () => {
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
      ...{ LOADOUT_MODE: 'multi-user', HOST: '127.0.0.1', DATABASE_URL: database.url },
      ...{ LOADOUT_OIDC_ISSUER: provider.issuer, LOADOUT_OIDC_CLIENT_ID: provider.clientId },
      ...{ LOADOUT_OIDC_CLIENT_SECRET: provider.clientSecret, LOADOUT_OIDC_NAME: 'Example ID' },
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

  it('says so where the provider does not answer, and goes on once it does', async () => {
    provider.rules.down = true
    const page = await enter()
    await page.getByText('The sign-in provider does not answer').waitFor()
    expect(new URL(page.url()).pathname).toBe('/sign-in')
    provider.rules.down = false
    await page.context().close()
  })

  it('lets in who was invited, to the page that they wanted, and nobody else', async () => {
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
