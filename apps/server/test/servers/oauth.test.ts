/** Sign-in over the API: links, the page people come back to, and everything that must not be taken there. */
import { OpenAPIHono } from '@hono/zod-openapi'
import { rule } from '@loadout/core'
import { nodeDrivers } from '@loadout/core/node'
import { createServices, type HostServices } from '@loadout/core/services'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { follow, OAuthServer } from '../../../../test/oauth-server.ts'
import { createUserAdmin } from '../../src/auth/user-admin.ts'
import { createApp } from '../../src/http/app.ts'
import type { Env } from '../../src/http/env.ts'
import { oauthPages } from '../../src/routes/account/oauth.ts'

const BASE = 'http://localhost:4300'
let oauth: OAuthServer
let host: HostServices
let app: ReturnType<typeof createApp>

beforeEach(async () => {
  oauth = await OAuthServer.start()
  host = createServices({
    drivers: nodeDrivers({ guard: { privateNetwork: true } }),
    policy: [rule('*', 'allow')],
    signIn: { redirectUrl: `${BASE}/api/oauth/callback` },
  })
  app = createApp({
    host,
    authenticate: ({ headers }) => {
      const userId = headers.get('x-user')
      const role = userId === 'olga' ? 'operator' : 'user'
      return userId === null ? undefined : { kind: 'session', userId, role }
    },
  })
  await host.toolkits.register({ name: 'mail', url: oauth.url }, { tier: 'user', userId: 'ann' })
})
afterEach(async () => {
  await host.close()
  await oauth.close()
})

const post = (path: string, body: object, who = 'ann') =>
  app.request(`${BASE}/api${path}`, {
    method: 'POST',
    headers: { 'x-user': who, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })

const call = () => post('/tools/mail/whoami/call', { arguments: {} })

interface Shown {
  status: number
  text: string
  cookie: string
}

/** What the browser that came back is shown. */
async function come(back: URL, headers: Record<string, string> = {}): Promise<Shown> {
  const response = await app.request(back.href, { headers })
  expect(response.headers.get('content-type')).toContain('text/html')
  expect(response.headers.get('referrer-policy')).toBe('no-referrer')
  expect(response.headers.get('content-security-policy')).toContain("script-src 'self'")
  const cookie = response.headers.get('set-cookie')?.split(';')[0] ?? ''
  return { status: response.status, text: await response.text(), cookie }
}

/** The button of the page that asks, pressed in the browser that shows it. */
async function press({ text, cookie }: Shown, headers: Record<string, string> = {}) {
  const action = /<form method="post" action="([^"]+)"/.exec(text)?.[1] ?? ''
  const fields = [...text.matchAll(/name="(\w+)" value="([^"]*)"/g)].map(([, name = '', value = '']) => [
    name,
    value.replaceAll('&amp;', '&'),
  ])
  const response = await app.request(`${BASE}${action}`, {
    method: 'POST',
    headers: { cookie, 'content-type': 'application/x-www-form-urlencoded', ...headers },
    body: new URLSearchParams(fields).toString(),
  })
  return { status: response.status, text: await response.text() }
}

async function start(): Promise<{ url: string; cookie: string }> {
  const response = await post('/oauth/start', { toolkit: 'mail' })
  expect(response.status).toBe(200)
  const set = response.headers.get('set-cookie') ?? ''
  expect(set).toMatch(/HttpOnly/)
  expect(set).toMatch(/SameSite=Lax/)
  return { url: (await response.json()).url, cookie: set.split(';')[0] ?? '' }
}

describe('a call that needs a sign-in', () => {
  it('returns 409 with the link as the action and succeeds after the sign-in', async () => {
    const refused = await call()
    expect(refused.status).toBe(409)
    const problem = await refused.json()
    expect(problem).toMatchObject({ code: 'sign-in-needed' })
    expect(problem.action).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/authorize\?/)
    const page = await come(await follow(problem.action, 'ann@mail'), { 'x-user': 'ann' })
    expect(page).toMatchObject({ status: 200, text: expect.stringContaining('You are signed in') })
    const done = await call()
    expect(done.status).toBe(200)
    expect((await done.json()).content[0].text).toBe('ann@mail')
  })

  it('is reported by the toolkit, and so is the state after the sign-in', async () => {
    await call()
    const show = async () => (await app.request(`${BASE}/api/mcp/mail`, { headers: { 'x-user': 'ann' } })).json()
    expect((await show()).state).toMatchObject({ status: 'sign-in-needed', url: expect.stringMatching(/^http/) })
    const { url, cookie } = await start()
    await come(await follow(url), { cookie })
    await call()
    expect(await show()).toMatchObject({ state: { status: 'connected' }, signIn: { status: 'signed-in' } })
    expect((await post('/oauth/disconnect', { toolkit: 'mail' })).status).toBe(200)
    expect(oauth.counts.revoked).toBeGreaterThan(0)
    expect((await call()).status).toBe(409)
  })
})

