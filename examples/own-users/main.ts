/** An app that has users already brings them by one function. */
import assert from 'node:assert/strict'
import { createServices } from '@loadout/core/services'
//#region example
import { createApp } from '@loadout/server'

const host = createServices()
const userOf = (request: Request) => request.headers.get('x-user') // your session, your cookie, your token

const app = createApp({
  host,
  authenticate: (request) => {
    const userId = userOf(request)
    return userId === null ? undefined : { kind: 'session', userId }
  },
})
export const GET = app.fetch // a Next.js route, or any server that speaks Request and Response
//#endregion
const ask = (user?: string) => app.request('/api/mcp', user === undefined ? {} : { headers: { 'x-user': user } })
assert.equal((await ask('ann')).status, 200)
assert.equal((await ask()).status, 401)
await host.close()
