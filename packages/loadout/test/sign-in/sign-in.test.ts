/**
 * Signing in to servers that want it, over real HTTP: the link, the callback, renewal, step-up, and what is refused. Numbers are
 * rows of the fault matrix.
 */
import { afterEach, describe, expect, it, vi } from 'vitest'
import { callbackOf, follow } from '../../../../test/oauth-server.ts'
import { ANN, call, register, signIn, signInHosts, textOf } from '../../../../test/sign-in-hosts.ts'
import { nodeDrivers } from '../../src/connections/node-drivers.ts'
import type { HostServices } from '../../src/host/create-services.ts'
import { memory } from '../../src/storage/memory.ts'

/** Timers go on; only what time it is stands still, and is moved. */
const stopClock = () => vi.useFakeTimers({ toFake: ['Date'], now: Date.now() })
afterEach(() => {
  vi.useRealTimers()
})

const { server, hostOf } = signInHosts()

describe('a server that requires a sign-in', () => {
  it('returns a sign-in link for a call without a token and accepts the call after it', async () => {
    const oauth = await server()
    const host = hostOf()
    await register(host, oauth.url)
    const refused = await call(host)
    expect(refused).toMatchObject({ status: 'sign-in-needed', error: { code: 'sign-in-needed' } })
    const link = 'error' in refused ? refused.error.action : ''
    expect(link.startsWith(`${oauth.base}/authorize?`)).toBe(true)
    expect(await host.views.one('ann', 'mail')).toMatchObject({ state: { status: 'sign-in-needed', url: link } })
    await host.signIns.finish(callbackOf(await follow(link, 'ann@mail')))
    expect(textOf(await call(host))).toBe('ann@mail')
    expect(await host.views.one('ann', 'mail')).toMatchObject({
      state: { status: 'connected' },
      signIn: { status: 'signed-in', issuer: oauth.base },
    })
    expect(oauth.counts).toMatchObject({ registered: 1, exchanged: 1 })
  })

  it('creates one sign-in link for many concurrent calls', async () => {
    const oauth = await server()
    const host = hostOf()
    await register(host, oauth.url)
    const all = await Promise.all(Array.from({ length: 10 }, () => call(host)))
    const links = new Set(all.map((one) => ('error' in one ? one.error.action : '')))
    expect(links.size).toBe(1)
    expect(oauth.counts.registered).toBe(1)
  })

  it('keeps the accounts of two users separate in every call', async () => {
    const oauth = await server()
    const host = hostOf()
    await host.toolkits.register({ name: 'mail', url: oauth.url, auth: 'oauth' }, { tier: 'app' })
    await signIn(host, 'ann', 'ann@work')
    await signIn(host, 'bob', 'bob@home')
    const answers = await Promise.all(
      Array.from({ length: 200 }, async (_, index) => {
        const userId = index % 2 === 0 ? 'ann' : 'bob'
        return [userId, textOf(await call(host, userId, String(index)))]
      }),
    )
    for (const [index, [userId, text]] of answers.entries())
      expect(text).toBe(`${userId === 'ann' ? 'ann@work' : 'bob@home'} ${index}`)
  })
})

