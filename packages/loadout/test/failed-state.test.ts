/** The state of a failed server has a code, a reason and an action, wherever it failed (N11). */
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { nodeDrivers } from '../src/connections/node-drivers.ts'
import { ERRORS } from '../src/errors.ts'
import { createServices, type HostServices } from '../src/host/create-services.ts'
import { toolkitState } from '../src/schema/toolkit/toolkit.ts'
import { memory } from '../src/storage/memory.ts'
import type { Storage } from '../src/storage/storage.ts'
import { type HttpFaultServer, type HttpFaults, startFaultServer } from './fixtures/fault-http.ts'

const ann = { tier: 'user', userId: 'ann' } as const
const NO_SERVER = fileURLToPath(new URL('./no-such-file.ts', import.meta.url))

let storage: Storage
let host: HostServices
const servers: HttpFaultServer[] = []

const open = () =>
  createServices({
    storage,
    drivers: nodeDrivers({ guard: { privateNetwork: true }, baseEnv: { PATH: '/usr/bin:/bin' } }),
  })
beforeEach(() => {
  storage = memory()
  host = open()
})
afterEach(async () => {
  await host.close()
  await Promise.all(servers.splice(0).map((server) => server.close()))
})

async function faulty(script: HttpFaults, timeoutMs = 60_000) {
  const server = await startFaultServer(script)
  servers.push(server)
  return { url: server.url, timeouts: { introspectMs: timeoutMs, connectMs: timeoutMs } }
}

const CASES: Array<[string, string, () => Promise<object> | object]> = [
  ['a command that does not exist', 'spawn-failed', () => ({ command: '/no/such/command' })],
  ['a process that ends', 'server-crashed', () => ({ command: process.execPath, args: [NO_SERVER] })],
  ['a handshake that fails', 'server-unreachable', () => faulty({ http: { 'server/discover': { status: 503 } } })],
  [
    'a list that is none',
    'malformed-list',
    () => faulty({ at: { 'tools/list': { do: 'result', result: { tools: 5 } } } }),
  ],
  ['a list that never comes', 'server-timeout', () => faulty({ at: { 'tools/list': { do: 'hang' } } }, 500)],
  [
    'a list that is refused',
    'refused-by-server',
    () => faulty({ at: { 'tools/list': { do: 'error', code: -32_603, message: 'No database.' } } }),
  ],
]

describe.each(CASES)('after %s', (_, code, server) => {
  const expected = {
    status: 'error',
    code,
    reason: expect.not.stringMatching(/^[a-z-]+: /),
    action: expect.stringMatching(/.{10}/),
  }

  it(`the state has ${code} with a reason and an action, also in the next process`, async () => {
    const { stored } = await host.toolkits.register({ name: 'kit', ...(await server()) }, ann)
    await host.catalog.introspect(stored, 'ann').catch(() => {})
    const { state } = await host.views.one('ann', 'kit')
    expect(state).toMatchObject(expected)
    expect(toolkitState.safeParse(state).success).toBe(true)
    const next = open()
    expect((await next.views.one('ann', 'kit')).state).toMatchObject(expected)
    await next.close()
  })
})

it('reads failures that were stored without an action', async () => {
  const { stored } = await host.toolkits.register({ name: 'kit', url: 'http://127.0.0.1:9/mcp' }, ann)
  await storage.transaction({ caller: 'introspection', userId: 'ann' }, (tx) =>
    tx.update('userServerConfigs', stored.uscoId, {
      set: {
        introspectionStatus: 'error',
        introspectionReason: 'server-timeout: It took too long.',
        introspectedAt: new Date(),
      },
    }),
  )
  expect((await host.views.one('ann', 'kit')).state).toEqual({
    status: 'error',
    code: 'server-timeout',
    reason: 'It took too long.',
    action: ERRORS['server-timeout'].action,
  })
})
