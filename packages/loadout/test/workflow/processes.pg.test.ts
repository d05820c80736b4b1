/** Workflows in processes that are killed, over one PostgreSQL: others finish them, and no call is made twice. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest'
import { admin, createDatabase } from '../../../../test/database.ts'
import { nodeDrivers } from '../../src/connections/node-drivers.ts'
import { masterKeyRing } from '../../src/credentials/master-key.ts'
import { createServices } from '../../src/host/create-services.ts'
import type { ApprovalView } from '../../src/schema/records/approval.ts'
import type { RunView } from '../../src/schema/records/run.ts'
import { postgres } from '../../src/storage/postgres.ts'
import { type HttpFaultServer, startFaultServer } from '../fixtures/fault-http.ts'
import { newKey, type RemoteHost, startHost } from '../fixtures/remote-host.ts'

const KEY = newKey()
const LEASE_MS = 2000
const PROVE = process.env.LOADOUT_PROVE === 'full'
const [RUNS, KILLS] = PROVE ? [100, 10] : [24, 3]

let database: Awaited<ReturnType<typeof createDatabase>>
let server: HttpFaultServer
let hosts: RemoteHost[]
/** What the server did, by run and step. */
let done: Map<string, number>

beforeAll(async () => {
  database = await createDatabase(inject('postgresUrl'))
})
afterAll(() => database.drop())
beforeEach(async () => {
  hosts = []
  done = new Map()
  const tools = ['write', 'ask_first'].map((name) => ({ name, inputSchema: { type: 'object' } }))
  server = await startFaultServer({
    tools: [...tools, { name: 'read', inputSchema: { type: 'object' }, annotations: { readOnlyHint: true } }],
  })
  const handle = server.server.handle.bind(server.server)
  server.server.handle = async (message, io) => {
    const { name, arguments: args } = (message.params ?? {}) as {
      name?: string
      arguments?: { run?: string; n?: number }
    }
    if (message.method === 'tools/call') {
      const key = `${name} ${args?.run} ${args?.n}`
      done.set(key, (done.get(key) ?? 0) + 1)
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 20))
    }
    return handle(message, io)
  }
})
afterEach(async () => {
  await Promise.all(hosts.map((host) => host.end()))
  await server.close()
})

const start = async () => {
  const host = await startHost(database.url, KEY, LEASE_MS)
  hosts.push(host)
  return host
}
const write = (id: string, n: number, after: string[]) => ({
  id,
  type: 'tool',
  ref: 'kit.write',
  after,
  arguments: { run: '{{ input.run }}', n },
})
/** Five steps with effects: two of them at once. */
const FIVE = {
  name: 'five',
  nodes: [
    write('a', 1, []),
    write('b', 2, ['a']),
    write('c', 3, ['a']),
    write('d', 4, ['b', 'c']),
    write('e', 5, ['d']),
  ],
  output: '{{ input.run }}',
}
const isOver = ({ status }: RunView) => status === 'completed' || status === 'outcome-unknown'

/** A call lasts no longer, also where the machine is busy. */
const LONGEST_MS = 10_000

function expectOver({ status, steps, output }: RunView, kills: readonly number[]): void {
  const unknown = steps.filter((step) => step.status === 'outcome-unknown')
  if (status === 'completed') {
    expect([unknown.length, steps.length]).toEqual([0, 5])
    for (const n of [1, 2, 3, 4, 5]) expect(done.get(`write ${output} ${n}`)).toBe(1)
    return
  }
  // At most the two that run at once, each of them in flight when a process was killed.
  expect(unknown.length).toBeGreaterThan(0)
  expect(unknown.length).toBeLessThanOrEqual(2)
  for (const { startedAt } of unknown) {
    const at = Date.parse(startedAt)
    expect(kills.some((kill) => at <= kill && kill - at < LONGEST_MS)).toBe(true)
  }
}