describe('personal tools of an app server', () => {
  const namesFor = async (host: HostServices, userId: string) =>
    (await host.views.one(userId, 'mail')).tools.map(({ name }) => name)

  it('are available only to their own user', async () => {
    const oauth = await server({ personal: true })
    const storage = memory()
    const host = hostOf({ storage })
    await host.toolkits.register({ name: 'mail', url: oauth.url, auth: 'oauth' }, { tier: 'app' })
    await signIn(host, 'ann')
    await signIn(host, 'bob')
    expect(await namesFor(host, 'ann')).toEqual(['whoami', 'inbox_of_ann'])
    expect(await namesFor(host, 'bob')).toEqual(['whoami', 'inbox_of_bob'])
    expect(await namesFor(host, 'cat')).toEqual([])
    const rows = await storage.transaction({ caller: 'app-config', userId: '' }, async (tx) => [
      ...(await tx.list('userServerTools')),
      ...(await tx.list('pins')),
    ])
    expect(JSON.stringify(rows)).not.toContain('inbox_of')
    const wrong = {
      userId: 'bob',
      toolkit: 'mail',
      tool: 'inbox_of_ann',
      arguments: {},
      caller: { type: 'direct' } as const,
    }
    expect(await host.calls.start(wrong).outcome).toMatchObject({ error: { code: 'tool-not-found' } })
    expect(JSON.stringify(await host.calls.start({ ...wrong, tool: 'x' }).outcome)).not.toContain('inbox_of_ann')
  })

  it('of an untrusted server are off until the user accepts them', async () => {
    const oauth = await server({ personal: true })
    const host = hostOf({ app: { trust: { untrusted: ['mail'] } } })
    await host.toolkits.register({ name: 'mail', url: oauth.url, auth: 'oauth' }, { tier: 'app' })
    await signIn(host, 'ann')
    expect(await call(host)).toMatchObject({ error: { code: 'tool-not-accepted' } })
    const stored = await host.toolkits.find('ann', 'mail')
    expect(await host.catalog.accept(stored, { userId: 'ann' })).toBe(2)
    expect(textOf(await call(host))).toBe('ann')
  })
})

