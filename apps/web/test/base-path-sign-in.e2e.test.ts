/** Sign-in of users and to servers, behind a proxy that serves the app at a path. */
import { randomBytes } from 'node:crypto'
import { request as httpRequest } from 'node:http'
import type { Page } from 'playwright'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { createDatabase } from '../../../test/database.ts'
import { type Loopback, listen } from '../../../test/loopback.ts'
import { OAuthServer } from '../../../test/oauth-server.ts'
import { OidcServer } from '../../../test/oidc-server.ts'
import { connectChromium } from '../../../test/start-chromium.ts'
import type {} from '../../../test/start-postgres.ts'
import { type OpenApp, openApp } from './open-app.ts'

const PASSWORD = `pass-${randomBytes(9).toString('hex')}`

describe('sign-in under a base path', () => {
  let app: OpenApp
  let proxy: Loopback
  let provider: OidcServer
  let oauth: OAuthServer
  let page: Page
  let origin: string
  let browser: Awaited<ReturnType<typeof connectChromium>>
  let drop: () => Promise<void>
  const outside: string[] = []

  beforeAll(async () => {
    // Paths outside `/tools` belong to another app.
    proxy = await listen((request, response) => {
      if (!request.url?.startsWith('/tools/') && request.url !== '/tools') {
        outside.push(request.url ?? '')
        response.writeHead(404).end()
        return
      }
      const { method, headers } = request
      const onwards = httpRequest(new URL(request.url, app.url), { method, headers }, (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers)
        answer.pipe(response)
      })
      onwards.on('error', () => response.destroy())
      response.on('close', () => onwards.destroy())
      request.pipe(onwards)
    })
    origin = `http://127.0.0.1:${proxy.port}`
    provider = await OidcServer.start()
    oauth = await OAuthServer.start()
    const database = await createDatabase(inject('postgresUrl'))
    drop = database.drop
    app = await openApp(undefined, {
      LOADOUT_MODE: 'multi-user',
      HOST: '127.0.0.1',
      DATABASE_URL: database.url,
      LOADOUT_PUBLIC_URL: `${origin}/tools`,
      LOADOUT_PRIVATE_NETWORK: 'on',
      LOADOUT_OIDC_ISSUER: provider.issuer,
      LOADOUT_OIDC_CLIENT_ID: provider.clientId,
      LOADOUT_OIDC_CLIENT_SECRET: provider.clientSecret,
      LOADOUT_OIDC_NAME: 'Example ID',
      LOADOUT_MASTER_KEY: randomBytes(32).toString('base64'),
    })
    browser = await connectChromium()
    const context = await browser.newContext({ baseURL: origin, reducedMotion: 'reduce' })
    context.setDefaultTimeout(60_000)
    page = await context.newPage()
  })
  afterAll(async () => {
    await page?.context().close()
    await browser?.close()
    await app?.[Symbol.asyncDispose]()
    await proxy?.[Symbol.asyncDispose]()
    await provider?.close()
    await oauth?.close()
    await drop?.()
  })

  it('opens the setup link and sets cookies for its path only', async () => {
    expect(app.setup).toMatch(new RegExp(`^${origin}/tools/setup#`))
    await page.goto(app.setup ?? '')
    await page.getByLabel('Email').fill('olga@example.com')
    await page.getByLabel('Name').fill('Olga')
    await page.getByLabel('New password').fill(PASSWORD)
    await page.getByRole('button', { name: 'Become the operator' }).click()
    await page.waitForURL(`${origin}/tools/connectors`)
    await page.getByRole('heading', { name: 'Your servers' }).waitFor()
    const cookies = await page.context().cookies(`${origin}/tools/connectors`)
    expect(cookies.map(({ path }) => path)).toEqual(['/tools'])
  })

  it('signs in to a server and returns to the callback below the path', async () => {
    const added = await page.request.post('/tools/api/mcp', {
      data: { name: 'mail', url: oauth.url },
      headers: { origin },
    })
    expect(added.status()).toBe(201)
    await page.reload()
    const row = page.getByRole('listitem').filter({ has: page.getByRole('heading', { name: 'mail' }) })
    const opened = page.waitForEvent('popup')
    await row.getByRole('button', { name: 'Sign in to mail' }).click()
    await (await opened).waitForEvent('close')
    await row.getByText('Connected', { exact: true }).waitFor()
    const callbacks = proxy.requests.filter(({ url }) => url.startsWith('/tools/api/oauth/callback?'))
    expect(callbacks).toHaveLength(1)
  })

  it('signs out, returns to the requested page after a password, and invites by a link with the path', async () => {
    await page.request.post('/tools/api/auth/sign-out', { headers: { origin } })
    expect(await page.context().cookies(`${origin}/tools/connectors`)).toEqual([])
    await page.goto('/tools/operator?tab=users')
    await page.waitForURL(`${origin}/tools/sign-in?*`)
    await page.getByRole('button', { name: 'Use a password instead' }).click()
    await page.getByLabel('Email').fill('olga@example.com')
    await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
    await page.keyboard.press('Enter')
    await page.waitForURL(`${origin}/tools/operator?tab=users`)
    const data = { email: 'ann@example.com' }
    const invited = await page.request.post('/tools/api/users', { data, headers: { origin } })
    expect((await invited.json()).link.url).toMatch(new RegExp(`^${origin}/tools/invite#`))
  })

  it('signs in with the provider and returns to the requested page', async () => {
    await page.request.post('/tools/api/auth/sign-out', { headers: { origin } })
    provider.rules.claims = { sub: 'ann-there', email: 'ann@example.com', email_verified: true, name: 'Ann' }
    await page.goto('/tools/threads')
    await page.getByRole('link', { name: 'Continue with Example ID' }).click()
    await page.waitForURL(`${origin}/tools/threads`)
    await page.getByText('ann@example.com').waitFor()
    expect(provider.refusals).toEqual([])
  })

  it('shows a provider failure on the sign-in page below the path', async () => {
    await page.request.post('/tools/api/auth/sign-out', { headers: { origin } })
    provider.rules.denied = true
    await page.goto('/tools/threads')
    await page.getByRole('link', { name: 'Continue with Example ID' }).click()
    await page.waitForURL(`${origin}/tools/sign-in?problem=*`)
    await page.getByRole('alert').first().waitFor()
  })

  it('requests nothing outside the path', () => {
    expect(outside).toEqual([])
  })
})
