/** Without a guard nothing that a user names is connected to; what the operator set up is, and whoever knows better says so. */
import { afterEach, beforeEach, expect, it } from 'vitest'
import { type RunningServer, startHttpServer } from '../../../../test/real-servers.ts'
import { createServices, type HostServices } from '../host/create-services.ts'
import { rule } from '../policy/rules.ts'
import { webDrivers } from './web-drivers.ts'

let server: RunningServer
let host: HostServices
beforeEach(async () => {
  server = await startHttpServer('modern')
})
afterEach(async () => {
  await host.close()
  await server.close()
})

const ANN = { tier: 'user', userId: 'ann' } as const
const TOOLS = [{ name: 'echo', inputSchema: { type: 'object' as const } }]
const echo = () =>
  host.calls.start({
    userId: 'ann',
    toolkit: 'kit',
    tool: 'echo',
    arguments: { text: 'hi' },
    caller: { type: 'direct' },
  }).outcome

it('a user server is blocked with a fix and gets no request if no guard checks its address', async () => {
  host = createServices({ policy: [rule('*', 'allow')] })
  await host.toolkits.register({ name: 'kit', url: server.url, tools: TOOLS }, ANN)
  expect(await echo()).toMatchObject({
    status: 'failed',
    error: { code: 'address-blocked', action: expect.stringContaining('nodeDrivers()') },
  })
  const state = { status: 'error', action: expect.stringContaining('unguarded: true') }
  expect((await host.views.one('ann', 'kit')).state).toMatchObject(state)
  expect(server.metas).toEqual([])
})

it('an operator server is reachable, and a user server is reachable with unguarded', async () => {
  host = createServices({ policy: [rule('*', 'allow')], mcpServers: { kit: { url: server.url } } })
  expect(await echo()).toMatchObject({ status: 'ok' })
  await host.close()
  host = createServices({ policy: [rule('*', 'allow')], drivers: webDrivers({ unguarded: true }) })
  await host.toolkits.register({ name: 'kit', url: server.url }, ANN)
  expect(await echo()).toMatchObject({ status: 'ok' })
})
