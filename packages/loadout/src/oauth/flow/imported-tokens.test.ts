/** Tokens that an app has already, handed over: used, renewed and revoked like those of a sign-in here. */
import { createHash } from 'node:crypto'
import { expect, it } from 'vitest'
import { callbackOf, follow, type OAuthServer } from '../../../../../test/oauth-server.ts'
import { call, REDIRECT, register, signInHosts, textOf } from '../../../../../test/sign-in-hosts.ts'

const { server, hostOf } = signInHosts()
const CLIENT = 'client-of-the-app'

/** The app's own sign-in, by hand. */
async function tokensOf({ base }: OAuthServer, login: string) {
  const verifier = 'v'.repeat(43)
  const challenge = createHash('sha256').update(verifier).digest('base64url')
  const query = { client_id: CLIENT, redirect_uri: REDIRECT, code_challenge: challenge, state: 's' }
  const { code = '' } = callbackOf(await follow(`${base}/authorize?${new URLSearchParams(query)}`, login))
  const grant = { grant_type: 'authorization_code', code, code_verifier: verifier, redirect_uri: REDIRECT }
  const answer = await fetch(`${base}/token`, { method: 'POST', body: new URLSearchParams(grant) })
  const { access_token: accessToken, refresh_token: refreshToken } = (await answer.json()) as Record<string, string>
  return { accessToken: accessToken ?? '', refreshToken: refreshToken ?? '', issuer: base, clientId: CLIENT }
}

it('given tokens are used for one user only and shown as a sign-in', async () => {
  const oauth = await server()
  const host = hostOf()
  await register(host, oauth.url)
  const events: unknown[] = []
  host.events.on('signed-in', (event) => void events.push(event))
  await host.signIns.give('ann', 'mail', await tokensOf(oauth, 'ann-of-the-app'))
  expect(textOf(await call(host))).toBe('ann-of-the-app')
  expect(await host.signIns.view('ann', 'mail')).toMatchObject({ status: 'signed-in', issuer: oauth.base })
  expect(events).toMatchObject([{ userId: 'ann', toolkit: 'mail' }])
  expect(JSON.stringify(await host.views.one('ann', 'mail'))).not.toContain('access-ann')
})

it('given tokens are refreshed before expiry and after a refusal, and revoked on disconnect', async () => {
  const oauth = await server()
  const host = hostOf()
  await register(host, oauth.url)
  const tokens = await tokensOf(oauth, 'ann')
  await host.signIns.give('ann', 'mail', { ...tokens, expiresAt: new Date(Date.now() - 1000).toISOString() })
  expect(textOf(await call(host))).toBe('ann')
  expect(oauth.counts.refreshed).toBe(1)
  oauth.expire()
  expect(textOf(await call(host))).toBe('ann')
  expect(oauth.counts.refreshed).toBe(2)
  expect(await host.signIns.disconnect('ann', 'mail')).toEqual({ revoked: true })
  expect(await call(host)).toMatchObject({ status: 'sign-in-needed' })
})

it('given tokens without a refresh token work until they expire, and then a sign-in is needed', async () => {
  const oauth = await server()
  const host = hostOf()
  await register(host, oauth.url)
  const { accessToken } = await tokensOf(oauth, 'ann')
  await host.signIns.give('ann', 'mail', { accessToken })
  expect(textOf(await call(host))).toBe('ann')
  oauth.expire()
  expect(await call(host)).toMatchObject({
    status: 'sign-in-needed',
    error: { action: expect.stringMatching(/^http/) },
  })
})

it('given tokens are rejected for another issuer or user, without a client ID or if unreadable', async () => {
  const oauth = await server()
  const host = hostOf()
  await register(host, oauth.url)
  const tokens = await tokensOf(oauth, 'ann')
  const give = (input: object) => host.signIns.give('ann', 'mail', input as never)
  await expect(give({ ...tokens, issuer: 'https://evil.example' })).rejects.toMatchObject({ code: 'sign-in-failed' })
  await expect(give({ ...tokens, clientId: undefined })).rejects.toMatchObject({ errors: [{ path: 'clientId' }] })
  await expect(give({ accessToken: '' })).rejects.toMatchObject({ code: 'invalid-input' })
  await expect(give({ ...tokens, access_token: 'x' })).rejects.toMatchObject({ code: 'invalid-input' })
  await expect(host.signIns.give('bob', 'mail', tokens)).rejects.toMatchObject({ code: 'not-found' })
  expect(await host.signIns.view('ann', 'mail')).toBeUndefined()
})
