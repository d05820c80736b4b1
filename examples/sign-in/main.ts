/** A server that wants its users to sign in: a link from the call that needs it, and a call that goes through afterwards. */
import assert from 'node:assert/strict'
import { follow, OAuthServer } from '../../test/oauth-server.ts'

const mail = await OAuthServer.start()

import { nodeDrivers } from '@loadout/core/node'
//#region example
import { createServices } from '@loadout/core/services'

await using host = createServices({
  drivers: nodeDrivers({ guard: { privateNetwork: true } }), // only because the server of this example is on this machine
  signIn: { redirectUrl: 'http://localhost:4300/api/oauth/callback' }, // your page that people come back to
})
await host.toolkits.register({ name: 'mail', url: mail.url, auth: 'oauth' }, { tier: 'app' })
const call = { userId: 'ann', toolkit: 'mail', tool: 'whoami', arguments: {}, caller: { type: 'direct' as const } }

const refused = await host.calls.start(call).outcome
if (refused.status !== 'sign-in-needed') throw new Error('nobody is signed in yet')
const link = refused.error.action // show it to Ann: good once, for ten minutes, wherever she reaches your page

const { searchParams } = await follow(link, 'ann@example') // Ann signs in, and her browser comes back to your page
const callback = {
  state: searchParams.get('state') ?? '',
  code: searchParams.get('code') ?? '',
  iss: searchParams.get('iss') ?? '',
}
await host.signIns.finish(callback, { userId: 'ann' }) // whoever your session says it is

const outcome = await host.calls.start(call).outcome
const shown = await host.signIns.view('ann', 'mail')
await host.signIns.disconnect('ann', 'mail')
//#endregion
assert.match(link, /^http:\/\/127\.0\.0\.1:\d+\/authorize\?/)
assert.equal('content' in outcome && outcome.content[0]?.text, 'ann@example')
assert.equal(shown?.status, 'signed-in')
await mail.close()
