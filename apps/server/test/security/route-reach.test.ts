/**
 * No route reaches a process or a socket except through the drivers. Every route of the API is called, as a user and as an operator,
 * with records that name commands and addresses, while the drivers only note what they are asked for: whatever the runtime then
 * tells of a process or a connection came about behind their back. The table says which routes may ask at all.
 */
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { type Drivers, HostError, rule } from '@loadout/core'
import { quickjs } from '@loadout/core/code-mode/quickjs'
import type { HostServices } from '@loadout/core/services'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { STREAMS } from '../support/isolation-routes.ts'
import { multiUserApp } from '../support/multi-user-app.ts'

const seen: string[] = []
const note = (what: string) => () => void seen.push(what)
const CHANNELS = ['child_process', 'net.client.socket', 'http.client.request.start', 'undici:request:create']
const listeners = CHANNELS.map((name) => [name, note(name)] as const)
beforeAll(() => {
  for (const [name, listener] of listeners) subscribe(name, listener)
})
afterAll(() => {
  for (const [name, listener] of listeners) unsubscribe(name, listener)
})

const asked: string[] = []
const refuse = (what: string) => {
  asked.push(what)
  return Promise.reject(new HostError('server-unreachable', { detail: 'The drivers only take notes.' }))
}
const drivers: Drivers = {
  open: ({ server }, _hooks, tier) => refuse(`open ${server.type} ${tier}`),
  fetch: (tier) => () => refuse(`fetch ${tier}`),
  close: async () => {},
}

const COMMAND = { command: '/bin/sh', args: ['-c', 'touch /tmp/loadout-never-made'] }
const ADDRESS = { url: 'http://127.0.0.1:9/mcp', auth: { type: 'oauth' } }
const TOOLS = [{ name: 'go', inputSchema: { type: 'object' } }]

/** What is sent, where a route takes a body: a command and an address, wherever either could stand. */
const BODIES: Record<string, (kit: string) => unknown[]> = {
  'post /api/mcp': () => [
    { name: 'n1', ...COMMAND },
    { name: 'n2', ...ADDRESS },
  ],
  'post /api/app/toolkits': () => [
    { name: 'n3', ...COMMAND },
    { name: 'n4', ...ADDRESS },
  ],
  'post /api/mcp/config': () => [
    { name: 'n5', config_json: COMMAND },
    { name: 'n6', config_json: ADDRESS },
  ],
  'post /api/mcp/config/check': () => [
    { name: 'n11', config_json: COMMAND },
    { name: 'n12', config_json: ADDRESS },
  ],
  'post /api/grants': (toolkit) => [{ ref: `${toolkit}.go`, decision: 'allow' }],
  'post /api/mcp/config/introspect': (uscoId) => [{ uscoId }],
  'post /api/mcp/config/try': () => [
    { config_json: COMMAND, tool: 'go' },
    { config_json: ADDRESS, tool: 'go' },
    {
      tool: 'go',
      allow: true,
      config_json: {
        tools: [{ ...TOOLS[0], execute: 'return await fetch("http://a.example/")', hosts: ['a.example'] }],
      },
    },
  ],
  'post /api/mcp/import': () => [{ config: { mcpServers: { n7: COMMAND, n8: { url: ADDRESS.url } } } }],
  'patch /api/mcp/{id}': () => [{ ...COMMAND, args: ['-c', 'true'] }, { server: { type: 'http', ...ADDRESS } }],
  'patch /api/app/toolkits/{id}': () => [{ args: ['-c', 'true'] }],
  'post /api/tools/{toolkit}/{tool}/call': () => [{ arguments: {} }],
  'post /api/mcp/{id}/resources/read': () => [{ uriTemplate: 'a://{b}', arguments: { b: 'c' } }],
  'post /api/mcp/{id}/complete': () => [{ ref: { prompt: 'x' }, argument: { name: 'y', value: 'z' } }],
  'post /api/approvals/{id}/answer': () => [{ decision: 'allow' }],
  'post /api/inputs/{id}': () => [{ action: 'accept', content: {} }],
  'post /api/threads/{id}/activations': (ref) => [{ ref, on: true }],
  'put /api/threads/{id}/activations': (ref) => [{ toolkits: [ref] }],
  'post /api/threads/{id}/resolve': () => [{ prompt: 'x' }],
  'post /api/threads/{id}/loaded': (ref) => [{ refs: [`${ref}.tool`] }],
  'post /api/threads/{id}/run': (ref) => [{ program: `return await call("${ref}.go", {})` }],
  'post /api/threads/{id}/messages': () => [{ message: 'x' }],
  'put /api/models/{provider}/key': () => [{ key: 'k' }],
  'put /api/app/models/{provider}/key': () => [{ key: 'k' }],
  'post /api/workflow/invoke': (ref) => [
    { definition: { name: 'w', nodes: [{ id: 'a', type: 'tool', ref: `${ref}.go` }] } },
    {
      definition: { name: 'w', nodes: [{ id: 'a', type: 'tool', ref: 'n9.go' }] },
      mcpServers: { n9: COMMAND, n10: ADDRESS },
    },
  ],
  'post /api/workflows': (ref) => [{ name: 'w', nodes: [{ id: 'a', type: 'tool', ref: `${ref}.go` }] }],
  'post /api/workflows/validate': () => [{ name: 'w', nodes: [] }],
  'put /api/workflows/{id}': () => [{ name: 'w', nodes: [{ id: 'a', type: 'tool', ref: 'x.go' }] }],
  'post /api/runs/{id}/rerun': () => [{ from: 'a' }],
  'post /api/oauth/start': (toolkit) => [{ toolkit }],
  'post /api/oauth/disconnect': (toolkit) => [{ toolkit }],
  'post /api/keys': () => [{ name: 'k' }],
}

