/** Signing in to a server from the page of servers, in a real browser: in a window, on another device, and without windows. */
import type { Page } from 'playwright'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { OAuthServer } from '../../../test/oauth-server.ts'
import { type OpenApp, openApp } from './open-app.ts'

describe('a server that needs a sign-in', () => {
  let app: OpenApp
  let oauth: OAuthServer
  let page: Page
  const row = (name = 'mail') => page.getByRole('listitem').filter({ has: page.getByRole('heading', { name }) })

  beforeAll(async () => {
    app = await openApp()
    oauth = await OAuthServer.start()
    const response = await fetch(`${app.url}/api/mcp`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'mail', url: oauth.url }),
    })
    expect(response.status).toBe(201)
  })
  afterEach(async () => {
    await page.context().close()
    await fetch(`${app.url}/api/oauth/disconnect`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ toolkit: 'mail' }),
    })
  })
  afterAll(async () => {
    await app[Symbol.asyncDispose]()
    await oauth.close()
  })

  it('signs in with a window that closes automatically, updates the page at once, and signs out', async () => {
    page = await app.open()
    await row().getByText('Sign-in needed').waitFor()
    const opened = page.waitForEvent('popup')
    await row().getByRole('button', { name: 'Sign in to mail' }).click()
    const popup = await opened
    await popup.waitForEvent('close')
    await row().getByText('Connected', { exact: true }).waitFor()
    await row()
      .getByText(/Signed in at 127\.0\.0\.1:\d+/)
      .waitFor()
    await row()
      .getByText(/1 tool,/)
      .waitFor()
    await row().getByRole('button', { name: 'Disconnect mail' }).click()
    await page.getByText('Signed out of mail').waitFor()
    await row().getByRole('button', { name: 'Sign in to mail again' }).waitFor({ state: 'detached' })
    expect(oauth.counts.revoked).toBeGreaterThan(0)
  })

  it('shows a link that another device can finish', async () => {
    page = await app.open({ permissions: ['clipboard-read', 'clipboard-write'] })
    await fetch(`${app.url}/api/mcp/mail/introspect`, { method: 'POST' })
    await page.reload()
    await row().getByRole('button', { name: 'Copy the sign-in link of mail' }).click()
    await page.getByText('Link copied').waitFor()
    const link = await page.evaluate(() => navigator.clipboard.readText())
    expect(link).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/authorize\?/)
    const phone = await app.open()
    await phone.goto(link)
    await phone.getByRole('heading', { name: 'Signed in' }).waitFor()
    await phone.context().close()
    await page.reload()
    await row().getByText('Connected', { exact: true }).waitFor()
  })

  it('redirects when popups are blocked and returns', async () => {
    page = await app.open()
    await fetch(`${app.url}/api/mcp/mail/introspect`, { method: 'POST' })
    await page.addInitScript(() => {
      window.open = () => null
      window.close = () => {}
    })
    await page.reload()
    await row().getByRole('button', { name: 'Sign in to mail' }).click()
    await page.getByRole('heading', { name: 'Signed in' }).waitFor()
    await page.getByRole('link', { name: 'back to Loadout' }).click()
    await row().getByText('Connected', { exact: true }).waitFor()
  })

  it('offers the sign-in when the server is added and reports when it is done', async () => {
    page = await app.open()
    await page.goto('/connectors?add=http')
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('textbox', { name: 'Name', exact: true }).fill('post')
    await dialog.getByRole('textbox', { name: 'URL' }).fill(oauth.url)
    await dialog.getByRole('button', { name: 'Add server' }).click()
    await dialog.getByText('post is saved. The server wants you to sign in').waitFor()
    const opened = page.waitForEvent('popup')
    await dialog.getByRole('button', { name: 'Sign in' }).click()
    const popup = await opened
    await popup.waitForEvent('close')
    await dialog.getByText('post is connected, with 1 tool.').waitFor()
    await dialog.getByRole('button', { name: 'Close' }).last().click()
    await dialog.waitFor({ state: 'detached' })
    await row('post').getByText('Connected', { exact: true }).waitFor()
    await fetch(`${app.url}/api/mcp/post`, { method: 'DELETE' })
  })

  it('asks for a token when no sign-in link is available', async () => {
    oauth.rules.authorizationEndpoint = 'javascript:alert(1)'
    page = await app.open()
    await fetch(`${app.url}/api/mcp/mail/introspect`, { method: 'POST' })
    await page.reload()
    await row().getByText('Token needed').waitFor()
    expect(await page.content()).not.toContain('javascript:')
    oauth.rules.authorizationEndpoint = undefined
  })
})
