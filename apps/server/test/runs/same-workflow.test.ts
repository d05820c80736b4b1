/** Two users invoke the same workflow at once, with toolkits of the same name and different servers: each gets its own. */
import { nodeDrivers } from '@loadout/core/node'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { type CountingServer, startCountingServer } from '../../../../test/counting-server.ts'
import { EVERYTHING } from '../../../../test/real-servers.ts'
import { type MultiUserApp, multiUserApp } from '../support/multi-user-app.ts'

const USERS = ['ann', 'bob'] as const
const ROUNDS = 25
let app: MultiUserApp
let servers: Record<string, CountingServer>

beforeEach(async () => {
  app = multiUserApp({ drivers: nodeDrivers({ guard: { privateNetwork: true } }) })
  await app.host.ready()
  servers = {}
  for (const user of USERS) servers[user] = await startCountingServer(`of ${user}`, [{ name: 'note' }])
})
afterEach(async () => {
  await app.host.close()
  await Promise.all(Object.values(servers).map((server) => server.close()))
})

const note = (id: string, n: unknown) => ({
  id,
  type: 'tool',
  ref: 'kit.note',
  arguments: { user: '{{ input.user }}', n },
})
const WORKFLOW = {
  name: 'same',
  brings: ['kit'],
  nodes: [
    note('first', '{{ input.n }}'),
    { id: 'each', type: 'map', over: '[1, 2]', node: 'inner', concurrency: 2 },
    note('inner', '{{ input.n + item }}'),
    note('last', '{{ nodes.first.output.arguments.n }}'),
  ],
  output: [
    '{{ nodes.first.output.server }}',
    '{{ nodes.each.output.map(one, one.server) }}',
    '{{ nodes.last.output }}',
  ],
}
/** All rounds of both at once, one beside the other. */
const interleaved = <T>(work: (user: (typeof USERS)[number], n: number) => Promise<T>) =>
  Promise.all(Array.from({ length: ROUNDS }, (_, n) => n).flatMap((n) => USERS.map((user) => work(user, n))))

function expectOwn(): void {
  for (const user of USERS) {
    const { calls } = servers[user] as CountingServer
    expect(calls).toHaveLength(ROUNDS * 4)
    expect(new Set(calls.map((call) => call.arguments.user))).toEqual(new Set([user]))
  }
}
const outputOf = (user: string, n: number) => [
  `of ${user}`,
  [`of ${user}`, `of ${user}`],
  { server: `of ${user}`, name: 'note', arguments: { user, n } },
]

it('concurrent runs of one workflow stay separate with stored toolkits of each user', async () => {
  const ids: Record<string, string> = {}
  for (const user of USERS) {
    await app.as(user)('POST /api/mcp', { name: 'kit', url: servers[user]?.url })
    ids[user] = (await app.as(user)('POST /api/workflows', WORKFLOW)).body.id
  }
  await interleaved(async (user, n) => {
    const { body } = await app.as(user)('POST /api/workflow/invoke', { workflowId: ids[user], input: { user, n } })
    expect([body.status, body.output], JSON.stringify(body)).toEqual(['completed', outputOf(user, n)])
  })
  expectOwn()
})

it('concurrent runs of one workflow stay separate with toolkits supplied by each user', async () => {
  await interleaved(async (user, n) => {
    const mcpServers = { kit: { url: servers[user]?.url } }
    const sent = { definition: WORKFLOW, input: { user, n }, mcpServers }
    const { body } = await app.as(user)('POST /api/workflow/invoke', sent)
    expect([body.status, body.output], JSON.stringify(body)).toEqual(['completed', outputOf(user, n)])
  })
  expectOwn()
})

it('concurrent runs of one user keep toolkits of the same name separate', async () => {
  await interleaved(async (of, n) => {
    const mcpServers = { kit: { url: servers[of]?.url } }
    const sent = { definition: WORKFLOW, input: { user: of, n }, mcpServers }
    const { body } = await app.as('cem')('POST /api/workflow/invoke', sent)
    expect([body.status, body.output], JSON.stringify(body)).toEqual(['completed', outputOf(of, n)])
  })
  expectOwn()
})

it('concurrent runs of one workflow stay separate with processes of each user', async () => {
  const server = (whose: string) => ({ command: process.execPath, args: [EVERYTHING], env: { WHOSE: whose } })
  for (const user of USERS) await app.as(user)('POST /api/mcp', { name: 'kit', ...server(`stored by ${user}`) })
  const nodes = [{ id: 'who', type: 'tool', ref: 'kit.get-env' }]
  const sent = { definition: { name: 'w', nodes, output: '{{ nodes.who.output.WHOSE }}' } }
  const outputs = await interleaved(async (user, n) => {
    const inline = n === 7 ? { mcpServers: { kit: server(`brought by ${user}`) } } : {}
    return (await app.as(user)('POST /api/workflow/invoke', { ...sent, ...inline })).body.output
  })
  expect(outputs).toEqual(await interleaved(async (user, n) => `${n === 7 ? 'brought' : 'stored'} by ${user}`))
})
