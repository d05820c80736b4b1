/** Two processes over one PostgreSQL, and a server that rotates its tokens: one renewal, however many calls wait for it. */
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { createDatabase } from '../../../../test/database.ts'
import { callbackOf, follow, OAuthServer } from '../../../../test/oauth-server.ts'
import { newKey, type RemoteHost, startHost } from '../fixtures/remote-host.ts'

const KEY = newKey()

let oauth: OAuthServer
let database: Awaited<ReturnType<typeof createDatabase>>
let hosts: [RemoteHost, RemoteHost]
beforeAll(async () => {
  oauth = await OAuthServer.start({ refreshMs: 100 })
  database = await createDatabase(inject('postgresUrl'))
  hosts = [await startHost(database.url, KEY), await startHost(database.url, KEY)]
})
afterAll(async () => {
  await Promise.all(hosts.map((host) => host.end()))
  await database.drop()
  await oauth.close()
})

interface Outcome {
  status: string
  content?: Array<{ text: string }>
}

const call = (host: RemoteHost, userId: string) =>
  host.do<Outcome>({ do: 'call', userId, name: 'mail.whoami', arguments: {} })

/** Asked in one process, brought back to the other. */
async function signIn(userId: string): Promise<void> {
  const [one, other] = hosts
  const { url } = await one.do<{ url: string }>({ do: 'sign-in', userId, toolkit: 'mail' })
  await other.do({ do: 'come-back', userId, callback: callbackOf(await follow(url, userId)) })
}

async function begin(userId: string): Promise<void> {
  const input = { name: 'mail', url: oauth.url }
  await expect(hosts[0].do({ do: 'register', userId, input })).rejects.toThrow('sign-in-needed')
  await signIn(userId)
  for (const host of hosts) expect(await call(host, userId)).toMatchObject({ content: [{ text: userId }] })
}

describe('an expired token in two processes', () => {
  it.each([1, 2, 3])('is refreshed once for ten concurrent calls (%i)', async (turn) => {
    const userId = `ann-${turn}`
    await begin(userId)
    const before = { ...oauth.counts }
    oauth.expire()
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, index) => call(hosts[index % 2 === 0 ? 0 : 1], userId)),
    )
    expect(answers.map(({ content }) => content?.[0]?.text)).toEqual(Array(10).fill(userId))
    expect(oauth.counts.refreshed - before.refreshed).toBe(1)
    expect(oauth.counts.reused).toBe(0)
  })

  it('whose refresh is refused is tried once, and then all calls need a sign-in', async () => {
    await begin('bea')
    const before = { ...oauth.counts }
    oauth.forget()
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, index) => call(hosts[index % 2 === 0 ? 0 : 1], 'bea')),
    )
    expect(answers.map(({ status }) => status)).toEqual(Array(10).fill('sign-in-needed'))
    for (const host of hosts) expect((await call(host, 'bea')).status).toBe('sign-in-needed')
    expect(oauth.counts.refreshed - before.refreshed).toBe(1)
    await signIn('bea')
    for (const host of hosts) expect((await call(host, 'bea')).content?.[0]?.text).toBe('bea')
  })
})

it('sign-in links that two processes create at once are both valid', async () => {
  for (const [userId, inline] of [
    ['fay-0', 0],
    ['fay-1', 1],
    ['fay-2', 0],
    ['fay-3', 1],
  ] as const) {
    // Signed in, no link is open: each of the two has to make one.
    await begin(userId)
    const links = await Promise.all(
      hosts.map((host) => host.do<{ url: string }>({ do: 'sign-in', userId, toolkit: 'mail' })),
    )
    const callback = callbackOf(await follow(links[inline]?.url ?? '', userId))
    await hosts[inline === 0 ? 1 : 0].do({ do: 'come-back', userId, callback })
  }
})

it('1,000 alternating calls of two users each carry the token of their own user', async () => {
  await begin('cat')
  await begin('dan')
  oauth.calls.length = 0
  const users = ['cat', 'dan'] as const
  for (let round = 0; round < 20; round++)
    await Promise.all(
      Array.from({ length: 50 }, async (_, index) => {
        const userId = users[index % 2] as string
        const { content } = await call(hosts[round % 2 === 0 ? 0 : 1], userId)
        expect(content?.[0]?.text).toBe(userId)
      }),
    )
  expect(oauth.calls).toHaveLength(1000)
  for (const userId of users) expect(oauth.calls.filter(({ sub }) => sub === userId)).toHaveLength(500)
})

it('a process that is killed during a token refresh does not block the others forever', async () => {
  await begin('eve')
  const third = await startHost(database.url, KEY)
  oauth.expire()
  oauth.rules.refreshMs = 3000
  const dying = call(third, 'eve').catch(() => undefined)
  await new Promise((resolve) => setTimeout(resolve, 500))
  third.kill()
  void dying
  oauth.rules.refreshMs = 0
  const { status } = await call(hosts[0], 'eve')
  // The killed one may have used the token up: then only the person can help, and is told so.
  expect(['ok', 'sign-in-needed']).toContain(status)
})
