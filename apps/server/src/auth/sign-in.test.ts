/** Sign-in in memory and on PGlite; `sign-in.pg.test.ts` covers PostgreSQL and real processes. */
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Storage } from '@loadout/core'
import { createServices } from '@loadout/core/services'
import { memory } from '@loadout/core/storage/memory'
import { pglite } from '@loadout/core/storage/pglite'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { preparedBackup } from '../../../../test/prepare-pglite.ts'
import { SIGN_IN_CASES } from '../../test/support/sign-in-cases.ts'
import { BASE, PASSWORD, type SignInServers, signInServers } from '../../test/support/sign-in-servers.ts'
import { createApp } from '../http/app.ts'
import { addressOf } from './client-address.ts'
import { signInSecret } from './sign-in.ts'

let world: SignInServers | undefined
afterEach(async () => {
  await world?.close()
  world = undefined
})

describe('sign-in in memory', () => {
  for (const [name, run] of Object.entries(SIGN_IN_CASES))
    it(name, async () => {
      const storage = memory()
      world = await signInServers([storage, storage])
      return run(world)
    })

  it('sets HTTPS-only cookies on an HTTPS public URL and accepts only that origin', async () => {
    const storage = memory()
    world = await signInServers([storage, storage], { publicUrl: 'https://loadout.example' })
    const { browser } = await world.user('ann@example.com')
    const body = { email: 'ann@example.com', password: PASSWORD }
    const { headers } = await browser.ask('POST /api/auth/sign-in', { body })
    expect(headers.getSetCookie().join()).toMatch(/__Secure-loadout\.session_token=.*Secure/)
    const plain = { body: {}, headers: { origin: 'http://loadout.example' } }
    expect((await browser.ask('PATCH /api/preferences', plain)).status).toBe(403)
    expect((await browser.ask('PATCH /api/preferences', { body: {} })).status).toBe(200)
  })

  it('rejects sessions signed with another secret', async () => {
    const storage = memory()
    world = await signInServers([storage, storage])
    const { browser } = await world.user('ann@example.com')
    const other = await signInServers([storage, storage])
    const headers = { cookie: [...browser.cookies].map((pair) => pair.join('=')).join('; ') }
    expect((await other.browser().ask('GET /api/preferences', { headers })).status).toBe(401)
  })
})

describe('sign-in on PGlite', () => {
  let storage: Storage
  beforeAll(async () => {
    storage = pglite(await preparedBackup())
    await storage.ready()
  })
  afterAll(() => storage.close())

  for (const [name, run] of Object.entries(SIGN_IN_CASES))
    it(name, async () => {
      await empty(storage)
      await run(await signInServers([storage, storage]))
    })
})

/** PGlite takes seconds to start, so all tests share one storage. */
async function empty(storage: Storage): Promise<void> {
  await storage.transaction({ caller: 'sign-in' }, async (tx) => {
    for (const { userId } of await tx.list('users')) await tx.delete('users', userId)
    for (const { linkId } of await tx.list('signInLinks')) await tx.delete('signInLinks', linkId)
    for (const { attemptsId } of await tx.list('signInAttempts')) await tx.delete('signInAttempts', attemptsId)
  })
}

describe('an `authenticate` function of the app', () => {
  it('replaces the built-in sign-in', async () => {
    const host = createServices()
    const app = createApp({
      host,
      authenticate: (request) => ({ kind: 'session', userId: request.headers.get('x-me') ?? 'me' }),
    })
    const ask = (path: string, init = {}) => app.request(`${BASE}${path}`, { headers: { 'x-me': 'ann' }, ...init })
    expect(await (await ask('/api/auth/session')).json()).toEqual({
      mode: 'multi-user',
      user: { id: 'ann', name: 'ann', email: null, operator: false },
      methods: { password: false },
      setupNeeded: false,
    })
    expect((await ask('/api/preferences')).status).toBe(200)
    for (const path of ['/api/auth/sign-out', '/api/auth/sessions', '/api/auth/oidc/start']) {
      const { status, code } = await (await ask(path, path.endsWith('out') ? { method: 'POST' } : {})).json()
      expect([status, code], path).toEqual([404, 'not-found'])
    }
    await host.close()
  })

  it('is enough for the local user without a sign-in', async () => {
    const host = createServices()
    const app = createApp({
      host,
      authenticate: () => ({ kind: 'local', userId: 'local', role: 'operator' }),
      loopbackOnly: true,
    })
    expect(await (await app.request(`${BASE}/api/auth/session`)).json()).toMatchObject({
      mode: 'local',
      user: { id: 'local', operator: true },
      methods: { password: false },
    })
    await host.close()
  })
})

describe('the client address', () => {
  it('comes from the last trusted proxy and ignores earlier entries', () => {
    expect(addressOf('1.1.1.1, 2.2.2.2', '10.0.0.1', 0)).toBe('10.0.0.1')
    expect(addressOf('1.1.1.1, 2.2.2.2', '10.0.0.1', 1)).toBe('2.2.2.2')
    expect(addressOf('9.9.9.9, 1.1.1.1, 2.2.2.2', '10.0.0.1', 2)).toBe('1.1.1.1')
    expect(addressOf('2.2.2.2', '10.0.0.1', 2)).toBe('10.0.0.1')
    expect(addressOf('made up', '10.0.0.1', 1)).toBe('10.0.0.1')
    expect(addressOf(null, '', 1)).toBe('0.0.0.0')
  })

  it('is one network for IPv6 and normalized for IPv4', () => {
    expect(addressOf(null, '::ffff:192.0.2.7', 0)).toBe('192.0.2.7')
    expect(addressOf(null, '2001:db8:1:2:aaaa::1', 0)).toBe(addressOf(null, '2001:0db8:1:2:bbbb:0:0:2', 0))
    expect(addressOf(null, '2001:db8:1:2::1', 0)).not.toBe(addressOf(null, '2001:db8:1:3::1', 0))
    expect(addressOf(null, '::1', 0)).toBe('0:0:0:0::')
  })
})

it('the sign-in secret is derived from the current master key and does not reveal it', () => {
  const key = 'k'.repeat(44)
  expect(signInSecret(key)).toBe(signInSecret(`${key},old`))
  expect(signInSecret(key)).not.toBe(signInSecret(`x${key}`))
  expect(signInSecret(key)).not.toContain('kkk')
})

it('local mode and an app with its own users load no sign-in code', () => {
  const reached = new Set<string>()
  const follow = (file: string) => {
    if (reached.has(file)) return
    reached.add(file)
    for (const [, from = ''] of readFileSync(file, 'utf8').matchAll(
      /^(?:import|export) (?!type\b).*?from '([^']+)'/gms,
    ))
      if (from.startsWith('.')) follow(join(dirname(file), from))
      else reached.add(from)
  }
  for (const entry of ['http/app.ts', 'serve.ts', 'local.ts']) follow(join(import.meta.dirname, '..', entry))
  expect([...reached].filter((one) => one.startsWith('better-auth'))).toEqual([])
  expect([...reached]).toContain('hono/secure-headers')
})
