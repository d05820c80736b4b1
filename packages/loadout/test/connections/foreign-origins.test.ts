/**
 * Rows 50 and 51 of the fault matrix: a server that sends us elsewhere. What is secret is for its own origin, and where
 * the guard refuses an address, nothing arrives there at all. That the other origin can be reached is shown in each.
 */

import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  createGuardedFetch,
  type GuardOptions,
  withOriginHeaders,
} from '../../src/connections/http/guard/guarded-fetch.ts'
import { nodeDrivers } from '../../src/connections/node-drivers.ts'
import { createServices, type HostServices } from '../../src/host/create-services.ts'
import { rule } from '../../src/policy/rules.ts'
import { type HttpFaultServer, type HttpFaults, startFaultServer } from '../fixtures/fault-http.ts'
import { SIGN_IN } from '../fixtures/sign-in.ts'

const SECRET = 'secret-of-the-origin'
const ann = { tier: 'user', userId: 'ann' } as const
const LOCAL: GuardOptions = { privateNetwork: true }
/** Lets one name through and refuses all else that is local. */
const HOME_ONLY: GuardOptions = { allow: ['home.test'], lookup: async () => [{ address: '127.0.0.1', family: 4 }] }

let host: HostServices | undefined
let home: HttpFaultServer
let away: HttpFaultServer
let script: HttpFaults

beforeEach(async () => {
  script = { http: {} }
  home = await startFaultServer(script)
  away = await startFaultServer({})
})
afterEach(async () => {
  await host?.close()
  host = undefined
  await Promise.all([home.close(), away.close()])
})

const carries = ({ requests }: HttpFaultServer) => requests.map(({ headers }) => headers['x-key'] === SECRET)
const holdsSecret = ({ requests }: HttpFaultServer) => JSON.stringify(requests).includes(SECRET)
const homeUrl = () => home.url.replace('127.0.0.1', 'home.test')

async function newToolkit(guard: GuardOptions, record: object): Promise<HostServices> {
  host = createServices({ policy: [rule('*', 'allow')], drivers: nodeDrivers({ guard }) })
  const timeouts = { introspectMs: 2000, callMs: 2000 }
  await host.toolkits.register({ name: 'kit', headers: { 'X-Key': SECRET }, timeouts, ...record }, ann)
  return host
}
const look = async ({ toolkits, catalog }: HostServices, name = 'kit') =>
  catalog.introspect(await toolkits.find('ann', name), 'ann').then(
    () => 'ok',
    (error) => error.code as string,
  )
const call = async ({ calls }: HostServices) => {
  const request = { userId: 'ann', toolkit: 'kit', tool: 'echo', arguments: { text: SECRET } }
  const outcome = await calls.start({ ...request, caller: { type: 'direct' } }).outcome
  return 'error' in outcome ? outcome.error.code : outcome.status
}

describe('50 a redirect to another origin', () => {
  /** The other origin is one that this host can reach, and it notes who comes. */
  async function awayIsThere(by: HostServices) {
    expect(away.requests).toEqual([])
    await by.toolkits.register({ name: 'other', url: away.url }, ann)
    expect(await look(by, 'other')).toBe('ok')
    expect(away.requests.length).toBeGreaterThan(0)
    expect(holdsSecret(away)).toBe(false)
  }

  for (const status of [301, 302, 303, 307, 308]) {
    const moved = () => ({ status, headers: { location: away.url } })

    it(`with ${status} in the handshake is not followed`, async () => {
      script.http = { 'server/discover': moved(), initialize: moved(), GET: moved() }
      const by = await newToolkit(LOCAL, { url: home.url })
      expect(await look(by)).toBe('protocol-error')
      expect(carries(home)).toEqual([true, true])
      await awayIsThere(by)
    })

    it(`with ${status} in the older SSE handshake is not followed`, async () => {
      script.http = { GET: moved() }
      const by = await newToolkit(LOCAL, { url: home.url, transport: 'sse' })
      expect(await look(by)).not.toBe('ok')
      expect(carries(home)).toEqual([true])
      await awayIsThere(by)
    })

    it(`with ${status} in a call is not followed`, async () => {
      script.http = { 'tools/call': moved() }
      const by = await newToolkit(LOCAL, { url: home.url })
      expect([await look(by), await call(by)]).toEqual(['ok', 'protocol-error'])
      expect(home.requests.at(-1)).toMatchObject({ rpc: 'tools/call', headers: { 'x-key': SECRET } })
      await awayIsThere(by)
    })
  }
})

describe('51 sign-in metadata on another host', () => {
  const origin = (url: string) => new URL(url).origin
  const challenged = (challenge: string) => {
    const refusal = { status: 401, headers: { 'www-authenticate': challenge } }
    script.http = { ...script.http, 'server/discover': refusal, initialize: refusal, ping: refusal }
  }
  const leads: Record<string, (url: string) => void> = {
    'by the challenge': () => challenged(`Bearer resource_metadata="${origin(away.url)}/latest/meta-data/"`),
    'by the resource': (url) => {
      const metadata = { resource: url, authorization_servers: [origin(away.url)] }
      const headers = { 'content-type': 'application/json' }
      script.http = { ...script.http, GET: { status: 200, headers, body: JSON.stringify(metadata) } }
      challenged(`Bearer resource_metadata="${origin(url)}/.well-known/oauth-protected-resource"`)
    },
  }

  /** What the SDK does when a server wants a sign-in, over the fetch that a connection has. */
  async function startSignIn(url: string, guard: GuardOptions): Promise<void> {
    const guarded = createGuardedFetch(guard)
    const fetch = withOriginHeaders(guarded.fetch, url, { 'X-Key': SECRET })
    const transport = new StreamableHTTPClientTransport(new URL(url), { fetch, authProvider: SIGN_IN })
    await transport.start()
    await transport.send({ jsonrpc: '2.0', id: 1, method: 'ping' }).catch(() => {})
    await transport.close()
    await guarded.close()
  }

  for (const [how, lead] of Object.entries(leads)) {
    it(`named ${how} is requested without the secret`, async () => {
      lead(home.url)
      await startSignIn(home.url, LOCAL)
      expect(away.requests.length).toBeGreaterThan(0)
      expect(holdsSecret(away)).toBe(false)
      expect(carries(home)).toEqual(home.requests.map(() => true))
    })

    it(`named ${how} is not requested when its address is blocked`, async () => {
      lead(homeUrl())
      await startSignIn(homeUrl(), HOME_ONLY)
      expect(home.requests.length).toBeGreaterThan(0)
      expect(away.requests).toEqual([])
    })

    it(`named ${how} and blocked is not requested, and the host reports credentials-refused`, async () => {
      lead(homeUrl())
      const by = await newToolkit(HOME_ONLY, { url: homeUrl() })
      expect(await look(by)).toBe('credentials-refused')
      expect((await by.views.one('ann', 'kit')).state).toMatchObject({ status: 'error', code: 'credentials-refused' })
      expect(carries(home)).toEqual(home.requests.map(() => true))
      expect(home.requests.length).toBeGreaterThan(0)
      expect(away.requests).toEqual([])
    })
  }
})