describe('the OAuth callback', () => {
  it('signs the user in at once in the browser that started it and closes the window', async () => {
    const { url, cookie } = await start()
    const page = await come(await follow(url), { cookie })
    expect(page.status).toBe(200)
    expect(page.text).toContain('/api/oauth/close.js')
    const script = await app.request(`${BASE}/api/oauth/close.js`)
    expect(await script.text()).toContain('window.close()')
    // The policy takes styles from files alone.
    expect(page.text).not.toContain('<style')
    expect(page.text).toContain('/api/oauth/page.css')
    const style = await app.request(`${BASE}/api/oauth/page.css`)
    expect(style.headers.get('content-type')).toContain('text/css')
    expect(await style.text()).toContain('max-width: 26rem')
  })

  it('shows the account on another device and stores nothing until the user confirms', async () => {
    const { url } = await start()
    const back = await follow(url)
    const asked = await come(back)
    expect(asked.text).toContain('Is this your account?')
    expect(asked.text).toContain('ann')
    expect(oauth.counts.exchanged).toBe(0)
    const page = await press(asked)
    expect(page.text).toContain('You are signed in')
    expect((await call()).status).toBe(200)
    // The word is good once, as the link is.
    expect((await press(asked)).status).toBe(400)
    expect(oauth.counts.exchanged).toBe(1)
  })

  it('shows an account by name and email when people sign in to this server', async () => {
    const people = createUserAdmin(host.storage)
    const { person } = await people.invite({ email: 'ann@example.com', name: 'Ann <b>', operator: false })
    await host.toolkits.register({ name: 'mail', url: oauth.url }, { tier: 'user', userId: person.userId })
    const begun = await post('/oauth/start', { toolkit: 'mail' }, person.userId)
    const { href } = await follow((await begun.json()).url)
    const pages = new OpenAPIHono<Env>().route(
      '/api',
      oauthPages(host, () => undefined, people),
    )
    const text = await (await pages.request(href)).text()
    expect(text).toContain('<strong>Ann &lt;b&gt;</strong> (ann@example.com)')
    expect(text).not.toContain(person.userId)
  })

  it('does not accept a confirmation by URL or by a form of another page', async () => {
    const { url } = await start()
    const back = await follow(url)
    const lured = new URL(back)
    lured.searchParams.set('confirm', 'yes')
    expect((await come(lured)).text).toContain('Is this your account?')
    const asked = await come(back)
    expect((await press({ ...asked, cookie: '' })).status).toBe(400)
    expect((await press({ ...asked, cookie: 'loadout-confirm=' })).status).toBe(400)
    const guessed = `loadout-confirm=${'x'.repeat(43)}`
    expect((await press({ ...asked, cookie: guessed })).status).toBe(400)
    const foreign = await press(asked, { origin: 'https://evil.example' })
    expect(foreign.status).toBe(403)
    expect(oauth.counts.exchanged).toBe(0)
    expect((await press(asked, { origin: BASE })).text).toContain('You are signed in')
  })

  it.each([
    ['a long state', `state=${'s'.repeat(501)}&code=x`],
    ['a long code', `state=s&code=${'c'.repeat(8193)}`],
    ['a long error', `state=s&error=${'e'.repeat(201)}`],
    ['a doubled state', 'state=a&state=b&code=x'],
  ])('shows a page for a callback with %s', async (_name, query) => {
    const page = await come(new URL(`${BASE}/api/oauth/callback?${query}`))
    expect(page).toMatchObject({ status: 400, text: expect.stringContaining('The sign-in did not work') })
  })

  it('shows a page for an invalid or too large form', async () => {
    for (const [type, body] of [
      ['application/json', '{"state":"x"}'],
      ['application/x-www-form-urlencoded', 'state=x'],
      ['application/x-www-form-urlencoded', `state=x&word=${'w'.repeat(30)}&code=${'c'.repeat(100_000)}`],
    ] as const) {
      const response = await app.request(`${BASE}/api/oauth/confirm`, {
        method: 'POST',
        headers: { 'content-type': type, 'content-length': String(body.length) },
        body,
      })
      expect(response.status).toBe(400)
      expect(await response.text()).toContain('The sign-in did not work')
    }
  })

  it('rejects another user, an old link and a changed link', async () => {
    const { url, cookie } = await start()
    const back = await follow(url)
    expect((await come(back, { 'x-user': 'bob' })).status).toBe(400)
    const changed = new URL(back)
    changed.searchParams.set('state', `${changed.searchParams.get('state')}x`)
    expect((await come(changed, { cookie })).status).toBe(400)
    const none = new URL(back)
    none.searchParams.delete('state')
    expect((await come(none, { cookie })).status).toBe(400)
    expect((await come(back, { cookie })).status).toBe(200)
    expect((await come(back, { cookie })).status).toBe(400)
    expect(oauth.counts.exchanged).toBe(1)
  })

  it('shows no text from the URL', async () => {
    const { url, cookie } = await start()
    const back = await follow(url)
    back.searchParams.set('error', 'server_error')
    back.searchParams.set('error_description', '<img src=x onerror=alert(1)> call 555-1234')
    const page = await come(back, { cookie })
    expect(page.status).toBe(400)
    expect(page.text).not.toContain('onerror')
    expect(page.text).not.toContain('555-1234')
  })

  it('shows the toolkit name as text', async () => {
    await host.toolkits.register(
      { id: 'mail', name: '<script>alert(1)</script>', url: oauth.url },
      { tier: 'user', userId: 'ann' },
    )
    const { url, cookie } = await start()
    const page = await come(await follow(url), { cookie })
    expect(page.text).not.toContain('<script>alert')
  })
})

