/** A client that somebody registered by hand: its secrets are shown to one authorization server, whoever uses the toolkit. */
import { randomBytes } from 'node:crypto'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { callbackOf, follow, type OAuthServer } from '../../../../../test/oauth-server.ts'
import { preparedBackup } from '../../../../../test/prepare-pglite.ts'
import { ANN, call, register, signInHosts, textOf } from '../../../../../test/sign-in-hosts.ts'
import { masterKeyRing } from '../../credentials/master-key.ts'
import type { HostServices } from '../../host/create-services.ts'
import type { ServiceOptions } from '../../host/service-options.ts'
import { memory } from '../../storage/memory.ts'
import { pglite } from '../../storage/pglite.ts'

const { server, hostOf } = signInHosts()
const KEY = randomBytes(32).toString('base64')
const APP = { tier: 'app' } as const
/** Timers go on; only what time it is stands still, and is moved. */
const pass = (ms: number) => vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + ms })
afterEach(() => {
  vi.useRealTimers()
})
const OTHER = 'another authorization server'

describe('machine credentials', () => {
  it.each([
    ['a secret', { grant: 'client_credentials', clientId: 'm', clientSecret: 'machine-secret' }],
    ['an assertion', { grant: 'jwt_bearer', clientId: 'm', assertion: 'the-word-of-a-platform' }],
  ])('sends %s of the app to no other authorization server, also after its token expired', async (name, auth) => {
    const oauth = await server({ expiresIn: 1 })
    const evil = await server()
    const host = hostOf()
    await host.toolkits.register({ name: 'mail', url: oauth.url, auth: { type: 'oauth', ...auth } }, APP)
    const first = await call(host)
    if (name === 'a secret') expect(textOf(first)).toBe('m')
    expect(oauth.shown.length).toBeGreaterThan(0)
    pass(1100)
    oauth.rules.authorizationServers = [evil.base]
    const refused = await call(host)
    expect(evil.shown).toEqual([])
    expect(refused).toMatchObject({ error: { code: 'sign-in-failed', message: expect.stringContaining(OTHER) } })
  })

  it('stay with their authorization server after the server refuses a token', async () => {
    const oauth = await server()
    const evil = await server()
    const host = hostOf()
    const auth = { type: 'oauth', grant: 'client_credentials', clientId: 'm', clientSecret: 'machine-secret' }
    await host.toolkits.register({ name: 'mail', url: oauth.url, auth }, APP)
    expect(textOf(await call(host))).toBe('m')
    pass(5100)
    oauth.rules.authorizationServers = [evil.base]
    oauth.expire()
    expect(await call(host)).toMatchObject({ status: 'failed', error: { code: 'sign-in-failed' } })
    expect(evil.shown).toEqual([])
    oauth.rules.authorizationServers = undefined
    expect(textOf(await call(host))).toBe('m')
  })
})

describe('a configured OAuth client', () => {
  const auth = { type: 'oauth', clientId: 'pre-1', clientSecret: 'pre-secret' }

  async function comeBack(host: HostServices, userId: string): Promise<void> {
    const { url } = await host.signIns.start(userId, 'mail')
    await host.signIns.finish(callbackOf(await follow(url, userId)), { userId })
  }

  async function moved(
    tier: 'app' | 'user',
    options: ServiceOptions = {},
  ): Promise<{ host: HostServices; oauth: OAuthServer; other: OAuthServer }> {
    const oauth = await server({ register: false })
    const other = await server({ register: false })
    const host = hostOf(options)
    await host.toolkits.register({ name: 'mail', url: oauth.url, auth }, tier === 'app' ? APP : ANN)
    await comeBack(host, 'ann')
    expect(oauth.shown).toEqual(['pre-1:pre-secret'])
    oauth.rules.authorizationServers = [other.base]
    return { host, oauth, other }
  }

  it.each([
    ['memory', async () => memory()],
    ['PostgreSQL’s rules', async () => pglite(await preparedBackup())],
  ] as const)('binds the client of the app to one authorization server for all users (%s)', async (_name, storage) => {
    const { host, oauth, other } = await moved('app', { storage: await storage(), keyRing: await masterKeyRing(KEY) })
    await expect(host.signIns.start('bob', 'mail')).rejects.toMatchObject({
      code: 'sign-in-failed',
      message: expect.stringContaining(OTHER),
    })
    expect(other.shown).toEqual([])
    expect(other.counts.authorized).toBe(0)
    oauth.rules.authorizationServers = undefined
    await comeBack(host, 'bob')
    expect(textOf(await call(host, 'bob'))).toBe('bob')
  })

  it.each(['app', 'user'] as const)('releases the binding when its secret is saved again (%s)', async (tier) => {
    const { host, oauth, other } = await moved(tier)
    await expect(host.signIns.start('ann', 'mail')).rejects.toMatchObject({ code: 'sign-in-failed' })
    const owner = tier === 'app' ? APP : ANN
    // Another name, or the rest of it as it was, is not the person's word for another authorization server.
    await host.toolkits.update('mail', { url: oauth.url, headers: { 'x-team': 'b' } }, owner)
    await expect(host.signIns.start('ann', 'mail')).rejects.toMatchObject({ code: 'sign-in-failed' })
    await host.toolkits.update('mail', { auth }, owner)
    const { url } = await host.signIns.start('ann', 'mail')
    expect(url.startsWith(`${other.base}/authorize?`)).toBe(true)
    await host.signIns.finish(callbackOf(await follow(url, 'ann')))
    expect(new Set(other.shown)).toEqual(new Set(['pre-1:pre-secret']))
    expect(new URL(url).searchParams.get('client_id')).toBe('pre-1')
  })

  it('without a secret follows the authorization server that the server names', async () => {
    const oauth = await server({ register: false })
    const other = await server({ register: false })
    const host = hostOf()
    await register(host, oauth.url, { auth: { type: 'oauth', clientId: 'public-1' } })
    await comeBack(host, 'ann')
    oauth.rules.authorizationServers = [other.base]
    await comeBack(host, 'ann')
    expect(other.counts.exchanged).toBe(1)
  })
})
