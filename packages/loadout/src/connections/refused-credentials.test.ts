/** A 401 or 403 to what the toolkit itself brings is no sign-in: it says what to replace. */
import { afterEach, describe, expect, it } from 'vitest'
import { signInHosts } from '../../../../test/sign-in-hosts.ts'
import { type HttpFaultServer, type HttpFaults, startFaultServer } from '../../test/fixtures/fault-http.ts'
import type { HostServices } from '../host/create-services.ts'

const { server: oauthServer, hostOf } = signInHosts()
const ANN = { tier: 'user', userId: 'ann' } as const
const servers: HttpFaultServer[] = []
afterEach(async () => void (await Promise.all(servers.splice(0).map((server) => server.close()))))

const refusing = (status: number): HttpFaults => ({
  http: { initialize: { status }, 'server/discover': { status }, 'tools/call': { status } },
})
async function start(script: HttpFaults): Promise<string> {
  const server = await startFaultServer(script)
  servers.push(server)
  return server.url
}

const echo = (host: HostServices, userId = 'ann') =>
  host.calls.start({ userId, toolkit: 'kit', tool: 'echo', arguments: {}, caller: { type: 'direct' } }).outcome
const TOOLS = [{ name: 'echo', inputSchema: { type: 'object' as const } }]

const BRINGS = {
  'a token': { auth: { type: 'bearer', token: 'tok-of-ann' } },
  'headers of auth': { auth: { type: 'headers', headers: { 'X-Team': 'tok-of-ann' } } },
  'a header': { headers: { Authorization: 'Bearer tok-of-ann' } },
  'a key in its URL': { query: '?api_key=tok-of-ann-0123456789' },
}

describe('a toolkit with its own credentials', () => {
  it.each(Object.entries(BRINGS))('such as %s asks to replace them after a 401', async (_, credentials) => {
    const { query = '', ...extra } = credentials as { query?: string }
    const url = `${await start(refusing(401))}${query}`
    const host = hostOf()
    await host.toolkits.register({ name: 'kit', url, tools: TOOLS, ...extra }, ANN)
    const outcome = await echo(host)
    expect(outcome).toMatchObject({
      status: 'failed',
      error: { code: 'credentials-refused', status: 502, action: 'Replace the token of the toolkit.' },
    })
    expect((await host.views.one('ann', 'kit')).state).toMatchObject({
      status: 'error',
      reason: 'The server answered 401: it does not take the credentials of the toolkit.',
      action: 'Replace the token of the toolkit.',
    })
  })

  it('reports missing permission after a 403, even with a token that worked before', async () => {
    const script: HttpFaults = {}
    const url = await start(script)
    const host = hostOf()
    await host.toolkits.register({ name: 'kit', url, auth: BRINGS['a token'].auth }, ANN)
    expect(await echo(host)).toMatchObject({ status: 'ok' })
    Object.assign(script, refusing(403))
    expect(await echo(host)).toMatchObject({
      error: { code: 'credentials-refused', message: expect.stringContaining('may not do this') },
    })
    expect((await host.views.one('ann', 'kit')).state.status).toBe('error')
  })

  it('of the app refers its users to the operator', async () => {
    const host = hostOf()
    const url = await start(refusing(401))
    await host.toolkits.register({ name: 'kit', url, tools: TOOLS, auth: BRINGS['a token'].auth }, { tier: 'app' })
    const action = 'Ask the operator to replace the token of the toolkit.'
    expect(await echo(host)).toMatchObject({ error: { code: 'credentials-refused', action } })
  })
})

describe('a sign-in request', () => {
  it('is kept for a toolkit without credentials and for a server that offers a sign-in', async () => {
    const host = hostOf()
    await host.toolkits.register({ name: 'kit', url: await start(refusing(401)), tools: TOOLS }, ANN)
    expect(await echo(host)).toMatchObject({ status: 'sign-in-needed' })
    const oauth = await oauthServer()
    const headers = { Authorization: 'Bearer wrong' }
    await host.toolkits.register({ name: 'kit', url: oauth.url, tools: TOOLS, headers }, ANN)
    expect(await echo(host)).toMatchObject({
      status: 'sign-in-needed',
      error: { action: expect.stringMatching(/^http/) },
    })
  })
})