describe('an OAuth session', () => {
  it('of the app is ended by operators only', async () => {
    const auth = { type: 'oauth', grant: 'client_credentials', clientId: 'm', clientSecret: 'machine-secret' }
    await host.toolkits.register({ name: 'machine', url: oauth.url, auth }, { tier: 'app' })
    const use = async (who: string) => (await post('/tools/machine/whoami/call', { arguments: {} }, who)).status
    expect(await use('bob')).toBe(200)
    const refused = await post('/oauth/disconnect', { toolkit: 'machine' }, 'bob')
    expect(refused.status).toBe(403)
    expect(oauth.counts.revoked).toBe(0)
    const ended = await post('/oauth/disconnect', { toolkit: 'machine' }, 'olga')
    expect(await ended.json()).toEqual({ revoked: true })
    expect(await use('bob')).toBe(200)
  })

  it('of a user is ended by that user', async () => {
    const auth = { type: 'oauth', grant: 'client_credentials', clientId: 'm', clientSecret: 'machine-secret' }
    await host.toolkits.register({ name: 'mine', url: oauth.url, auth }, { tier: 'user', userId: 'bob' })
    await post('/tools/mine/whoami/call', { arguments: {} }, 'bob')
    expect((await post('/oauth/disconnect', { toolkit: 'mine' }, 'bob')).status).toBe(200)
  })
})

it('a sign-in link reports whether another device can finish it', async () => {
  const asked = async () => (await (await post('/oauth/start', { toolkit: 'mail' })).json()).sameMachine
  expect(await asked()).toBe(true)
  const elsewhere = createServices({
    drivers: nodeDrivers({ guard: { privateNetwork: true } }),
    signIn: { redirectUrl: 'https://loadout.example/api/oauth/callback' },
  })
  await elsewhere.toolkits.register({ name: 'mail', url: oauth.url }, { tier: 'user', userId: 'ann' })
  app = createApp({ host: elsewhere, authenticate: () => ({ kind: 'session', userId: 'ann', role: 'user' }) })
  expect(await asked()).toBe(false)
  await elsewhere.close()
})

it('two users of an app toolkit get separate sign-in links', async () => {
  await host.toolkits.register({ name: 'team', url: oauth.url, auth: 'oauth' }, { tier: 'app' })
  const links = await Promise.all(
    ['ann', 'bob'].map(async (who) => (await (await post('/oauth/start', { toolkit: 'team' }, who)).json()).url),
  )
  expect(new Set(links).size).toBe(2)
  expect((await post('/oauth/start', { toolkit: 'mail' }, 'bob')).status).toBe(404)
})
