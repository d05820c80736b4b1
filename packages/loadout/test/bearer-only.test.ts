/** A server that takes a token and describes no sign-in (R11). */
import { afterEach, beforeEach, expect, it } from 'vitest'
import { nodeDrivers } from '../src/connections/node-drivers.ts'
import { createServices, type HostServices } from '../src/host/create-services.ts'
import { type HttpRefusals, startRefusingServer } from './fixtures/refusing-server.ts'

const TOKEN = 'token-of-the-bearer-only-server'
const ann = { tier: 'user', userId: 'ann' } as const
const ADD = 'Add a token or header to this server.'

let host: HostServices
let server: HttpRefusals

beforeEach(async () => {
  server = await startRefusingServer('modern', { token: TOKEN })
  host = createServices({
    drivers: nodeDrivers({ guard: { privateNetwork: true } }),
    signIn: { redirectUrl: 'http://127.0.0.1:9/api/oauth/callback' },
  })
})
afterEach(async () => {
  await host.close()
  await server.close()
})

const look = async (changes: object = {}) => {
  const { stored } = await host.toolkits.register({ id: 'kit', name: 'kit', url: server.url, ...changes }, ann)
  return host.catalog.introspect(stored, 'ann').catch((error) => error)
}
const state = async () => (await host.views.one('ann', 'kit')).state

it('says that a token is needed, and is no server to sign in to', async () => {
  expect(await look()).toMatchObject({ code: 'sign-in-needed', status: 409, action: ADD })
  expect(await state()).toEqual({
    status: 'sign-in-needed',
    action: ADD,
    reason: 'The server answered 401 and offers no sign-in.',
  })
  await expect(host.signIns.start('ann', 'kit')).rejects.toMatchObject({ code: 'sign-in-failed', action: ADD })
})

it('connects with the token', async () => {
  await look()
  await look({ auth: { type: 'bearer', token: TOKEN } })
  expect(await state()).toEqual({ status: 'connected' })
})

it('says that a wrong token is refused', async () => {
  expect(await look({ auth: { type: 'bearer', token: 'another-token-than-it-takes' } })).toMatchObject({
    code: 'credentials-refused',
  })
  expect(await look({ auth: 'none', headers: { Authorization: 'Bearer wrong-in-a-header' } })).toMatchObject({
    code: 'credentials-refused',
  })
})
