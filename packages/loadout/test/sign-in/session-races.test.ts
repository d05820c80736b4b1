/** What a person does while a token is being renewed prevails. */
import { randomBytes } from 'node:crypto'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { call, register, signIn, signInHosts, textOf } from '../../../../test/sign-in-hosts.ts'
import { masterKeyRing } from '../../src/credentials/master-key.ts'
import { memory } from '../../src/storage/memory.ts'

const { server, hostOf } = signInHosts()
const TEN_YEARS_MS = 10 * 365 * 86_400_000
const KEY = randomBytes(32).toString('base64')
/** Timers go on; only what time it is stands still, and is moved. */
const stopClock = () => vi.useFakeTimers({ toFake: ['Date'], now: Date.now() })
const pass = (ms: number) => vi.setSystemTime(Date.now() + ms)
afterEach(() => {
  vi.useRealTimers()
})

describe('a token refresh', () => {
  it('during a sign-out leaves the user signed out and revokes late tokens', async () => {
    const oauth = await server({ answerMs: 800 })
    const host = hostOf()
    await register(host, oauth.url)
    await signIn(host)
    await call(host)
    oauth.expire()
    const underWay = call(host)
    await expect.poll(() => oauth.counts.refreshed).toBe(1)
    expect(await host.signIns.disconnect('ann', 'mail')).toEqual({ revoked: true })
    expect(await underWay).toMatchObject({ status: 'sign-in-needed' })
    expect((await host.signIns.view('ann', 'mail'))?.status ?? 'none').not.toBe('signed-in')
    expect(await call(host)).toMatchObject({ status: 'sign-in-needed' })
    // Both tokens that were there, and both that came late.
    expect(oauth.counts.revoked).toBe(4)
  })

  it('during a sign-in with another account uses the new account, also in the waiting call', async () => {
    const oauth = await server({ answerMs: 800 })
    const host = hostOf()
    await register(host, oauth.url)
    await signIn(host, 'ann', 'old-account')
    await call(host)
    oauth.expire()
    const underWay = call(host)
    await expect.poll(() => oauth.counts.refreshed).toBe(1)
    await signIn(host, 'ann', 'new-account')
    expect(textOf(await underWay)).toBe('new-account')
    expect(textOf(await call(host))).toBe('new-account')
    expect(oauth.counts.revoked).toBe(0)
  })

  it('during a sign-out on another host leaves the user signed out', async () => {
    const oauth = await server({ answerMs: 800 })
    const shared = { storage: memory(), keyRing: await masterKeyRing(KEY) }
    const [one, other] = [hostOf(shared), hostOf(shared)]
    await register(one, oauth.url)
    await signIn(one)
    await call(one)
    oauth.expire()
    const underWay = call(one)
    await expect.poll(() => oauth.counts.refreshed).toBe(1)
    await other.signIns.disconnect('ann', 'mail')
    expect(await underWay).toMatchObject({ status: 'sign-in-needed' })
    for (const host of [one, other]) expect(await call(host)).toMatchObject({ status: 'sign-in-needed' })
  })
})

describe('a valid token', () => {
  it('that cannot be refreshed is used until it expires', async () => {
    stopClock()
    const oauth = await server({ refresh: false, expiresIn: 3 })
    const host = hostOf()
    await register(host, oauth.url)
    await signIn(host)
    pass(2750)
    for (let calls = 0; calls < 3; calls++) expect(textOf(await call(host))).toBe('ann')
    expect((await host.signIns.view('ann', 'mail'))?.status).toBe('signed-in')
    pass(400)
    expect(await call(host)).toMatchObject({ status: 'sign-in-needed' })
  })

  it('is used until it expires when its refresh is refused, which is tried once', async () => {
    stopClock()
    const oauth = await server({ expiresIn: 3, refreshError: { status: 400, error: 'invalid_grant' } })
    const host = hostOf()
    await register(host, oauth.url)
    await signIn(host)
    pass(2750)
    for (let calls = 0; calls < 3; calls++) expect(textOf(await call(host))).toBe('ann')
    expect(oauth.counts.refreshed).toBe(1)
    expect((await host.signIns.view('ann', 'mail'))?.endsAt).toBeInstanceOf(Date)
    pass(400)
    expect(await call(host)).toMatchObject({ status: 'sign-in-needed' })
    expect(oauth.counts.refreshed).toBe(1)
  })

  it.each([1e15, 1e300])('for %d seconds expires after ten years', async (expiresIn) => {
    stopClock()
    const oauth = await server({ refresh: false })
    const host = hostOf()
    await register(host, oauth.url)
    oauth.rules.expiresIn = expiresIn
    await signIn(host)
    const { endsAt } = (await host.signIns.view('ann', 'mail')) ?? {}
    expect(endsAt).toEqual(new Date(Date.now() + TEN_YEARS_MS))
    expect(textOf(await call(host))).toBe('ann')
  })
})
