/** Sign-in by a provider, in memory. On PostgreSQL it stands in `oidc.pg.test.ts`. */
import { memory } from 'loadout/storage/memory'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { OidcServer } from '../../../../test/oidc-server.ts'
import { OIDC_CASES } from '../testing/oidc-cases.ts'
import { signInWorld } from '../testing/sign-in-world.ts'
import { isOwnPath } from './bounds.ts'

let provider: OidcServer
beforeEach(async () => {
  provider = await OidcServer.start()
})
afterEach(() => provider.close())

for (const [name, { signUp = false, trustEmail = false, run }] of Object.entries(OIDC_CASES))
  it(name, async () => {
    const storage = memory()
    const { issuer, clientId, clientSecret } = provider
    const oidc = { issuer, clientId, clientSecret, name: 'Work', trustEmail }
    const world = await signInWorld([storage, storage], { oidc, signUp })
    await run({ world, provider })
    expect(provider.refusals).toEqual([])
    await world.close()
  })

it('an own path begins with one slash and holds no trick', () => {
  for (const path of ['/', '/tools?q=x#y', '/a/b/../c']) expect(isOwnPath(path), path).toBe(true)
  for (const path of ['', 'tools', '//x', '/\\x', 'https://x', '/a\nb', '/a\\b'])
    expect(isOwnPath(path), path).toBe(false)
})
