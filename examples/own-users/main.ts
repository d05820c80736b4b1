/** An app with its own users passes them with one function. */
import assert from 'node:assert/strict'
//#region example
import { createHost } from '@loadout/core'
import { createApp } from '@loadout/server'

const host = createHost()
const readUserId = (request: Request) => request.headers.get('x-user') // your session, your cookie, your token

const app = createApp({
  host,
  authenticate: (request) => {
    const userId = readUserId(request)
    return userId === null ? undefined : { kind: 'session', userId }
  },
})
export const handle = app.fetch // for any server with Request and Response
//#endregion
const send = (user?: string) => app.request('/api/mcp', user === undefined ? {} : { headers: { 'x-user': user } })
assert.equal((await send('ann')).status, 200)
assert.equal((await send()).status, 401)
await host.close()
