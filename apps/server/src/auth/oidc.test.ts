/** OIDC sign-in in memory; `oidc.pg.test.ts` covers PostgreSQL. */
import { request as httpRequest } from 'node:http'
import { memory } from '@loadout/core/storage/memory'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { listen } from '../../../../test/loopback.ts'
import { OidcServer } from '../../../../test/oidc-server.ts'
import { OIDC_CASES, through } from '../../test/support/oidc-cases.ts'
import { signInServers } from '../../test/support/sign-in-servers.ts'
import { isLocalPath } from './input-limits.ts'

let provider: OidcServer
beforeEach(async () => {
  provider = await OidcServer.start()
})
afterEach(() => provider.close())

for (const [name, { signUp = false, byPassword = true, trustEmail = false, limits = {}, run }] of Object.entries(
  OIDC_CASES,
))
  it(name, async () => {
    const storage = memory()
    const { issuer, clientId, clientSecret } = provider
    const oidc = { issuer, clientId, clientSecret, name: 'Work', trustEmail }
    const world = await signInServers([storage, storage], { oidc, signUp, byPassword, limits })
    await run({ world, provider })
    expect(provider.refusals).toEqual([])
    await world.close()
  })

it("OIDC sends every provider request through the operator's proxy", async () => {
  const requests: string[] = []
  await using proxy = await listen((request, response) => {
    requests.push(`${request.method} ${request.url}`)
    const onwards = httpRequest(request.url ?? '', { method: request.method, headers: request.headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(response)
    })
    request.pipe(onwards)
  })
  const { issuer, clientId, clientSecret } = provider
  const oidc = { issuer, clientId, clientSecret, name: 'Work', trustEmail: false }
  const storage = memory()
  const reach = { proxy: { url: `http://127.0.0.1:${proxy.port}` } }
  const world = await signInServers([storage, storage], { oidc, signUp: true, reach })
  provider.rules.claims = { sub: 'ann', email: 'ann@example.com', email_verified: true, name: 'Ann' }
  expect(await through({ world, provider }, world.browser())).toBe('/tools?q=x')
  const paths = requests.map((line) => line.replace(issuer, ''))
  // Both processes read the metadata; the one that handles the callback makes the other requests.
  expect(paths.sort()).toEqual([
    'GET /.well-known/openid-configuration',
    'GET /.well-known/openid-configuration',
    'GET /jwks',
    'POST /token',
  ])
  expect(provider.requests.filter((line) => !line.includes('/authorize'))).toHaveLength(paths.length)
  await world.close()
})

it('isOwnPath accepts only paths that start with one slash and contain no backslash or line break', () => {
  for (const path of ['/', '/tools?q=x#y', '/a/b/../c']) expect(isLocalPath(path), path).toBe(true)
  for (const path of ['', 'tools', '//x', '/\\x', 'https://x', '/a\nb', '/a\\b'])
    expect(isLocalPath(path), path).toBe(false)
})
