/** OIDC sign-in with two processes on one PostgreSQL. */
import { postgres } from '@loadout/core/storage/postgres'
import { afterEach, beforeEach, inject, it } from 'vitest'
import { createDatabase } from '../../../../test/database.ts'
import { OidcServer } from '../../../../test/oidc-server.ts'
import { OIDC_CASES } from '../../test/support/oidc-cases.ts'
import { signInServers } from '../../test/support/sign-in-servers.ts'

let provider: OidcServer
let database: Awaited<ReturnType<typeof createDatabase>>
beforeEach(async () => {
  provider = await OidcServer.start()
  database = await createDatabase(inject('postgresUrl'))
})
afterEach(async () => {
  await provider.close()
  await database.drop()
})

for (const [name, { signUp = false, byPassword = true, trustEmail = false, limits = {}, run }] of Object.entries(
  OIDC_CASES,
))
  it(name, async () => {
    const { issuer, clientId, clientSecret } = provider
    const oidc = { issuer, clientId, clientSecret, name: 'Work', trustEmail }
    const open = () => postgres({ url: database.url })
    const world = await signInServers([open(), open()], { oidc, signUp, byPassword, limits })
    await run({ world, provider })
    await world.close()
  })
