/** Cases for throttled sign-ins and same-origin session changes, for any storage. */
import { expect } from 'vitest'
import { type Browser, PASSWORD, type SignInServers } from './sign-in-servers.ts'

const signIn = (browser: Browser, email: string, password = PASSWORD) =>
  browser.ask('POST /api/auth/sign-in', { body: { email, password } })
const access = { caller: 'sign-in' } as const
const countOf = (statuses: readonly number[], status: number) => statuses.filter((one) => one === status).length

/** All at once, by turns on both processes, in both spellings of the email. */
async function wrongTries(
  world: SignInServers,
  { email, tries, from }: { email: string; tries: number; from: (number: number) => string },
): Promise<number[]> {
  const one = async (number: number) => {
    const at = (number % 2) as 0 | 1
    const body = { email: number % 3 ? email : email.toUpperCase(), password: 'not this one, no' }
    return (await world.browser(from(number)).ask('POST /api/auth/sign-in', { body, at })).status
  }
  return Promise.all(Array.from({ length: tries }, (_, number) => one(number)))
}

export const THROTTLE_CASES: Record<string, (world: SignInServers) => Promise<void>> = {
  'an account allows ten attempts per address across processes, and its owner can sign in from elsewhere': async (
    world,
  ) => {
    await world.user('ann@example.com')
    for (const [address, email] of [
      ['203.0.113.1', 'ann@example.com'],
      ['203.0.113.2', 'nobody@example.com'],
    ] as const) {
      const statuses = await wrongTries(world, { email, tries: 40, from: () => address })
      expect(countOf(statuses, 401), email).toBe(10)
      expect(countOf(statuses, 429), email).toBe(30)
      expect((await signIn(world.browser(address), 'ann@example.com')).status).toBe(email.startsWith('ann') ? 429 : 200)
    }
    expect((await signIn(world.browser('203.0.113.3'), 'ann@example.com')).status).toBe(200)
    // That one came in elsewhere opens nothing to who tries here.
    expect((await signIn(world.browser('203.0.113.1'), 'ann@example.com')).status).toBe(429)
  },

  'an account allows fifty attempts across addresses and processes, then even the right password waits': async (
    world,
  ) => {
    await world.user('ann@example.com')
    for (const email of ['ann@example.com', 'nobody@example.com']) {
      const before = world.counts.compared + world.counts.hashed
      const statuses = await wrongTries(world, { email, tries: 70, from: (number) => `203.0.113.${number}` })
      expect(countOf(statuses, 401), email).toBe(50)
      expect(countOf(statuses, 429), email).toBe(20)
      expect(world.counts.compared + world.counts.hashed - before, email).toBe(50)
    }
    const late = await signIn(world.browser('203.0.113.200'), 'ann@example.com')
    expect(late).toMatchObject({ status: 429, body: { code: 'limit-reached' } })
    expect(Number(late.headers.get('retry-after'))).toBeGreaterThan(600)
    await world.storage.transaction(access, async (tx) => {
      for (const { attemptsId } of await tx.list('signInAttempts', { limit: 1000 }))
        await tx.update('signInAttempts', attemptsId, { set: { endsAt: new Date(Date.now() - 1) } })
    })
    expect((await signIn(world.browser(), 'ann@example.com')).status).toBe(200)
  },

  'an address allows fifty failed attempts, and successful sign-ins do not count': async (world) => {
    await world.user('ann@example.com')
    const [busy, other] = ['198.51.100.1', '198.51.100.2']
    for (let number = 0; number < 12; number++)
      expect((await signIn(world.browser(busy), 'ann@example.com')).status).toBe(200)
    const tries = await Promise.all(
      Array.from({ length: 60 }, (_, number) => signIn(world.browser(busy), `x${number}@example.com`)),
    )
    expect(tries.filter(({ status }) => status === 401)).toHaveLength(50)
    expect((await signIn(world.browser(busy), 'ann@example.com')).status).toBe(429)
    expect((await signIn(world.browser(other), 'ann@example.com')).status).toBe(200)
  },

  'a session change is accepted only from the same origin': async (world) => {
    const { browser: ann } = await world.user('ann@example.com')
    const send = (origin: string, route: `${string} ${string}` = 'PATCH /api/preferences') =>
      ann.ask(route, { body: {}, headers: { origin } })
    expect((await send('http://localhost:4300')).status).toBe(200)
    for (const origin of ['', 'https://evil.example', 'http://localhost:4301', 'null', 'http://localhost.evil.example'])
      expect(await send(origin), origin).toMatchObject({ status: 403, body: { code: 'foreign-origin' } })
    expect((await send('', 'POST /api/auth/sign-out')).status).toBe(403)
    expect((await send('', 'POST /api/mcp')).status).toBe(403)
    expect((await ann.ask('DELETE /api/auth/sessions', { headers: { origin: '' } })).status).toBe(403)
    const { key } = (await ann.ask('POST /api/keys', { body: { name: 'k' } })).body
    const headers = { origin: '', authorization: `Bearer ${key}` }
    expect((await world.browser().ask('PATCH /api/preferences', { body: {}, headers })).status).toBe(200)
    const foreign = {
      body: { email: 'ann@example.com', password: PASSWORD },
      headers: { origin: 'https://evil.example' },
    }
    expect((await world.browser().ask('POST /api/auth/sign-in', foreign)).status).toBe(403)
  },
}
