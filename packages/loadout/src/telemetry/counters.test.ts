/** A day of a host, and what its metrics say of it. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type HttpFaultServer, type HttpFaults, startFaultServer } from '../../test/fixtures/fault-http.ts'
import { type RecordedTelemetry, recordTelemetry } from '../../test/fixtures/recorded-telemetry.ts'
import { nodeDrivers } from '../connections/node-drivers.ts'
import { createExecutionContext } from '../context.ts'
import { createServices, type HostServices } from '../host/create-services.ts'
import type { ServiceOptions } from '../host/service-options.ts'
import { rule } from '../policy/rules.ts'
import { defineTool } from '../toolkits/define-tool.ts'

let host: HostServices
let telemetry: RecordedTelemetry
const servers: HttpFaultServer[] = []
beforeEach(() => {
  telemetry = recordTelemetry()
})
afterEach(async () => {
  await host.close()
  await Promise.all(servers.splice(0).map((server) => server.close()))
  await telemetry.close()
})

function startHost(options: ServiceOptions = {}): HostServices {
  host = createServices({
    policy: [rule('*', 'allow')],
    drivers: nodeDrivers({ guard: { privateNetwork: true } }),
    telemetry: telemetry.options,
    ...options,
  })
  return host
}
async function startServer(script: HttpFaults = {}) {
  const server = await startFaultServer(script)
  servers.push(server)
  return server
}
const ann = { tier: 'user', userId: 'ann' } as const
const request = { userId: 'ann', toolkit: 'kit', tool: 'echo', arguments: {}, caller: { type: 'direct' } as const }
const tool = (name: string) => ({ name, inputSchema: { type: 'object' } })

/** A metric as lines, for a reader. */
async function lines(metric: string): Promise<string[]> {
  const points = await telemetry.points(metric)
  return points.map(({ tags, value }) => `${Object.values(tags).join(' ')} ${value}`.trim()).sort()
}

describe('the counters of a scripted day', () => {
  it('count used toolkits, started and failed clients, materialized tools and calls', async () => {
    startHost()
    const good = await startServer({ tools: [tool('echo'), tool('add')] })
    const bad = await startServer({ http: { initialize: { status: 500 }, 'server/discover': { status: 500 } } })
    const { stored } = await host.toolkits.register({ name: 'kit', url: good.url }, ann)
    await host.catalog.introspect(stored, 'ann')
    await host.toolkits.register({ name: 'dead', url: bad.url }, ann)
    for (let i = 0; i < 3; i++) await host.calls.start(request).outcome
    await host.calls.start({ ...request, toolkit: 'dead' }).outcome
    await host.calls.start({ ...request, toolkit: 'nobody-has-it' }).outcome

    const own = await startServer({ tools: [tool('one'), tool('two')] })
    const context = createExecutionContext({
      principal: { kind: 'session', userId: 'bob' },
      toolkits: { mine: { url: own.url }, gone: { url: bad.url } },
      runId: 'run-1',
      workflowVersionId: 'wf-7',
    })
    await using run = await host.setupToolkits(['mine', 'gone'], { context })
    await run.call({ name: 'mine.one', arguments: {} })
    await run.call({ name: 'mine.one', arguments: {} })

    expect(await lines('mcp.context.toolkits_used')).toEqual(['mine context wf-7 1'])
    expect(await lines('mcp.tools.materialized')).toEqual(['mine one wf-7 1', 'mine two wf-7 1'])
    expect(await lines('mcp.clients.started')).toEqual(['kit 1', 'mine wf-7 1'])
    expect(await lines('mcp.clients.failed')).toEqual(['dead server-unreachable 1', 'gone server-unreachable wf-7 1'])
    expect(await lines('loadout.calls.ended')).toEqual([
      'kit echo direct ok 3',
      'mine one direct ok 2',
      'unknown unknown direct failed not-found 1',
      'unknown unknown direct failed server-unreachable 1',
    ])
    expect(await lines('mcp.client.operation.duration')).toEqual([
      'tools/call kit echo tcp 2026-07-28 3',
      'tools/call mine one tcp 2026-07-28 2',
      'tools/list kit tcp 2026-07-28 1',
      'tools/list mine tcp 2026-07-28 1',
    ])
  })

  it('distinguish a denied call from a tool error', async () => {
    startHost({ policy: [rule('kit.add', 'deny'), rule('*', 'allow')] })
    const server = await startServer({
      tools: [tool('echo'), tool('add')],
      at: { 'tools/call': { do: 'result', result: { content: [], isError: true, resultType: 'complete' } } },
    })
    await host.toolkits.register({ name: 'kit', url: server.url }, ann)
    await host.calls.start(request).outcome
    await host.calls.start({ ...request, tool: 'add' }).outcome
    expect(await lines('loadout.calls.ended')).toEqual([
      'kit add direct denied denied 1',
      'kit echo direct tool-error tool_error 1',
    ])
    expect(await lines('mcp.client.operation.duration')).toContain('tools/call kit echo tcp 2026-07-28 tool_error 1')
  })

  it('count a call stopped by a limit as limited', async () => {
    startHost()
    const server = await startServer()
    await host.toolkits.register({ name: 'kit', url: server.url }, ann)
    await host.calls.start({ ...request, arguments: { text: 'x'.repeat(5_000_000) } }).outcome
    expect(await lines('loadout.calls.ended')).toEqual(['kit echo direct limited limit-reached 1'])
  })

  it('count approval requests and their decisions', async () => {
    startHost({ policy: [rule('*', 'ask')] })
    const server = await startServer()
    await host.toolkits.register({ name: 'kit', url: server.url }, ann)
    const running = host.calls.start(request)
    const { id } = await running.pending
    await host.approvals.answer('ann', id, { decision: 'deny' })
    expect((await running.outcome).status).toBe('denied')
    expect(await lines('loadout.approvals')).toEqual(['asked 1', 'denied 1'])
  })
})

