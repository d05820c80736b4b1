/** Token life cycle: refreshed ahead and on 401, rotated, invalid, revoked, without a scope. */
import { expect } from 'vitest'
import type { OAuthRules, OAuthServer } from '../../../../../test/oauth-server.ts'
import { pause, type ScenarioContext, type Scenarios } from './scenario-context.ts'

/** Signed in by the link that the API gave when the toolkit was added, and used once. */
async function signedIn(world: ScenarioContext, rules: Partial<OAuthRules> = {}): Promise<OAuthServer> {
  const oauth = await world.oauth(rules)
  expect(world.view.state).toMatchObject({ status: 'sign-in-needed', url: expect.stringContaining('/authorize?') })
  await world.signIn(world.view.state.url)
  expect(await world.call('whoami')).toMatchObject({ status: 200, body: { content: [{ text: 'ann' }] } })
  expect(oauth.counts).toMatchObject({ authorized: 1, ...(rules.expiresIn === undefined ? { refreshed: 0 } : {}) })
  return oauth
}

const NEEDED = { status: 409, body: { code: 'sign-in-needed', action: expect.stringMatching(/^http.*\/authorize\?/) } }

export const SIGN_IN: Scenarios = {
  async 'a token that is about to expire is refreshed before it is used'(world) {
    const oauth = await signedIn(world, { expiresIn: 2 })
    const { refused } = oauth.counts
    oauth.rules.expiresIn = 3600
    await pause(1850)
    expect((await world.call('whoami')).status).toBe(200)
    // A busy machine may need the token near its end during the sign-in already; it is never sent after its end.
    expect(oauth.counts).toMatchObject({ refused, reused: 0 })
    expect(oauth.counts.refreshed).toBeGreaterThan(0)
  },

  async 'a 401 refreshes the token and the call runs once'(world) {
    const oauth = await signedIn(world)
    oauth.expire()
    expect((await world.call('whoami', { asked: 'again' })).status).toBe(200)
    expect(oauth.counts).toMatchObject({ refreshed: 1, authorized: 1 })
    expect(oauth.calls.filter(({ asked }) => asked === 'again')).toHaveLength(1)
  },

  async 'concurrent calls use a rotating refresh token once'(world) {
    const oauth = await signedIn(world, { refreshMs: 300 })
    oauth.expire()
    const answers = await Promise.all(Array.from({ length: 20 }, (_, i) => world.call('whoami', { asked: `${i}` })))
    expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200))
    expect(oauth.counts).toMatchObject({ refreshed: 1, reused: 0 })
    expect(new Set(oauth.calls.map(({ asked }) => asked)).size).toBe(21)
  },

  async 'each refresh uses the newest refresh token'(world) {
    const oauth = await signedIn(world)
    for (let turn = 1; turn <= 4; turn++) {
      oauth.expire()
      expect((await world.call('whoami')).status).toBe(200)
      expect(oauth.counts).toMatchObject({ refreshed: turn, reused: 0 })
    }
  },

  async 'an invalid refresh token is tried once, then a sign-in link is returned'(world) {
    const oauth = await signedIn(world)
    oauth.rules.refreshError = { status: 400, error: 'invalid_grant' }
    oauth.expire()
    const refused = await world.call('whoami')
    expect(refused).toMatchObject(NEEDED)
    expect(await world.call('whoami')).toMatchObject(NEEDED)
    expect(oauth.counts.refreshed).toBe(1)
    expect((await world.ask(`GET /mcp/${world.id}`)).body.state.status).toBe('sign-in-needed')
    oauth.rules.refreshError = undefined
    await world.signIn(refused.body.action, 'bob')
    expect((await world.call('whoami')).body.content[0].text).toBe('bob')
  },

  async 'a short outage of the authorization server does not end the sign-in'(world) {
    const oauth = await signedIn(world)
    oauth.rules.refreshError = { status: 503, error: 'temporarily_unavailable' }
    oauth.expire()
    expect(await world.call('whoami')).toMatchObject({ status: 502, body: { code: 'server-unreachable' } })
    oauth.rules.refreshError = undefined
    expect((await world.call('whoami')).status).toBe(200)
    expect(oauth.counts).toMatchObject({ authorized: 1, reused: 0 })
  },

  async 'a sign-in that was revoked at the server is requested again'(world) {
    const oauth = await signedIn(world)
    oauth.forget()
    const before = oauth.calls.length
    expect(await world.call('whoami')).toMatchObject(NEEDED)
    expect(oauth.counts.refreshed).toBe(1)
    expect(oauth.calls).toHaveLength(before)
  },

  async 'without a refresh token the sign-in link is returned at once'(world) {
    const oauth = await signedIn(world, { refresh: false })
    oauth.expire()
    expect(await world.call('whoami')).toMatchObject(NEEDED)
    expect(oauth.counts.refreshed).toBe(0)
  },

  async 'a missing scope is requested by the sign-in link, and then the call works'(world) {
    const oauth = await signedIn(world)
    oauth.rules.callScope = 'mail.write'
    const refused = await world.call('whoami', { asked: 'more' })
    expect(refused).toMatchObject(NEEDED)
    expect(new URL(refused.body.action).searchParams.get('scope')?.split(' ')).toContain('mail.write')
    await world.signIn(refused.body.action)
    expect((await world.call('whoami', { asked: 'more' })).status).toBe(200)
    expect(oauth.calls.filter(({ asked }) => asked === 'more')).toHaveLength(1)
  },

  async 'signing out revokes both tokens at the server'(world) {
    const oauth = await signedIn(world)
    expect(await world.ask('POST /oauth/disconnect', { toolkit: world.id })).toMatchObject({ status: 200 })
    expect(oauth.counts.revoked).toBe(2)
    expect(await world.call('whoami')).toMatchObject(NEEDED)
    expect(oauth.counts.refreshed).toBe(0)
  },
}
