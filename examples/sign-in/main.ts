/** A server that requires sign-in: the first call returns a link, and the same call succeeds after sign-in. */
import assert from 'node:assert/strict'
import { follow, OAuthServer } from '../../test/oauth-server.ts'

const mail = await OAuthServer.start()

//#region example
import { createHost } from '@loadout/core'
import { nodeDrivers } from '@loadout/core/node'

await using host = createHost({
  drivers: nodeDrivers({ guard: { privateNetwork: true } }), // only because the server of this example is on this machine
  oauth: { redirectUrl: 'http://localhost:4300/api/oauth/callback' }, // your callback page
})
await host.toolkits.add({ name: 'mail', url: mail.url, auth: { type: 'oauth' } })
const ann = host.user('ann')

const blocked = await ann.call('mail.whoami')
if (blocked.status !== 'sign-in-needed') throw new Error('Ann is not signed in yet')
const link = blocked.error.action // show it to Ann: valid once, for ten minutes

const { searchParams } = await follow(link, 'ann@example') // Ann signs in, and her browser opens your callback page
const callback = {
  state: searchParams.get('state') ?? '',
  code: searchParams.get('code') ?? '',
  iss: searchParams.get('iss') ?? '',
}
await ann.toolkits.finishSignIn(callback)

const outcome = await ann.call('mail.whoami')
const state = await ann.toolkits.signInState('mail')
await ann.toolkits.signOut('mail')
//#endregion
assert.match(link, /^http:\/\/127\.0\.0\.1:\d+\/authorize\?/)
assert.equal('content' in outcome && outcome.content[0]?.text, 'ann@example')
assert.equal(state?.status, 'signed-in')
await mail.close()
