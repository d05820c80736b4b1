/** Sign-in over the API: links, the page people come back to, and everything that must not be taken there. */
import { createHost, type Host, rule } from 'loadout'
import { nodeDrivers } from 'loadout/node'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { follow, OAuthServer } from '../../../test/oauth-server.ts'
import { createApp } from './app.ts'

const BASE = 'http://localhost:4300'
let oauth: OAuthServer
let host: Host
let app: ReturnType<typeof createApp>

beforeEach(async () => {
  oauth = await OAuthServer.start()
  host = createHost({
    drivers: nodeDrivers({ guard: { privateNetwork: true } }),
    policy: [rule('*', 'allow')],
    signIn: { redirectUrl: `${BASE}/api/oauth/callback` },
  })
  app = createApp({
    host,
    authenticate: ({ headers }) => {
      const userId = headers.get('x-user')
      return userId === null ? undefined : { kind: 'session', userId, role: 'user' }
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

/** What the browser that came back is shown. */
async function come(back: URL, headers: Record<string, string> = {}): Promise<{ status: number; text: string }> {
  const response = await app.request(back.href, { headers })
  expect(response.headers.get('content-type')).toContain('text/html')
  expect(response.headers.get('referrer-policy')).toBe('no-referrer')
  expect(response.headers.get('content-security-policy')).toContain("script-src 'self'")
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
  it('is 409 with the link as what to do, and goes through afterwards', async () => {
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

  it('the toolkit tells of it, and of what comes after', async () => {
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

describe('who comes back', () => {
  it('in the browser that asked is signed in at once, and the window closes', async () => {
    const { url, cookie } = await start()
    const page = await come(await follow(url), { cookie })
    expect(page.status).toBe(200)
    expect(page.text).toContain('/api/oauth/close.js')
    const script = await app.request(`${BASE}/api/oauth/close.js`)
    expect(await script.text()).toContain('window.close()')
  })

  it('on another device is shown whose account it is, and nothing is stored until they say yes', async () => {
    const { url } = await start()
    const back = await follow(url)
    const asked = await come(back)
    expect(asked.text).toContain('Is this your account?')
    expect(asked.text).toContain('ann')
    expect(oauth.counts.exchanged).toBe(0)
    const href = /class="button" href="([^"]+)"/.exec(asked.text)?.[1]?.replaceAll('&amp;', '&') ?? ''
    const page = await come(new URL(href, BASE))
    expect(page.text).toContain('You are signed in')
    expect((await call()).status).toBe(200)
  })

  it('as another user, with an old link, or with a changed one, is refused', async () => {
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

  it('with words of others in the address sees none of them', async () => {
    const { url, cookie } = await start()
    const back = await follow(url)
    back.searchParams.set('error', 'server_error')
    back.searchParams.set('error_description', '<img src=x onerror=alert(1)> call 555-1234')
    const page = await come(back, { cookie })
    expect(page.status).toBe(400)
    expect(page.text).not.toContain('onerror')
    expect(page.text).not.toContain('555-1234')
  })

  it('a name of a toolkit is shown as text', async () => {
    await host.toolkits.register(
      { id: 'mail', name: '<script>alert(1)</script>', url: oauth.url },
      { tier: 'user', userId: 'ann' },
    )
    const { url, cookie } = await start()
    const page = await come(await follow(url), { cookie })
    expect(page.text).not.toContain('<script>alert')
  })
})

it('two users and an app toolkit: each has a link of their own', async () => {
  await host.toolkits.register({ name: 'team', url: oauth.url, auth: 'oauth' }, { tier: 'app' })
  const links = await Promise.all(
    ['ann', 'bob'].map(async (who) => (await (await post('/oauth/start', { toolkit: 'team' }, who)).json()).url),
  )
  expect(new Set(links).size).toBe(2)
  expect((await post('/oauth/start', { toolkit: 'mail' }, 'bob')).status).toBe(404)
})
