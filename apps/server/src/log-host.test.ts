/** Which lines an operator finds in the log when toolkits are not what somebody counted on. */
import { createExecutionContext, createHost, type Host } from 'loadout'
import { nodeDrivers } from 'loadout/node'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { startFaultServer } from '../../../packages/loadout/src/testing/fault-http.ts'
import { createLog } from './log.ts'
import { logHost } from './log-host.ts'

let host: Host
let lines: Array<Record<string, unknown>>
beforeEach(() => {
  lines = []
  const log = createLog('debug', { write: (line: string) => void lines.push(JSON.parse(line)) })
  host = createHost({ drivers: nodeDrivers({ guard: { privateNetwork: true } }) })
  logHost(host, log)
})
afterEach(() => host.close())

const INFO = 30
const WARN = 40
const principal = { kind: 'session', userId: 'ann', role: 'user', scopes: ['call'] } as const
const setUp = (names: string[]) =>
  host.setupToolkits(names, { context: createExecutionContext({ principal, scope: { userId: 'ann' } }) })

it('says where each name was found, as it should be', async () => {
  const server = await startFaultServer({ tools: [{ name: 'echo', inputSchema: { type: 'object' } }] })
  await host.toolkits.register({ name: 'kit', url: server.url }, { tier: 'user', userId: 'ann' })
  await using _run = await setUp(['kit'])
  expect(lines).toMatchObject([
    {
      level: INFO,
      msg: 'toolkits resolved',
      resolved: [{ name: 'kit', from: 'stored', tools: ['echo'] }],
      missing: [],
    },
  ])
  await server.close()
})

it('warns of what is missing, with its name', async () => {
  await using _run = await setUp(['nowhere'])
  expect(lines).toMatchObject([{ level: WARN, msg: 'toolkits resolved', missing: ['nowhere'] }])
})

it('warns of a server that fails, by its code and not in its words', async () => {
  const server = await startFaultServer({ http: { initialize: AWAY, 'server/discover': AWAY } })
  const { stored } = await host.toolkits.register(
    { name: 'kit', url: server.url, headers: { 'X-Key': 's3cret-of-ann' } },
    { tier: 'user', userId: 'ann' },
  )
  await host.catalog.introspect(stored, 'ann').catch(() => {})
  expect(lines).toContainEqual(
    expect.objectContaining({
      level: WARN,
      msg: 'a server failed',
      userId: 'ann',
      toolkit: 'kit',
      code: expect.any(String),
    }),
  )
  expect(JSON.stringify(lines)).not.toContain('Out of order')
  expect(JSON.stringify(lines)).not.toContain('s3cret-of-ann')
  await server.close()
})

const AWAY = { status: 503, body: 'Out of order' }
