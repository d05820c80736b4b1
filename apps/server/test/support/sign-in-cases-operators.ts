/** Cases for operators and their routes, for any storage. */
import { expect } from 'vitest'
import type { SignInServers } from './sign-in-servers.ts'

const usersOf = (world: SignInServers) => world.storage.transaction({ caller: 'sign-in' }, (tx) => tx.list('users'))

export const OPERATOR_CASES: Record<string, (world: SignInServers) => Promise<void>> = {
  'a former operator loses operator access for every key and session': async (world) => {
    const operator = await world.operator()
    const { id, browser } = await world.user('two@example.com')
    await operator.ask(`PATCH /api/users/${id}`, { body: { operator: true } })
    const scopes = ['read', 'write', 'operate']
    const { key } = (await browser.ask('POST /api/keys', { body: { name: 'k', role: 'operator', scopes } })).body
    const headers = { authorization: `Bearer ${key}` }
    expect((await world.browser().ask('GET /api/users', { headers })).status).toBe(200)
    await operator.ask(`PATCH /api/users/${id}`, { body: { operator: false } })
    expect((await world.browser().ask('GET /api/users', { headers })).status).toBe(403)
    expect((await browser.ask('GET /api/users')).status).toBe(403)
  },

  'the last operator cannot be removed, disabled or demoted': async (world) => {
    const operator = await world.operator()
    const olga = (await operator.ask('GET /api/auth/session')).body.user.id
    for (const body of [{ operator: false }, { disabled: true }])
      expect((await operator.ask(`PATCH /api/users/${olga}`, { body })).body.code).toBe('conflict')
    expect((await operator.ask(`DELETE /api/users/${olga}`)).body.code).toBe('conflict')
    const { id, browser } = await world.user('two@example.com')
    await operator.ask(`PATCH /api/users/${id}`, { body: { operator: true } })
    // Each of two takes it from the other at the same time: one stays, however often they try.
    for (let round = 0; round < 12; round++) {
      const both = await Promise.all([
        operator.ask(`PATCH /api/users/${id}`, { body: { operator: false }, at: 0 }),
        browser.ask(`PATCH /api/users/${olga}`, { body: { operator: false }, at: 1 }),
      ])
      expect(both.filter(({ status }) => status === 200)).toHaveLength(1)
      const users = await usersOf(world)
      const [left, ...others] = users.filter(({ role }) => role === 'operator')
      expect(others).toEqual([])
      const [by, of] = left?.userId === olga ? [operator, id] : [browser, olga]
      expect((await by.ask(`PATCH /api/users/${of}`, { body: { operator: true } })).status).toBe(200)
    }
  },

  'the user routes are available to operators only': async (world) => {
    const operator = await world.operator()
    const { id, browser: ann } = await world.user('ann@example.com')
    await world.user('bob@example.com')
    for (const route of [
      'GET /api/users',
      'POST /api/users',
      `PATCH /api/users/${id}`,
      `POST /api/users/${id}/link`,
      `DELETE /api/users/${id}/sessions`,
      `DELETE /api/users/${id}`,
    ] as const) {
      const sent = route.startsWith('GET') ? {} : { body: { email: 'x@example.com' } }
      const body = route.startsWith('PATCH') ? { body: { operator: true } } : sent
      expect((await ann.ask(route, body)).status, route).toBe(403)
      expect((await world.browser().ask(route, body)).status, route).toBe(401)
    }
    const first = (await operator.ask('GET /api/users?limit=2')).body
    expect(first.items.map((one: { email: string }) => one.email)).toEqual(['olga@example.com', 'ann@example.com'])
    const rest = (await operator.ask(`GET /api/users?limit=2&cursor=${first.nextCursor}`)).body
    expect(rest.items.map((one: { email: string }) => one.email)).toEqual(['bob@example.com'])
    expect(rest.nextCursor).toBeUndefined()
    expect(first.items[1]).toMatchObject({ methods: ['password'], operator: false, disabled: false })
    expect((await operator.ask(`DELETE /api/users/${id}/sessions`, { at: 1 })).status).toBe(204)
    expect((await ann.ask('GET /api/preferences')).status).toBe(401)
  },
}
