/** OpenID Connect cases for any storage. The browser starts on one process and returns to the other. */
import { expect } from 'vitest'
import type { OidcServer } from '../../../../test/oidc-server.ts'
import type { SignInLimits } from '../../src/auth/sign-in.ts'
import { type Browser, PASSWORD, type SignInServers } from './sign-in-servers.ts'

interface OidcSetup {
  world: SignInServers
  provider: OidcServer
}
export interface OidcCase {
  signUp?: boolean
  byPassword?: boolean
  trustEmail?: boolean
  limits?: Partial<SignInLimits>
  run(given: OidcSetup): Promise<void>
}

const ANN = { sub: 'ann-there', email: 'ann@example.com', email_verified: true, name: 'Ann of There' }

/** Where the browser ends up: through the provider and back. */
export async function through(
  { world }: OidcSetup,
  browser: Browser,
  change: (back: URL) => void = () => {},
): Promise<string> {
  const there = await browser.ask('GET /api/auth/oidc/start?returnTo=%2Ftools%3Fq%3Dx')
  expect(there.status).toBe(302)
  const provider = await fetch(there.headers.get('location') ?? '', { redirect: 'manual' })
  const back = new URL(provider.headers.get('location') ?? '')
  expect(back.pathname).toBe('/api/auth/oidc/callback')
  change(back)
  const end = await browser.ask(`GET ${back.pathname}${back.search}`, { at: 1 })
  expect(end.status).toBe(302)
  expect(end.headers.get('cache-control')).toBe('no-store')
  expect(world.processes).toHaveLength(2)
  return end.headers.get('location') ?? ''
}

const who = async (browser: Browser) => (await browser.ask('GET /api/auth/session')).body.user
const people = ({ world }: OidcSetup) =>
  world.storage.transaction({ caller: 'sign-in' }, async (tx) => ({
    users: await tx.list('users'),
    accounts: await tx.list('accounts'),
    sessions: await tx.list('sessions'),
  }))

const invite = async ({ world }: OidcSetup, email: string): Promise<string> =>
  (await (await world.operator()).ask('POST /api/users', { body: { email, name: 'Ann of Here' } })).body.user.id

const REFUSED = '/sign-in?problem=sign-in-failed'
const NO_ACCOUNT = '/sign-in?problem=no-account'

