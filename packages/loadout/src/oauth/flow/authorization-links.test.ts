/** How long links are good, and how many a server can make people follow. */
import { randomBytes } from 'node:crypto'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { callbackOf, follow } from '../../../../../test/oauth-server.ts'
import { call, linkOf, register, signIn, signInHosts, textOf } from '../../../../../test/sign-in-hosts.ts'
import { masterKeyRing } from '../../credentials/master-key.ts'
import { memory } from '../../storage/memory.ts'

const { server, hostOf } = signInHosts()
const KEY = randomBytes(32).toString('base64')
afterEach(() => {
  vi.useRealTimers()
})

const MINUTE = 60_000

describe('an issued sign-in link', () => {
  it('is valid for ten minutes even if another link is requested', async () => {
    const oauth = await server()
    const host = hostOf()
    await register(host, oauth.url)
    vi.useFakeTimers({ toFake: ['Date'] })
    const first = linkOf(await call(host))
    vi.setSystemTime(Date.now() + 5.1 * MINUTE)
    const second = linkOf(await call(host))
    expect(second).toMatch(/^http/)
    expect(second).not.toBe(first)
    vi.setSystemTime(Date.now() + 4.5 * MINUTE)
    await host.signIns.finish(callbackOf(await follow(first, 'ann@first')))
    expect(textOf(await call(host))).toBe('ann@first')
    // With the sign-in the others are over too.
    await expect(host.signIns.finish(callbackOf(await follow(second)))).rejects.toMatchObject({
      code: 'sign-in-link-invalid',
    })
  })

  it('expires after its own ten minutes even if a newer link is open', async () => {
    const oauth = await server()
    const host = hostOf()
    await register(host, oauth.url)
    vi.useFakeTimers({ toFake: ['Date'] })
    const first = linkOf(await call(host))
    vi.setSystemTime(Date.now() + 6 * MINUTE)
    const second = linkOf(await call(host))
    const late = callbackOf(await follow(first))
    vi.setSystemTime(Date.now() + 4.1 * MINUTE)
    await expect(host.signIns.finish(late)).rejects.toMatchObject({ code: 'sign-in-link-invalid' })
    await host.signIns.finish(callbackOf(await follow(second, 'ann')))
  })

  it('works once, even next to other links', async () => {
    const oauth = await server()
    const host = hostOf()
    await register(host, oauth.url)
    vi.useFakeTimers({ toFake: ['Date'] })
    const first = callbackOf(await follow(linkOf(await call(host))))
    vi.setSystemTime(Date.now() + 6 * MINUTE)
    await call(host)
    const all = await Promise.allSettled(Array.from({ length: 5 }, () => host.signIns.finish(first)))
    expect(all.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    expect(oauth.counts.exchanged).toBe(1)
  })

  it('from two hosts at once is the same, or both are valid', async () => {
    const oauth = await server()
    const shared = { storage: memory(), keyRing: await masterKeyRing(KEY) }
    const hosts = [hostOf(shared), hostOf(shared)] as const
    await register(hosts[0], oauth.url)
    const links = await Promise.all(hosts.map((host) => host.signIns.start('ann', 'mail')))
    const back = await Promise.all(links.map(async ({ url }) => callbackOf(await follow(url, 'ann'))))
    for (const { state } of back) expect(await hosts[0].signIns.whose(state)).toMatchObject({ userId: 'ann' })
  })

  it('that was declined is no longer shown', async () => {
    const oauth = await server()
    const host = hostOf()
    await register(host, oauth.url)
    const link = linkOf(await call(host))
    expect((await host.views.one('ann', 'mail')).state.url).toBe(link)
    const state = new URL(link).searchParams.get('state') ?? ''
    await expect(host.signIns.finish({ state, error: 'access_denied' })).rejects.toMatchObject({
      code: 'sign-in-failed',
    })
    const visible = (await host.views.one('ann', 'mail')).state
    expect(visible).toMatchObject({ status: 'sign-in-needed' })
    expect(visible.url).toBeUndefined()
    expect(linkOf(await call(host))).toMatch(/^http/)
  })
})

describe('a server that keeps asking for more scopes', () => {
  it('gets three sign-ins, and then the user is referred to the server operator', async () => {
    const oauth = await server()
    const host = hostOf()
    await register(host, oauth.url)
    await signIn(host)
    const outcomes: string[] = []
    for (let tries = 0; tries < 8; tries++) {
      oauth.rules.callScope = `scope-${tries}`
      const refused = await call(host)
      expect(refused).toMatchObject({ status: 'sign-in-needed' })
      const link = linkOf(refused)
      outcomes.push(link)
      if (link.startsWith('http')) await host.signIns.finish(callbackOf(await follow(link, 'ann')))
    }
    expect(outcomes.filter((link) => link.startsWith('http'))).toHaveLength(3)
    expect(outcomes.at(-1)).toContain('Ask whoever runs the server')
    // A person who signs in again begins anew.
    await signIn(host)
    expect(linkOf(await call(host))).toMatch(/^http/)
  })

  it('gets three links even if nobody follows them', async () => {
    const oauth = await server()
    const host = hostOf()
    await register(host, oauth.url)
    await signIn(host)
    const links: string[] = []
    for (let tries = 0; tries < 8; tries++) {
      oauth.rules.callScope = `scope-${tries}`
      links.push(linkOf(await call(host)))
    }
    expect(links.filter((link) => link.startsWith('http'))).toHaveLength(3)
  })
})