describe('workflows whose process is killed', () => {
  it(`complete or report an unknown step in ${RUNS} runs with ${KILLS} kills and repeat no call`, async () => {
    const userId = 'ann'
    let host = await start()
    await host.do({ do: 'register', userId, input: { name: 'kit', url: server.url } })
    // Who got no answer asks again: the key makes it one run.
    const waiting = new Set<string>()
    const begin = async (run: string) => {
      waiting.add(run)
      const started = host.do({ do: 'workflow', userId, definition: FIVE, input: { run }, idempotencyKey: run })
      await started.then(
        () => waiting.delete(run),
        () => {},
      )
    }
    const kills: number[] = []
    for (let kill = 0, begun = 0; kill < KILLS; kill++) {
      for (const run of [...waiting]) void begin(run)
      for (; begun < Math.ceil((RUNS * (kill + 1)) / KILLS); begun++) void begin(`r${begun}`)
      await new Promise((resolve) => setTimeout(resolve, 100 + Math.random() * 900))
      host.kill()
      kills.push(Date.now())
      host = await start()
    }
    await Promise.all([...waiting].map(begin))
    const all = () => host.do<RunView[]>({ do: 'runs', userId })
    await expect.poll(async () => (await all()).every(isOver), { timeout: 120_000, interval: 500 }).toBe(true)
    const runs = await Promise.all(
      (await all()).map(({ id: runId }) => host.do<RunView>({ do: 'run-view', userId, runId })),
    )
    expect(runs).toHaveLength(RUNS)
    expect([...done].filter(([, count]) => count > 1)).toEqual([])
    const stuck = runs.filter(({ status }) => status === 'outcome-unknown')
    for (const run of runs) expectOver(run, kills)
    if (PROVE)
      process.stdout.write(
        `${RUNS} runs, ${KILLS} kills: ${RUNS - stuck.length} completed, ${stuck.length} stand at a call in flight; ${done.size} calls, none twice\n`,
      )
    const [one] = stuck
    if (!one) return
    const view = () => host.do<RunView>({ do: 'run-view', userId, runId: one.id })
    for (const step of one.steps.filter(({ status }) => status === 'outcome-unknown'))
      await host.do({ do: 'run-step', userId, runId: one.id, stepId: step.id, decision: 'repeat' })
    await expect.poll(async () => (await view()).status).toBe('completed')
  }, 240_000)

  it('resume after an approval that is answered when every process was restarted', async () => {
    const userId = 'bea'
    const first = await start()
    await first.do({ do: 'register', userId, input: { name: 'kit', url: server.url } })
    const nodes = [
      write('a', 1, []),
      { id: 'ok', type: 'approval', message: 'Go on with {{ input.run }}?', after: ['a'] },
      { id: 'asks', type: 'tool', ref: 'kit.ask_first', after: ['a'], arguments: { run: '{{ input.run }}', n: 2 } },
      write('z', 3, ['ok', 'asks']),
    ]
    const { id } = await first.do<RunView>({
      do: 'workflow',
      userId,
      definition: { name: 'w', nodes },
      input: { run: 'x' },
    })
    const seen = (host: RemoteHost) => host.do<RunView>({ do: 'run-view', userId, runId: id })
    await expect.poll(async () => (await seen(first)).status).toBe('paused')
    first.kill()
    const second = await start()
    const open = await second.do<ApprovalView[]>({ do: 'approvals', userId })
    expect(open.map(({ ref }) => ref).sort()).toEqual(['kit.ask_first', 'workflow.ok'])
    for (const { id: approvalId } of open)
      await second.do({ do: 'answer', userId, approvalId, answer: { decision: 'allow' } })
    await expect.poll(async () => (await seen(second)).status).toBe('completed')
    expect(Object.fromEntries(done)).toEqual({ 'write x 1': 1, 'ask_first x 2': 1, 'write x 3': 1 })
  })
})

describe('marketplace tools', () => {
  it('are checked against the registry before their server is discovered', async () => {
    const storage = postgres({ url: database.url, maxConnections: 2 })
    await using host = createServices({
      storage,
      keyRing: () => masterKeyRing(KEY),
      drivers: nodeDrivers({ guard: { privateNetwork: true } }),
    })
    await host.ready()
    const { stored } = await host.toolkits.register(
      { id: 'market', name: 'market', url: server.url },
      { tier: 'user', userId: 'cat' },
    )
    const before = server.requests.length
    const schema = '{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}'
    await admin(
      database.url,
      `insert into mcp.servers (server_id, name, status) values ('serv_1', 'io.test/market', 'active')`,
      `insert into mcp.server_versions (sver_id, server_id, version, is_latest, server_json) values ('sver_1', 'serv_1', '1.0.0', true, '{}')`,
      ...['x', 'y'].map(
        (name) =>
          `insert into mcp.tools (tool_id, sver_id, name, input_schema_json) values ('tool_${name}', 'sver_1', '${name}', '${schema}')`,
      ),
      `update mcp.user_server_configs set server_id = 'serv_1', config_type = 'mcp_marketplace' where usco_id = '${stored.uscoId}'`,
    )
    const node = (id: string, ref: string, args: object) => ({ id, type: 'tool', ref, arguments: args })
    const nodes = [node('a', 'market.x', { path: 'p' }), node('b', 'market.y', {}), node('c', 'market.z', {})]
    await expect
      .poll(async () => (await host.workflows.check('cat', { definition: { name: 'w', nodes } })).problems)
      .toMatchObject([
        {
          node: 'b',
          code: 'invalid-input',
          message: expect.stringContaining("The arguments of 'market.y' do not fit"),
        },
        { node: 'c', message: "Tool 'market.z' not found in server 'market'. Re-introspect server or remove tool." },
      ])
    expect(server.requests.length).toBe(before)
  })
})
