/** Log entries about missing, failed and dropped toolkits. */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createExecutionContext } from '@loadout/core'
import { nodeDrivers } from '@loadout/core/node'
import { createServices, type HostServices } from '@loadout/core/services'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { createLog } from './log.ts'
import { logHost } from './log-host.ts'

let host: HostServices
let lines: Array<Record<string, unknown>>
/** A server that always fails. */
let server: Server
let url: string
beforeEach(async () => {
  server = createServer((_, response) => response.writeHead(503).end('Out of order'))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`
  lines = []
  const log = createLog('debug', { write: (line: string) => void lines.push(JSON.parse(line)) })
  host = createServices({ drivers: nodeDrivers({ guard: { privateNetwork: true } }) })
  logHost(host, log)
})
afterEach(async () => {
  await host.close()
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
})

const INFO = 30
const WARN = 40
const principal = { kind: 'session', userId: 'ann', role: 'user', scopes: ['call'] } as const
const setUp = (names: string[]) =>
  host.setupToolkits(names, { context: createExecutionContext({ principal, scope: { userId: 'ann' } }) })

it('the host log reports where each toolkit name was resolved', async () => {
  const tools = [{ name: 'echo', inputSchema: { type: 'object' } }]
  await host.toolkits.register({ name: 'kit', url, tools }, { tier: 'user', userId: 'ann' })
  await using _run = await setUp(['kit'])
  expect(lines).toMatchObject([
    {
      level: INFO,
      msg: 'toolkits resolved',
      resolved: [{ name: 'kit', from: 'stored', tools: ['echo'] }],
      missing: [],
    },
  ])
})

it('the host log warns about a missing toolkit by name', async () => {
  await using _run = await setUp(['nowhere'])
  expect(lines).toMatchObject([{ level: WARN, msg: 'toolkits resolved', missing: ['nowhere'] }])
})

it('the host log warns about a failed server with its code and not with its own message', async () => {
  const { stored } = await host.toolkits.register(
    { name: 'kit', url, headers: { 'X-Key': 's3cret-of-ann' } },
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
})