const QUERIES: Record<string, string> = {
  'get /api/policy/decisions': '?toolkit=x',
  'get /api/mcp/{id}/resources/read': '?uri=a:b',
  'get /api/mcp/{id}/skills/read': '?skill=x',
  'get /api/oauth/callback': '?state=x&code=y&iss=http://127.0.0.1:9',
}

/** The routes that may make the host ask its drivers. Whoever adds one adds a door to commands and addresses. */
const REACHING = [
  'get /api/mcp/{id}/prompts',
  'get /api/mcp/{id}/resources',
  'get /api/mcp/{id}/resources/read',
  'get /api/mcp/{id}/resources/templates',
  'get /api/mcp/{id}/skills',
  'get /api/mcp/{id}/skills/read',
  'patch /api/app/toolkits/{id}',
  'patch /api/mcp/{id}',
  'post /api/app/toolkits',
  'post /api/mcp',
  'post /api/mcp/config',
  'post /api/mcp/config/introspect',
  'post /api/mcp/config/try',
  'post /api/mcp/import',
  'post /api/mcp/{id}/complete',
  'post /api/mcp/{id}/introspect',
  'post /api/mcp/{id}/prompts/{name}',
  'post /api/mcp/{id}/resources/read',
  'post /api/oauth/start',
  'post /api/threads/{id}/run',
  'post /api/tools/{toolkit}/{tool}/call',
  'post /api/workflow/invoke',
]

/** Waits for work that goes on after an answer: discoveries, and continuations of the event loop. */
async function settle(host: HostServices): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
  await host.catalog.settled()
}

it('every route connects through the drivers, and only the listed routes reach them', async () => {
  const { host, as } = multiUserApp({
    drivers,
    executor: quickjs(),
    policy: [rule('*', 'allow')],
    app: { customToolkits: { hosts: ['a.example'] } },
    signIn: { redirectUrl: 'https://loadout.example/api/oauth/callback' },
  })
  const [user, operator] = [as('ann'), as('olga', 'operator')]
  const { body: document } = await user('GET /api/openapi.json')
  const routes = Object.entries(document.paths as Record<string, object>).flatMap(([path, item]) =>
    Object.keys(item).map((method) => [method, path] as const),
  )
  const beyond = [
    ['get', '/metrics'],
    ['get', '/'],
    ['post', '/api/nothing'],
    ['get', '/api/openapi.json'],
  ] as const
  const reached = new Set<string>()
  for (const [method, path] of [...routes, ...beyond]) {
    const key = `${method} ${path}`
    if (STREAMS.has(`${method.toUpperCase()} ${path}`)) continue
    for (const ask of [user, operator]) {
      // Made anew for each, because some routes remove or change them.
      const kits = []
      for (const record of [COMMAND, ADDRESS]) {
        const made = await ask('POST /api/mcp', { name: `kit ${kits.length}`, ...record, options: { tools: TOOLS } })
        kits.push(made.body)
      }
      const app = await operator('POST /api/app/toolkits', { name: 'shared kit', ...COMMAND })
      const thread = await ask('POST /api/threads', { title: 't' })
      await settle(host)
      asked.length = 0
      for (const kit of path.startsWith('/api/app/') ? [app.body] : kits) {
        const id = path.includes('/threads/') ? thread.body.id : kit.id
        const filled = path
          .replace('{id}', id)
          .replace('{toolkit}', kit.id)
          .replace('{tool}', 'go')
          .replace(/\{\w+\}/g, 'x')
        const query = QUERIES[key] ?? ''
        const bodies = BODIES[key]?.(path.includes('config') ? kit.uscoId : kit.id) ?? [
          method === 'get' ? undefined : {},
        ]
        for (const body of bodies) await ask(`${method.toUpperCase()} ${filled}${query}`, body).catch(() => {})
      }
      await settle(host)
      if (asked.length > 0) reached.add(key)
    }
  }
  expect(seen).toEqual([])
  expect([...reached].sort()).toEqual(REACHING)
  expect(routes.length).toBeGreaterThan(60)
  await host.close()
})

it('the network and process listeners report connections, processes and requests', async () => {
  const { createConnection } = await import('node:net')
  const { spawn } = await import('node:child_process')
  seen.length = 0
  createConnection(4399, '127.0.0.1').on('error', () => {})
  spawn('true')
  await fetch('http://127.0.0.1:4399').catch(() => {})
  expect(new Set(seen)).toEqual(new Set(['child_process', 'net.client.socket', 'undici:request:create']))
})