export const OIDC_CASES: Record<string, OidcCase> = {
  'an invited user signs in by email and is later identified by subject': {
    async run(setup) {
      const { world, provider } = setup
      const id = await invite(setup, 'ann@example.com')
      provider.rules.claims = ANN
      const browser = world.browser()
      expect((await browser.ask('GET /api/auth/session')).body.methods).toEqual({
        password: true,
        oidc: { name: 'Work' },
      })
      expect(await through(setup, browser)).toBe('/tools?q=x')
      expect(await who(browser)).toEqual({ id, name: 'Ann of Here', email: 'ann@example.com', operator: false })
      expect((await browser.ask('GET /api/preferences', { at: 1 })).status).toBe(200)
      // Another email there is the same person here.
      provider.rules.claims = { ...ANN, email: 'ann.married@example.com' }
      const later = world.browser()
      expect(await through(setup, later)).toBe('/tools?q=x')
      expect((await who(later)).id).toBe(id)
      const { accounts } = await people(setup)
      const own = accounts.filter(({ userId }) => userId === id)
      expect(own).toMatchObject([{ provider: 'oidc', subject: 'ann-there', passwordHash: null }])
      expect(JSON.stringify(accounts)).not.toMatch(/at-|rt-|eyJ/)
      const listed = (await (await world.operator()).ask('GET /api/users')).body.items
      expect(listed.find((one: { id: string }) => one.id === id).methods).toEqual(['oidc'])
    },
  },

  'a user without an invitation gets no account': {
    async run(setup) {
      const { world, provider } = setup
      await world.operator()
      provider.rules.claims = ANN
      const browser = world.browser()
      expect(await through(setup, browser)).toBe(NO_ACCOUNT)
      expect(await who(browser)).toBeNull()
      expect((await people(setup)).users).toHaveLength(1)
    },
  },

  'with sign-up on, only users with a verified email get an account': {
    signUp: true,
    async run(setup) {
      const { world, provider } = setup
      provider.rules.claims = { ...ANN, email_verified: false }
      expect(await through(setup, world.browser())).toBe(NO_ACCOUNT)
      expect((await people(setup)).users).toEqual([])
      provider.rules.claims = ANN
      const browser = world.browser()
      expect(await through(setup, browser)).toBe('/tools?q=x')
      expect(await who(browser)).toMatchObject({ email: 'ann@example.com', name: 'Ann of There', operator: false })
    },
  },

  'an unverified email matches no user': {
    async run(setup) {
      const { world, provider } = setup
      await invite(setup, 'ann@example.com')
      for (const claims of [
        { ...ANN, email_verified: false },
        { ...ANN, email_verified: undefined },
        { ...ANN, email_verified: 'true' },
      ]) {
        provider.rules.claims = claims
        expect(await through(setup, world.browser())).toBe(NO_ACCOUNT)
      }
      provider.rules.claims = { sub: 'x' }
      expect(await through(setup, world.browser())).toMatch(/^\/sign-in\?problem=(no-account|sign-in-failed)$/)
      expect((await people(setup)).sessions).toHaveLength(1)
    },
  },

  'an unverified email matches a user when the operator trusts the provider': {
    trustEmail: true,
    async run(setup) {
      const id = await invite(setup, 'ann@example.com')
      setup.provider.rules.claims = { ...ANN, email_verified: undefined }
      const browser = setup.world.browser()
      expect(await through(setup, browser)).toBe('/tools?q=x')
      expect((await who(browser)).id).toBe(id)
    },
  },

  'a token with a wrong audience, issuer, signature, expiry or nonce is rejected': {
    async run(setup) {
      const { world, provider } = setup
      await invite(setup, 'ann@example.com')
      provider.rules.claims = ANN
      const past = Math.floor(Date.now() / 1000) - 3600
      const wrong: Array<Partial<typeof provider.rules>> = [
        { token: { aud: 'another' } },
        { token: { iss: 'https://another.example' } },
        { token: { exp: past, iat: past - 60 } },
        { token: { nonce: 'another' } },
        { token: { nonce: undefined } },
        { foreignKey: true },
        { unsigned: true },
      ]
      for (const rules of wrong) {
        Object.assign(provider.rules, { token: {}, foreignKey: false, unsigned: false }, rules)
        const browser = world.browser()
        expect(await through(setup, browser), JSON.stringify(rules)).toBe(REFUSED)
        expect(await who(browser)).toBeNull()
      }
      Object.assign(provider.rules, { token: {}, foreignKey: false, unsigned: false })
      expect(await through(setup, world.browser())).toBe('/tools?q=x')
    },
  },

  "somebody else's way back is not ours, and none is good twice": {
    async run(setup) {
      const { world, provider } = setup
      await invite(setup, 'ann@example.com')
      provider.rules.claims = ANN
      const [mine, theirs] = [world.browser(), world.browser()]
      let back: URL | undefined
      await through(setup, theirs, (url) => {
        back = new URL(url)
        url.searchParams.set('error', 'interrupted')
      })
      const at = `${back?.pathname}${back?.search}`
      const led = await mine.ask(`GET ${at}`)
      expect(led.headers.get('location')).toBe('/sign-in?problem=sign-in-link-invalid')
      expect(await who(mine)).toBeNull()
      let used = ''
      expect(
        await through(setup, mine, (url) => {
          used = `${url.pathname}${url.search}`
        }),
      ).toBe('/tools?q=x')
      const again = await world.browser().ask(`GET ${used}`)
      expect(again.headers.get('location')).toMatch(/^\/sign-in\?problem=/)
      for (const path of [
        '/api/auth/oidc/callback',
        '/api/auth/oidc/callback?code=x',
        '/api/auth/oidc/callback?state=x&code=y',
      ])
        expect((await world.browser().ask(`GET ${path}`)).headers.get('location')).toMatch(/^\/sign-in\?problem=/)
    },
  },

  'a user who denies consent or is disabled cannot sign in': {
    async run(setup) {
      const { world, provider } = setup
      const id = await invite(setup, 'ann@example.com')
      provider.rules.claims = ANN
      provider.rules.denied = true
      expect(await through(setup, world.browser())).toBe(REFUSED)
      provider.rules.denied = false
      expect(await through(setup, world.browser())).toBe('/tools?q=x')
      await (await world.operator()).ask(`PATCH /api/users/${id}`, { body: { disabled: true } })
      const browser = world.browser()
      expect(await through(setup, browser)).toBe(REFUSED)
      expect(await who(browser)).toBeNull()
    },
  },

  'an unreachable provider does not affect passwords and is retried': {
    async run(setup) {
      const { world, provider } = setup
      provider.rules.down = true
      await world.operator()
      const browser = world.browser()
      const refused = await browser.ask('GET /api/auth/oidc/start')
      expect(refused).toMatchObject({ status: 502, body: { code: 'server-unreachable' } })
      const page = await browser.ask('GET /api/auth/oidc/start', { headers: { accept: 'text/html' } })
      expect(page.headers.get('location')).toBe('/sign-in?problem=server-unreachable')
      provider.rules.down = false
      provider.rules.discovery = { issuer: 'https://another.example' }
      expect((await browser.ask('GET /api/auth/oidc/start')).status).toBe(502)
      provider.rules.discovery = { jwks_uri: undefined }
      expect((await browser.ask('GET /api/auth/oidc/start')).status).toBe(502)
      provider.rules.discovery = {}
      expect((await browser.ask('GET /api/auth/oidc/start')).status).toBe(302)
    },
  },

  'the return path leads only to pages of this server': {
    async run({ world }) {
      for (const to of [
        'https://evil.example',
        '//evil.example',
        '/\\evil.example',
        'javascript:alert(1)',
        'tools',
        '/a%0d%0ab',
      ]) {
        const { status } = await world
          .browser()
          .ask(`GET /api/auth/oidc/start?returnTo=${encodeURIComponent(decodeURIComponent(to))}`)
        expect(status, to).toBe(422)
      }
    },
  },

  'an email from the userinfo endpoint counts for the same subject': {
    async run(setup) {
      const { world, provider } = setup
      const id = await invite(setup, 'ann@example.com')
      provider.rules.claims = { sub: ANN.sub }
      provider.rules.basic = true
      provider.rules.userinfo = { ...ANN, sub: 'somebody-else' }
      expect(await through(setup, world.browser())).toMatch(/^\/sign-in\?problem=/)
      provider.rules.userinfo = ANN
      const browser = world.browser()
      expect(await through(setup, browser)).toBe('/tools?q=x')
      expect((await who(browser)).id).toBe(id)
    },
  },

  'without passwords the setup link names the first operator, who signs in by the provider, and password routes are closed':
    {
      byPassword: false,
      async run(setup) {
        const { world, provider } = setup
        const link = () => world.processes[0].signIn.setupLink()
        const { token = '' } = (await link()) ?? {}
        const browser = world.browser()
        const state = async () => (await browser.ask('GET /api/auth/session')).body
        expect(await state()).toMatchObject({ methods: { password: false, oidc: { name: 'Work' } }, setupNeeded: true })
        const name = (email: string, more = {}) =>
          browser.ask('POST /api/auth/setup', { body: { token, email, name: 'Ann', ...more } })
        expect((await name('ann@example.com', { password: PASSWORD })).body.code).toBe('forbidden')
        // A slip of the pen: the link is still good, and who was named first is nobody.
        expect((await name('bob@example.com')).status).toBe(202)
        expect(await state()).toMatchObject({ user: null, setupNeeded: false })
        expect((await link())?.token).toBe(token)
        expect((await name('Ann@example.com')).status).toBe(202)
        expect((await people(setup)).users.map(({ email }) => email)).toEqual(['ann@example.com'])
        provider.rules.claims = { ...ANN, email: 'bob@example.com', sub: 'bob' }
        expect(await through(setup, world.browser())).toBe(NO_ACCOUNT)
        provider.rules.claims = ANN
        expect(await through(setup, browser)).toBe('/tools?q=x')
        expect(await who(browser)).toMatchObject({ email: 'ann@example.com', operator: true })
        expect([await link(), (await name('eve@example.com')).body.code]).toEqual([undefined, 'sign-in-link-invalid'])
        expect((await browser.ask('POST /api/auth/link', { body: { token } })).body.code).toBe('sign-in-link-invalid')

        const invited = await browser.ask('POST /api/users', { body: { email: 'cy@example.com' } })
        const theirs = { token: new URL(invited.body.link.url).hash.slice(1), password: PASSWORD }
        for (const [route, body] of [
          ['sign-in', { email: 'cy@example.com', password: PASSWORD }],
          ['invite', theirs],
          ['reset', theirs],
          ['password', { current: PASSWORD, password: PASSWORD }],
        ] as const)
          expect((await browser.ask(`POST /api/auth/${route}`, { body })).body).toMatchObject({
            code: 'forbidden',
            action: 'Sign in with Work.',
          })
        const shown = await browser.ask('POST /api/auth/link', { body: { token: theirs.token } })
        expect(shown.body).toMatchObject({ kind: 'invite', email: 'cy@example.com' })
      },
    },

  'without passwords a user from sign-up can become the first operator': {
    byPassword: false,
    signUp: true,
    async run(setup) {
      const { world, provider } = setup
      provider.rules.claims = ANN
      const browser = world.browser()
      expect(await through(setup, browser)).toBe('/tools?q=x')
      expect((await who(browser)).operator).toBe(false)
      const { token = '' } = (await world.processes[1].signIn.setupLink()) ?? {}
      const body = { token, email: ANN.email, name: 'Ann' }
      expect((await world.browser().ask('POST /api/auth/setup', { body })).status).toBe(202)
      expect((await who(browser)).operator).toBe(true)
      expect(await world.processes[1].signIn.setupLink()).toBeUndefined()
    },
  },

  'sign-in starts are throttled across processes, and a browser shows the reason': {
    limits: { starts: { max: 3, windowMs: 60_000 } },
    async run({ world }) {
      const browser = world.browser()
      for (const at of [0, 1, 0] as const)
        expect((await browser.ask('GET /api/auth/oidc/start', { at })).status).toBe(302)
      const refused = await browser.ask('GET /api/auth/oidc/start', { at: 1 })
      expect(refused).toMatchObject({ status: 429, body: { code: 'limit-reached' } })
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
      const page = await browser.ask('GET /api/auth/oidc/start', { headers: { accept: 'text/html,*/*' } })
      expect([page.status, page.headers.get('location')]).toEqual([302, '/sign-in?problem=limit-reached'])
      expect((await world.browser('192.0.2.2').ask('GET /api/auth/oidc/start')).status).toBe(302)
    },
  },

  'failed callbacks are throttled and successful ones do not count': {
    limits: { address: { max: 3, windowMs: 60_000 } },
    async run(setup) {
      const { world, provider } = setup
      await invite(setup, 'ann@example.com')
      provider.rules.claims = ANN
      for (let n = 0; n < 5; n++) expect(await through(setup, world.browser())).toBe('/tools?q=x')
      const asked = provider.requests.length
      const made = 'GET /api/auth/oidc/callback?state=x&code=y'
      for (const at of [0, 1, 0] as const) expect((await world.browser().ask(made, { at })).status).toBe(302)
      expect(await world.browser().ask(made, { at: 1 })).toMatchObject({ status: 429 })
      expect(provider.requests).toHaveLength(asked)
      // Whoever has a password still comes in.
      const { status } = await world
        .browser()
        .ask('POST /api/auth/sign-in', { body: { email: 'olga@example.com', password: PASSWORD } })
      expect(status).toBe(200)
    },
  },
}