describe('a sign-in link', () => {
  it('works once', async () => {
    const oauth = await server()
    const host = hostOf()
    await register(host, oauth.url)
    const { url } = await host.signIns.start('ann', 'mail')
    const callback = callbackOf(await follow(url))
    const both = await Promise.allSettled([host.signIns.finish(callback), host.signIns.finish(callback)])
    expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    await expect(host.signIns.finish(callback)).rejects.toMatchObject({ code: 'sign-in-link-invalid' })
    expect(oauth.counts.exchanged).toBe(1)
  })

  it('works only for its own user and with its exact state', async () => {
    const oauth = await server()
    const host = hostOf()
    await register(host, oauth.url)
    const { url } = await host.signIns.start('ann', 'mail')
    const callback = callbackOf(await follow(url))
    await expect(host.signIns.finish(callback, { userId: 'bob' })).rejects.toMatchObject({
      code: 'sign-in-link-invalid',
    })
    for (const state of ['', 'x', `${callback.state}x`, callback.state.slice(1), callback.state.toUpperCase()])
      await expect(host.signIns.finish({ ...callback, state })).rejects.toMatchObject({ code: 'sign-in-link-invalid' })
    await host.signIns.finish(callback, { userId: 'ann' })
  })

  it('is valid for ten minutes', async () => {
    stopClock()
    const oauth = await server()
    const storage = memory()
    const host = hostOf({ storage })
    await register(host, oauth.url)
    const { url, expiresAt } = await host.signIns.start('ann', 'mail')
    expect(expiresAt).toEqual(new Date(Date.now() + 600_000))
    const callback = callbackOf(await follow(url))
    await storage.transaction({ userId: 'ann' }, async (tx) => {
      const [row] = await tx.list('signIns')
      expect(row?.stateUntil).toEqual(expiresAt)
      await tx.update('signIns', row?.signInId ?? '', { set: { stateUntil: new Date(Date.now() - 1) } })
    })
    await expect(host.signIns.finish(callback)).rejects.toMatchObject({ code: 'sign-in-link-invalid' })
    expect(oauth.counts.exchanged).toBe(0)
  })

  it('of a toolkit that was changed or removed is rejected', async () => {
    const oauth = await server()
    const other = await server()
    const host = hostOf()
    await register(host, oauth.url)
    const { url } = await host.signIns.start('ann', 'mail')
    const callback = callbackOf(await follow(url))
    await host.toolkits.update('mail', { url: other.url }, ANN)
    await expect(host.signIns.finish(callback)).rejects.toMatchObject({ code: 'sign-in-link-invalid' })
    const again = callbackOf(await follow((await host.signIns.start('ann', 'mail')).url))
    await host.toolkits.remove('mail', ANN)
    await expect(host.signIns.finish(again)).rejects.toMatchObject({ code: 'sign-in-link-invalid' })
  })

  it.each([
    ['a wrong issuer', 'https://evil.example'],
    ['another path of it', 'x/y'],
  ])('rejects a callback from %s', async (_name, iss) => {
    const oauth = await server({ iss })
    const host = hostOf()
    await register(host, oauth.url)
    const { url } = await host.signIns.start('ann', 'mail')
    await expect(host.signIns.finish(callbackOf(await follow(url)))).rejects.toMatchObject({ code: 'sign-in-failed' })
    expect(oauth.counts.exchanged).toBe(0)
  })

  it.each(['javascript:alert(1)', 'data:text/html,x', 'file:///etc/passwd', 'http://mail.example/authorize'])(
    'to %s is refused',
    async (authorizationEndpoint) => {
      const oauth = await server({ authorizationEndpoint })
      const host = hostOf()
      await register(host, oauth.url)
      await expect(host.signIns.start('ann', 'mail')).rejects.toMatchObject({ code: 'sign-in-failed' })
      const refused = await call(host)
      expect(refused).toMatchObject({ status: 'sign-in-needed' })
      expect('error' in refused && refused.error.action).not.toContain(authorizationEndpoint)
    },
  )

  it.each([
    'http://127.0.0.1:1/authorize',
    'https://10.0.0.5/authorize',
    'https://169.254.169.254/latest',
    'https://[::ffff:7f00:1]/authorize',
    'https://inside.test/authorize',
  ])('rejects an endpoint in a private network (%s) for a user toolkit', async (authorizationEndpoint) => {
    const oauth = await server({ authorizationEndpoint })
    // The server itself may be reached, by its name alone.
    const guard = { allow: ['home.test'], lookup: async () => [{ address: '127.0.0.1', family: 4 }] }
    const host = hostOf({ drivers: nodeDrivers({ guard }) })
    await register(host, oauth.url.replace('127.0.0.1', 'home.test'))
    oauth.rules.at = oauth.base.replace('127.0.0.1', 'home.test')
    await expect(host.signIns.start('ann', 'mail')).rejects.toMatchObject({ code: 'address-blocked' })
    const refused = await call(host)
    expect('error' in refused && refused.error.action).not.toContain(authorizationEndpoint)
  })

  it('that the user declined fails with a fixed message', async () => {
    const oauth = await server()
    const host = hostOf()
    await register(host, oauth.url)
    const { url } = await host.signIns.start('ann', 'mail')
    const state = new URL(url).searchParams.get('state') ?? ''
    await expect(host.signIns.finish({ state, error: 'access_denied' })).rejects.toMatchObject({
      code: 'sign-in-failed',
      message: 'The sign-in was declined.',
    })
  })
})

