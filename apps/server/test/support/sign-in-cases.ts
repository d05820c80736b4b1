/** Sign-in cases for any storage. Each case has a server in two processes. */
import { expect, vi } from 'vitest'
import { OPERATOR_CASES } from './sign-in-cases-operators.ts'
import { THROTTLE_CASES } from './sign-in-cases-throttle.ts'
import { type Browser, PASSWORD, type SignInServers, tokenOf } from './sign-in-servers.ts'

export type SignInCase = (world: SignInServers) => Promise<void>

const whoIs = async (browser: Browser, at: 0 | 1 = 0) =>
  (await browser.ask('GET /api/auth/session', { at })).body.user?.email ?? null
const isIn = async (browser: Browser, at: 0 | 1 = 0) => (await browser.ask('GET /api/preferences', { at })).status
const signIn = (browser: Browser, email: string, password = PASSWORD) =>
  browser.ask('POST /api/auth/sign-in', { body: { email, password } })
const access = { caller: 'sign-in' } as const

const rows = (world: SignInServers) =>
  world.storage.transaction(access, async (tx) => ({
    users: await tx.list('users'),
    sessions: await tx.list('sessions'),
    links: await tx.list('signInLinks'),
    accounts: await tx.list('accounts'),
  }))

export const SIGN_IN_CASES: Record<string, SignInCase> = {
  ...THROTTLE_CASES,
  ...OPERATOR_CASES,

  'the setup link is the same in every process and works once': async (world) => {
    const [one, two] = world.processes
    const [first, again, other] = [
      await one.signIn.setupLink(),
      await one.signIn.setupLink(),
      await two.signIn.setupLink(),
    ]
    expect(again).toEqual(first)
    expect(other).toEqual(first)
    const visitor = world.browser()
    expect((await visitor.ask('GET /api/auth/session')).body).toMatchObject({ user: null, setupNeeded: true })
    const { token } = first as { token: string }
    expect((await visitor.ask('POST /api/auth/link', { body: { token } })).body).toMatchObject({ kind: 'setup' })
    const tries = await Promise.all(
      ([0, 1, 0, 1] as const).map((at, number) => {
        const body = { token, email: `o${number}@example.com`, name: 'O', password: PASSWORD }
        return world.browser().ask('POST /api/auth/setup', { body, at })
      }),
    )
    expect(tries.map(({ status }) => status).sort()).toEqual([201, 400, 400, 400])
    expect(tries.find(({ status }) => status === 400)?.body.code).toBe('sign-in-link-invalid')
    const { users } = await rows(world)
    expect(users.map(({ role }) => role)).toEqual(['operator'])
    expect(await two.signIn.setupLink()).toBeUndefined()
    expect((await visitor.ask('GET /api/auth/session')).body.setupNeeded).toBe(false)
    const late = { token, email: 'late@example.com', name: 'L', password: PASSWORD }
    expect((await visitor.ask('POST /api/auth/setup', { body: late })).status).toBe(400)
  },

  'an expired setup link is rejected and the next start creates another': async (world) => {
    const first = await world.processes[0].signIn.setupLink()
    await world.storage.transaction(access, (tx) =>
      tx.update('signInLinks', 'setup', { set: { expiresAt: new Date(Date.now() - 1) } }),
    )
    const body = { token: first?.token, email: 'o@example.com', name: 'O', password: PASSWORD }
    expect((await world.browser().ask('POST /api/auth/setup', { body })).status).toBe(400)
    const second = await world.processes[1].signIn.setupLink()
    expect(second?.token).not.toBe(first?.token)
    expect(
      (await world.browser().ask('POST /api/auth/setup', { body: { ...body, token: second?.token } })).status,
    ).toBe(201)
  },

  'a session from one process is valid on the other until sign-out': async (world) => {
    await world.user('ann@example.com')
    const ann = world.browser()
    const came = await signIn(ann, ' ANN@example.com'.trim())
    expect(came).toMatchObject({ status: 200, body: { user: { email: 'ann@example.com', operator: false } } })
    const [cookie = ''] = came.headers.getSetCookie()
    expect(cookie).toMatch(/^loadout\.session_token=/)
    expect(cookie).toMatch(/; HttpOnly/i)
    expect(cookie).toMatch(/; SameSite=Lax/i)
    expect(cookie).toMatch(/; Path=\//i)
    expect(cookie).not.toMatch(/; Secure/i)
    expect(await whoIs(ann, 1)).toBe('ann@example.com')
    expect(await isIn(ann, 1)).toBe(200)
    const cookies = new Map(ann.cookies)
    expect((await ann.ask('POST /api/auth/sign-out', { at: 1 })).status).toBe(204)
    expect(ann.cookies.size).toBe(0)
    for (const [name, value] of cookies) ann.cookies.set(name, value)
    expect([await isIn(ann, 0), await isIn(ann, 1), await whoIs(ann)]).toEqual([401, 401, null])
  },

  'a changed or made-up cookie is rejected': async (world) => {
    const { browser } = await world.user('ann@example.com')
    const [[name = '', value = '']] = browser.cookies as never as [[string, string]]
    for (const changed of [
      value.slice(0, -4),
      `x${value}`,
      value.split('.')[0] ?? '',
      'x.y',
      '%00',
      'a'.repeat(5000),
    ]) {
      browser.cookies.set(name, changed)
      expect(await isIn(browser), changed).toBe(401)
    }
    browser.cookies.set(name, value)
    expect(await isIn(browser)).toBe(200)
  },

  'sign-in fails with one response for a wrong password and an unknown, disabled or invited user': async (world) => {
    const operator = await world.operator()
    await world.user('ann@example.com')
    const off = await world.user('off@example.com')
    await operator.ask(`PATCH /api/users/${off.id}`, { body: { disabled: true } })
    await operator.ask('POST /api/users', { body: { email: 'new@example.com' } })
    const answers = []
    for (const [email, password] of [
      ['ann@example.com', 'not this one, no'],
      ['nobody@example.com', PASSWORD],
      ['off@example.com', PASSWORD],
      ['off@example.com', 'not this one, no'],
      ['new@example.com', PASSWORD],
    ] as const) {
      const before = { ...world.counts }
      const { status, body, headers } = await signIn(world.browser(), email, password)
      const { hashed, compared } = world.counts
      const work = hashed - before.hashed + (compared - before.compared)
      const { requestId: _, ...rest } = body
      answers.push({ status, rest, work, names: [...headers.keys()].filter((name) => name !== 'x-request-id').sort() })
    }
    expect(answers[0]).toMatchObject({ status: 401, rest: { code: 'wrong-password' }, work: 1 })
    for (const one of answers) expect(one).toEqual(answers[0])
  },

  'a session expires and is extended while it is used': async (world) => {
    const { browser, id } = await world.user('ann@example.com')
    const move = (ms: number) =>
      world.storage.transaction(access, async (tx) => {
        for (const { sessionId } of await tx.list('sessions', { where: { userId: id } }))
          await tx.update('sessions', sessionId, { set: { expiresAt: new Date(Date.now() + ms) } })
      })
    await move(3_600_000)
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() })
    const { headers, body } = await browser.ask('GET /api/auth/session', { at: 1 })
    expect(headers.getSetCookie().join()).toMatch(/loadout\.session_token=.*Max-Age=604800/)
    expect(new Date(body.expiresAt)).toEqual(new Date(Date.now() + 7 * 86_400_000))
    vi.useRealTimers()
    await move(-1)
    expect([await isIn(browser, 0), await isIn(browser, 1), await whoIs(browser, 1)]).toEqual([401, 401, null])
  },

  'sessions are listed and ended only by their user': async (world) => {
    const { browser: ann } = await world.user('ann@example.com')
    const { browser: bob } = await world.user('bob@example.com')
    const elsewhere = world.browser('198.51.100.7')
    await signIn(elsewhere, 'ann@example.com')
    const { items } = (await ann.ask('GET /api/auth/sessions')).body
    expect(items).toHaveLength(2)
    expect(items.map((one: { address: string }) => one.address).sort()).toEqual(['192.0.2.1', '198.51.100.7'])
    expect(JSON.stringify(items)).not.toContain('tokenHash')
    const other = items.find((one: { current: boolean }) => !one.current)
    expect((await bob.ask(`DELETE /api/auth/sessions/${other.id}`)).status).toBe(404)
    expect(await isIn(elsewhere)).toBe(200)
    expect((await ann.ask(`DELETE /api/auth/sessions/${other.id}`, { at: 1 })).status).toBe(204)
    expect([await isIn(elsewhere, 0), await isIn(ann, 0)]).toEqual([401, 200])
    await signIn(elsewhere, 'ann@example.com')
    expect((await ann.ask('DELETE /api/auth/sessions')).status).toBe(204)
    expect([await isIn(elsewhere, 1), await isIn(ann, 1), await isIn(bob)]).toEqual([401, 200, 200])
  },

  'a disabled or removed user loses session, key and link at once': async (world) => {
    const operator = await world.operator()
    const { browser: ann, id } = await world.user('ann@example.com')
    const { key } = (await ann.ask('POST /api/keys', { body: { name: 'k' } })).body
    const byKey = (at: 0 | 1) =>
      world.browser().ask('GET /api/preferences', { at, headers: { authorization: `Bearer ${key}` } })
    const link = (await operator.ask(`POST /api/users/${id}/link`)).body
    expect([(await byKey(0)).status, (await byKey(1)).status]).toEqual([200, 200])
    expect((await operator.ask(`PATCH /api/users/${id}`, { body: { disabled: true } })).body.disabled).toBe(true)
    expect([await isIn(ann, 0), await isIn(ann, 1), (await byKey(0)).status]).toEqual([401, 401, 401])
    await expect.poll(async () => (await byKey(1)).status).toBe(401)
    const body = { token: tokenOf(link.url), password: PASSWORD }
    expect((await world.browser().ask('POST /api/auth/reset', { body })).status).toBe(400)
    expect((await operator.ask(`POST /api/users/${id}/link`)).status).toBe(409)
    await operator.ask(`PATCH /api/users/${id}`, { body: { disabled: false } })
    expect((await signIn(ann, 'ann@example.com')).status).toBe(200)
    await expect.poll(async () => (await byKey(1)).status).toBe(200)
    expect((await operator.ask(`DELETE /api/users/${id}`)).status).toBe(200)
    expect([await isIn(ann, 0), await isIn(ann, 1)]).toEqual([401, 401])
    const { users, sessions, accounts } = await rows(world)
    expect(JSON.stringify([users, sessions, accounts])).not.toContain(id)
  },

  'an invitation and a reset work once, and only with the newest link': async (world) => {
    const operator = await world.operator()
    const made = await operator.ask('POST /api/users', { body: { email: 'Ann@Example.com', name: 'Ann' } })
    expect(made).toMatchObject({ status: 201, body: { user: { email: 'ann@example.com', methods: [] } } })
    const { id } = made.body.user
    expect((await operator.ask('POST /api/users', { body: { email: 'ANN@example.com' } })).status).toBe(409)
    const second = (await operator.ask(`POST /api/users/${id}/link`)).body
    expect(new URL(second.url).pathname).toBe('/invite')
    const ann = world.browser()
    const take = (path: string, url: string, at: 0 | 1 = 0) =>
      ann.ask(`POST /api/auth/${path}`, { at, body: { token: tokenOf(url), password: PASSWORD } })
    expect((await take('invite', made.body.link.url)).body.code).toBe('sign-in-link-invalid')
    expect((await take('reset', second.url)).status).toBe(400)
    const look = await ann.ask('POST /api/auth/link', { body: { token: tokenOf(second.url) } })
    expect(look.body).toMatchObject({ kind: 'invite', email: 'ann@example.com', name: 'Ann' })
    const both = await Promise.all([take('invite', second.url, 0), take('invite', second.url, 1)])
    expect(both.map(({ status }) => status).sort()).toEqual([200, 400])
    expect(await isIn(ann)).toBe(200)
    const reset = (await operator.ask(`POST /api/users/${id}/link`)).body
    expect(new URL(reset.url).pathname).toBe('/reset')
    const forgetful = world.browser()
    const body = { token: tokenOf(reset.url), password: 'another good password' }
    expect((await forgetful.ask('POST /api/auth/reset', { body, at: 1 })).status).toBe(200)
    expect([await isIn(ann, 0), await isIn(forgetful, 0)]).toEqual([401, 200])
    expect((await signIn(ann, 'ann@example.com')).status).toBe(401)
    expect((await signIn(ann, 'ann@example.com', 'another good password')).status).toBe(200)
    const { links } = await rows(world)
    expect(links.map(({ kind }) => kind)).toEqual(['setup'])
  },

  'a password change requires the current password and ends other sessions': async (world) => {
    const { browser: ann } = await world.user('ann@example.com')
    const elsewhere = world.browser()
    await signIn(elsewhere, 'ann@example.com')
    const change = (current: string, password: string) =>
      ann.ask('POST /api/auth/password', { body: { current, password }, at: 1 })
    expect((await change('not the password', 'another good password')).body.code).toBe('wrong-password')
    const short = await change(PASSWORD, 'short')
    expect(short).toMatchObject({ status: 422, body: { errors: [{ path: 'password' }] } })
    expect((await change(PASSWORD, 'another good password')).status).toBe(204)
    expect([await isIn(ann), await isIn(elsewhere)]).toEqual([200, 401])
    expect((await signIn(elsewhere, 'ann@example.com')).status).toBe(401)
    expect((await signIn(elsewhere, 'ann@example.com', 'another good password')).status).toBe(200)
  },

  'an event stream ends with its session': async (world) => {
    const { id, browser: ann } = await world.user('ann@example.com')
    const { browser: bob } = await world.user('bob@example.com')
    let [annHears, bobHears] = [true, true]
    const stream = ann.ask('GET /api/events', { at: 1 }).then(({ body }) => {
      annHears = false
      return body
    })
    void bob.ask('GET /api/events', { at: 1 }).then(() => {
      bobHears = false
    })
    await new Promise((resolve) => setTimeout(resolve, 300))
    expect([annHears, bobHears]).toEqual([true, true])
    await (await world.operator()).ask(`DELETE /api/users/${id}/sessions`)
    await expect.poll(() => annHears).toBe(false)
    expect(await stream).toContain('event: ready')
    expect(bobHears).toBe(true)
  },
}