describe('the gauges', () => {
  it('read connections, pool waiters and running calls on demand', async () => {
    startHost({ pool: { maxPerUser: 1, queueMs: 60_000 } })
    const slow = await startServer({ at: { 'tools/call': { do: 'hang' } } })
    const other = await startServer()
    await host.toolkits.register({ name: 'kit', url: slow.url }, ann)
    await host.toolkits.register({ name: 'second', url: other.url }, ann)
    expect(await lines('loadout.pool.connections')).toEqual(['connecting 0', 'idle 0', 'leased 0'])
    const controller = new AbortController()
    const first = host.calls.start({ ...request, signal: controller.signal }).outcome
    await expect.poll(() => slow.open('tools/call')).toBe(1)
    const second = host.calls.start({ ...request, toolkit: 'second' }).outcome
    await expect.poll(() => lines('loadout.pool.waiting')).toEqual(['1'])
    expect(await lines('loadout.pool.connections')).toEqual(['connecting 0', 'idle 0', 'leased 1'])
    expect(await lines('loadout.calls.running')).toEqual(['2'])
    controller.abort()
    expect(await first).toMatchObject({ error: { code: 'cancelled' } })
    expect(await second).toMatchObject({ status: 'ok' })
    expect(await lines('loadout.pool.connections')).toEqual(['connecting 0', 'idle 1', 'leased 0'])
    expect(await lines('loadout.pool.waiting')).toEqual(['0'])
    expect(await lines('loadout.calls.running')).toEqual(['0'])
  })

  it('count processes while they run', async () => {
    startHost({ drivers: nodeDrivers({ baseEnv: { PATH: '/usr/bin:/bin' } }) })
    const file = new URL('../../test/fixtures/fault-stdio.ts', import.meta.url).pathname
    const record = { name: 'kit', command: process.execPath, args: [file, '/dev/stdin'] }
    expect(await lines('loadout.processes')).toEqual(['0'])
    const { stored } = await host.toolkits.register(record, ann)
    const looking = host.catalog.introspect(stored, 'ann').catch(() => {})
    await expect.poll(() => lines('loadout.processes')).toEqual(['1'])
    await host.connections.close()
    await looking
    expect(await lines('loadout.processes')).toEqual(['0'])
  })

  it('are no longer read after the host closes', async () => {
    startHost()
    await host.close()
    expect(await lines('loadout.pool.connections')).toEqual([])
  })
})

describe('metric tags', () => {
  it('stop growing at 101 values for a thousand toolkits', async () => {
    startHost({ tools: [defineTool({ name: 'now', inputSchema: { type: 'object' }, execute: () => 'now' })] })
    for (let i = 0; i < 1000; i++) {
      const toolkits = {
        [`kit-${i}`]: { tools: [{ name: 'x', inputSchema: { type: 'object' }, execute: 'ref:none' }] },
      }
      const principal = { kind: 'session' as const, userId: `user-${i}` }
      const context = createExecutionContext({ principal, toolkits, workflowVersionId: `wf-${i}` })
      await host.setupToolkits(undefined, { context })
    }
    const used = await telemetry.points('mcp.context.toolkits_used')
    expect(new Set(used.map(({ tags }) => tags.toolkit)).size).toBe(101)
    expect(new Set(used.map(({ tags }) => tags.workflowVersionId)).size).toBe(101)
    expect(used.reduce((sum, { value }) => sum + value, 0)).toBe(1000)
    expect(await telemetry.everything()).not.toMatch(/user-\d/)
  })
})
