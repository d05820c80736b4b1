/** What servers name is reached as users' servers are, whoever set the toolkit up: an app's own server is no way inside. */
import { describe, expect, it } from 'vitest'
import { callbackOf, follow, type OAuthServer } from '../../../../test/oauth-server.ts'
import { call, signInHosts, textOf } from '../../../../test/sign-in-hosts.ts'
import { nodeDrivers } from '../../src/connections/node-drivers.ts'
import type { HostServices } from '../../src/host/create-services.ts'

const { server, hostOf } = signInHosts()
const APP = { tier: 'app' } as const

/** Another machine of the private network, as far as the guard can tell. */
const victim = () => server({ authorizationEndpoint: 'http://127.0.0.1:1/authorize' }, '127.0.0.2')

async function registerAt(host: HostServices, oauth: OAuthServer): Promise<void> {
  await host.toolkits.register({ name: 'mail', url: oauth.url, auth: 'oauth' }, APP)
}

describe('an app server in the private network', () => {
  it('signs users in on its own host', async () => {
    const oauth = await server()
    const host = hostOf({ drivers: nodeDrivers() })
    await registerAt(host, oauth)
    const { url } = await host.signIns.start('ann', 'mail')
    await host.signIns.finish(callbackOf(await follow(url, 'ann')))
    expect(textOf(await call(host))).toBe('ann')
  })

  it('cannot lead to another private host by its authorization server', async () => {
    const inside = await victim()
    const oauth = await server({ authorizationServers: [inside.base] })
    const host = hostOf({ drivers: nodeDrivers() })
    await registerAt(host, oauth)
    await expect(host.signIns.start('ann', 'mail')).rejects.toMatchObject({ code: 'address-blocked' })
    await call(host)
    expect(inside.requests).toEqual([])
  })

  it('cannot lead to another private host by its registration endpoint', async () => {
    const inside = await victim()
    const oauth = await server({ registrationEndpoint: `${inside.base}/internal/admin` })
    const host = hostOf({ drivers: nodeDrivers() })
    await registerAt(host, oauth)
    await expect(host.signIns.start('ann', 'mail')).rejects.toMatchObject({ code: 'address-blocked' })
    expect(inside.requests).toEqual([])
  })

  it('cannot lead to another private host by a redirect', async () => {
    const inside = await victim()
    const oauth = await server({ metadataRedirect: `${inside.base}/.well-known/oauth-protected-resource/mcp` })
    const host = hostOf({ drivers: nodeDrivers() })
    await registerAt(host, oauth)
    await host.signIns.start('ann', 'mail')
    expect(oauth.requests.some((request) => request.includes('oauth-protected-resource'))).toBe(true)
    expect(inside.requests).toEqual([])
  })

  it('may use another private host that the operator allows', async () => {
    const inside = await victim()
    const oauth = await server({ authorizationServers: [inside.base] })
    const host = hostOf({ drivers: nodeDrivers({ guard: { allow: ['127.0.0.2'] } }) })
    await registerAt(host, oauth)
    await host.signIns.start('ann', 'mail')
    expect(inside.counts.registered).toBe(1)
  })
})