describe('an access token', () => {
  it('that is about to expire is refreshed in advance without a failed call', async () => {
    stopClock()
    const oauth = await server({ expiresIn: 2 })
    const host = hostOf()
    await register(host, oauth.url)
    await signIn(host)
    vi.setSystemTime(Date.now() + 1900)
    const { refused } = oauth.counts
    expect(textOf(await call(host))).toBe('ann')
    expect(oauth.counts.refreshed).toBe(1)
    expect(oauth.counts.refused).toBe(refused)
  })

  it('40 that the server refuses is refreshed once for ten calls', async () => {
    const oauth = await server({ refreshMs: 50 })
    const host = hostOf()
    await register(host, oauth.url)
    await signIn(host)
    await call(host)
    oauth.expire()
    const answers = await Promise.all(Array.from({ length: 10 }, () => call(host)))
    expect(answers.map(textOf)).toEqual(Array(10).fill('ann'))
    expect(oauth.counts).toMatchObject({ refreshed: 1, reused: 0 })
  })

  it('41 whose refresh is refused permanently is tried once, and then a sign-in is needed', async () => {
    const oauth = await server()
    const host = hostOf()
    await register(host, oauth.url)
    await signIn(host)
    await call(host)
    oauth.forget()
    const answers = await Promise.all(Array.from({ length: 5 }, () => call(host)))
    for (const answer of answers) expect(answer).toMatchObject({ status: 'sign-in-needed' })
    expect(oauth.counts.refreshed).toBe(1)
    expect(await call(host)).toMatchObject({ status: 'sign-in-needed' })
    expect(oauth.counts.refreshed).toBe(1)
    expect((await host.views.one('ann', 'mail')).state.status).toBe('sign-in-needed')
    await signIn(host)
    expect(textOf(await call(host))).toBe('ann')
  })

  it('whose refresh fails temporarily is kept for later', async () => {
    const oauth = await server()
    const host = hostOf()
    await register(host, oauth.url)
    await signIn(host)
    await call(host)
    oauth.expire()
    oauth.rules.refreshError = { status: 503, error: 'temporarily_unavailable' }
    expect(await call(host)).toMatchObject({ status: 'failed', error: { code: 'server-unreachable' } })
    oauth.rules.refreshError = undefined
    expect(textOf(await call(host))).toBe('ann')
  })

  it('of another authorization server is void', async () => {
    const oauth = await server()
    const moved = await server()
    const host = hostOf()
    await register(host, oauth.url)
    await signIn(host)
    await call(host)
    oauth.expire()
    oauth.rules.authorizationServers = [moved.base]
    const refused = await call(host)
    expect(refused).toMatchObject({ status: 'sign-in-needed' })
    expect('error' in refused && refused.error.action).toContain(`${moved.base}/authorize`)
    expect(oauth.counts.refreshed).toBe(0)
    expect(moved.counts.registered).toBe(1)
  })

  it('that a server repeats is redacted', async () => {
    const oauth = await server({ tells: true })
    const host = hostOf()
    await register(host, oauth.url)
    await signIn(host)
    const outcome = await call(host)
    expect(outcome).toMatchObject({ status: 'tool-error' })
    expect(textOf(outcome)).toContain('no: ')
    expect(textOf(outcome)).not.toMatch(/access-ann/)
    expect(JSON.stringify(await host.audit.list({ userId: 'ann' }))).not.toMatch(/access-ann|refresh-ann/)
  })

  it('is not sent when the toolkit gets another URL', async () => {
    const oauth = await server()
    const other = await server()
    const host = hostOf()
    await register(host, oauth.url)
    await signIn(host)
    await call(host)
    await host.toolkits.update('mail', { url: other.url }, ANN)
    expect(await call(host)).toMatchObject({ status: 'sign-in-needed' })
    expect(other.counts.refused).toBeGreaterThan(0)
    expect(oauth.calls).toHaveLength(1)
  })

  it('without a refresh token shows when the user must sign in again', async () => {
    stopClock()
    const oauth = await server({ refresh: false, expiresIn: 600 })
    const host = hostOf()
    await register(host, oauth.url)
    await signIn(host)
    const { signIn: shown } = await host.views.one('ann', 'mail')
    expect(shown?.status).toBe('signed-in')
    expect(shown?.endsAt).toEqual(new Date(Date.now() + 600_000))
  })
})

