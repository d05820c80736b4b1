/** Test servers for apps, over HTTP and stdio, used through a host as an app uses them. */
import { afterEach, describe, expect, it } from 'vitest'
import { nodeDrivers } from '../../connections/node-drivers.ts'
import { createHost, type Host } from '../../host/create-host.ts'
import { rule } from '../../policy/rules.ts'
import type { Fault } from './faults.ts'
import { type McpTestServer, type McpTestTool, startMcpServer } from './start-server.ts'

const TOOLS: McpTestTool[] = [
  {
    name: 'add',
    description: 'Adds two numbers.',
    inputSchema: { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } }, required: ['a', 'b'] },
    outputSchema: { type: 'object', properties: { sum: { type: 'number' } }, required: ['sum'] },
    execute: ({ a, b }) => ({ sum: Number(a) + Number(b) }),
  },
  { name: 'say', execute: ({ text }) => `said ${text}` },
  {
    name: 'break',
    execute() {
      throw new Error('It broke.')
    },
  },
]

let host: Host
let server: McpTestServer
afterEach(async () => {
  await host.close()
  await server.close()
})

async function open(transport: 'http' | 'stdio', faults: Fault[] = []) {
  server = await startMcpServer({ name: 'kit', tools: TOOLS, transport, faults })
  const drivers = nodeDrivers({ stdio: 'on', guard: { privateNetwork: true } })
  host = createHost({ policy: { rules: [rule('*', 'allow')] }, drivers })
  const ann = host.user('ann')
  await ann.toolkits.add(server.toolkit)
  return ann
}

describe.each(['http', 'stdio'] as const)('a test server over %s', (transport) => {
  it('lists its tools, runs them in the test and notes the calls', async () => {
    const ann = await open(transport)
    expect((await ann.toolkits.refresh('kit')).tools.map(({ name }) => name)).toEqual(['add', 'say', 'break'])
    expect(await ann.call('kit.add', { a: 1, b: 2 })).toMatchObject({ status: 'ok', structuredContent: { sum: 3 } })
    expect(await ann.call('kit.say', { text: 'hi' })).toMatchObject({ content: [{ text: 'said hi' }] })
    expect(await ann.call('kit.break')).toMatchObject({ status: 'tool-error', content: [{ text: 'It broke.' }] })
    expect(server.calls).toEqual([
      { tool: 'add', arguments: { a: 1, b: 2 } },
      { tool: 'say', arguments: { text: 'hi' } },
      { tool: 'break', arguments: {} },
    ])
  })

  it.each<[kind: Fault['kind'], expected: object]>([
    [
      'error',
      { status: 'tool-error', content: [{ text: expect.stringContaining('(-32603): The test server failed.') }] },
    ],
    ['tool-error', { status: 'tool-error', content: [{ text: 'The test server failed.' }] }],
    ['malformed', { error: { code: 'protocol-error' } }],
    ['disconnect', { error: { code: transport === 'stdio' ? 'server-crashed' : 'server-unreachable' } }],
  ])('fails one call with the fault %s, and recovers', async (kind, expected) => {
    const ann = await open(transport)
    await ann.toolkits.refresh('kit')
    server.fail({ kind, tool: 'say', times: 1 })
    expect(await ann.call('kit.add', { a: 1, b: 2 })).toMatchObject({ status: 'ok' })
    expect(await ann.call('kit.say', { text: 'hi' })).toMatchObject(expected)
    expect(server.calls).toHaveLength(1)
    expect(await ann.call('kit.say', { text: 'hi' })).toMatchObject({ status: 'ok' })
  })

  it.each<Fault>([{ kind: 'silent' }, { kind: 'delay', ms: 600_000 }])(
    'leaves a call waiting with %j',
    async (fault) => {
      const ann = await open(transport, [fault])
      await ann.toolkits.refresh('kit')
      const signal = AbortSignal.timeout(200)
      expect(await ann.call('kit.say', {}, { signal })).toMatchObject({ error: { code: 'cancelled' } })
      expect(server.calls).toEqual([])
      server.recover()
      expect(await ann.call('kit.say')).toMatchObject({ status: 'ok' })
    },
  )

  it('answers after a delay', async () => {
    const ann = await open(transport, [{ kind: 'delay', ms: 50 }])
    expect(await ann.call('kit.say')).toMatchObject({ status: 'ok' })
  })

  it('fails to list tools, and lists other tools later', async () => {
    const ann = await open(transport, [{ kind: 'error', on: 'list', times: 1, message: 'Not now.' }])
    await expect(ann.toolkits.refresh('kit')).rejects.toThrow('Not now.')
    server.setTools([{ name: 'new' }])
    expect((await ann.toolkits.refresh('kit')).tools.map(({ name }) => name)).toEqual(['new'])
    expect(await ann.call('kit.new', { a: 1 })).toMatchObject({ structuredContent: { a: 1 } })
  })
})

it('a test server over HTTP answers with a status and headers', async () => {
  const ann = await open('http')
  await ann.toolkits.refresh('kit')
  server.fail({ kind: 'status', status: 429, headers: { 'retry-after': '3600' }, times: 1 })
  expect(await ann.call('kit.say')).toMatchObject({ error: { code: 'rate-limited' } })
})