describe('a request for more scopes', () => {
  it('42 includes the granted scopes and is made only once', async () => {
    const oauth = await server({ callScope: 'mail.send' })
    const host = hostOf()
    await register(host, oauth.url, { auth: { type: 'oauth', scopes: ['mail.read'] } })
    await signIn(host)
    const refused = await call(host)
    expect(refused).toMatchObject({ status: 'sign-in-needed' })
    const link = 'error' in refused ? refused.error.action : ''
    expect(new URL(link).searchParams.get('scope')?.split(' ').sort()).toEqual(['mail.read', 'mail.send'])
    await host.signIns.finish(callbackOf(await follow(link, 'ann')))
    expect(textOf(await call(host))).toBe('ann')
  })

  it('42 stops after three attempts if the server refuses every grant', async () => {
    const oauth = await server({ callScope: 'never' })
    const host = hostOf()
    await register(host, oauth.url)
    await signIn(host)
    // Granted less than was asked for, each time.
    const authorize = async () => {
      const refused = await call(host)
      const link = 'error' in refused ? refused.error.action : ''
      if (!link.startsWith('http')) return link
      oauth.rules.callScope = `${oauth.rules.callScope}`
      await host.signIns.finish(callbackOf(await follow(link.replace(/scope=[^&]*/, 'scope=little'), 'ann')))
      return link
    }
    const links: string[] = []
    for (let tries = 0; tries < 6; tries++) links.push(await authorize())
    expect(links.filter((link) => link.startsWith('http')).length).toBeLessThanOrEqual(2)
    expect(oauth.counts.authorized).toBeLessThanOrEqual(3)
  })
})

describe('client credentials tokens', () => {
  it('are fetched with the client credentials', async () => {
    const oauth = await server({ expiresIn: 3600 })
    const host = hostOf()
    const auth = { type: 'oauth', grant: 'client_credentials', clientId: 'robot', clientSecret: 'machine-secret' }
    await register(host, oauth.url, { auth })
    expect(textOf(await call(host))).toBe('robot')
    expect(oauth.counts).toMatchObject({ authorized: 0, exchanged: 1 })
  })

  it('are not requested again and again when the credentials are refused', async () => {
    const oauth = await server()
    const host = hostOf()
    const auth = { type: 'oauth', grant: 'client_credentials', clientId: 'robot', clientSecret: 'wrong' }
    await register(host, oauth.url, { auth })
    expect(await call(host)).toMatchObject({ status: 'failed', error: { code: 'sign-in-failed' } })
    expect(oauth.counts.exchanged).toBeLessThanOrEqual(2)
  })
})

describe('a removed toolkit', () => {
  it('loses the sign-ins of all its users', async () => {
    const oauth = await server({ personal: true })
    const storage = memory()
    const host = hostOf({ storage })
    await host.toolkits.register({ name: 'mail', url: oauth.url, auth: 'oauth' }, { tier: 'app' })
    for (const userId of ['ann', 'bob']) await signIn(host, userId)
    await host.toolkits.remove('mail', { tier: 'app' })
    const left = async () => {
      const rows = await Promise.all(
        ['ann', 'bob'].map((userId) =>
          storage.transaction({ userId }, async (tx) => [
            ...(await tx.list('signIns')),
            ...(await tx.list('credentials')),
            ...(await tx.list('personalCatalogs')),
          ]),
        ),
      )
      return rows.flat().length
    }
    await expect.poll(left).toBe(0)
  })
})

describe('disconnect', () => {
  it('deletes the tokens and revokes them', async () => {
    const oauth = await server()
    const host = hostOf()
    await register(host, oauth.url)
    await signIn(host)
    await call(host)
    expect(await host.signIns.disconnect('ann', 'mail')).toEqual({ revoked: true })
    expect(oauth.counts.revoked).toBe(2)
    expect(await call(host)).toMatchObject({ status: 'sign-in-needed' })
    const actions = (await host.audit.list({ userId: 'ann' })).items.map(({ action }) => action)
    expect(actions).toContain('signed_in')
    expect(actions).toContain('signed_out')
  })

  it.each(['client_secret_post', 'client_secret_basic'] as const)(
    'revokes with the method that the client is registered with, %s',
    async (clientAuth) => {
      const oauth = await server({ clientAuth })
      const host = hostOf()
      await register(host, oauth.url)
      await signIn(host)
      expect(await host.signIns.disconnect('ann', 'mail')).toEqual({ revoked: true })
      expect(oauth.counts.revoked).toBe(2)
    },
  )
})
