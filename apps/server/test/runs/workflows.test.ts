/** Workflows over HTTP, with real servers behind them. */
import { createRequire } from 'node:module'
import { rule } from '@loadout/core'
import { quickjs } from '@loadout/core/code-mode/quickjs'
import { nodeDrivers } from '@loadout/core/node'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createApp } from '../../src/http/app.ts'
import { type Body, type MultiUserApp, multiUserApp } from '../support/multi-user-app.ts'

let app: MultiUserApp
const ann = () => app.as('ann')
const everything = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-everything/dist/index.js')
const server = { command: process.execPath, args: [everything, 'stdio'] }

beforeAll(async () => {
  const policy = [rule('everything.echo', 'ask'), rule('*', 'allow')]
  app = multiUserApp({ drivers: nodeDrivers({ stdio: 'on' }), executor: quickjs({ spares: 1 }), policy })
  await app.host.ready()
  await ann()('POST /api/mcp', { name: 'everything', ...server })
})
afterAll(() => app.host.close())

const sum = (id: string, a: unknown, b: unknown) => ({
  id,
  type: 'tool',
  ref: 'everything.get-sum',
  arguments: { a, b },
})
const definition = {
  name: 'sums',
  input: { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] },
  nodes: [sum('first', '{{ input.n }}', 1), sum('second', '{{ size(nodes.first.output) }}', '{{ input.n }}')],
  output: { first: '{{ nodes.first.output }}', second: '{{ nodes.second.output }}' },
}

/** As a client reads it. */
async function stream(body: object): Promise<{ event: string; data: Body }[]> {
  const hono = createApp({ host: app.host, authenticate: () => ({ kind: 'session', userId: 'ann', role: 'user' }) })
  const headers = { accept: 'text/event-stream', 'content-type': 'application/json' }
  const answer = await hono.request('/api/workflow/invoke', { method: 'POST', headers, body: JSON.stringify(body) })
  expect(answer.headers.get('content-type')).toContain('text/event-stream')
  return (await answer.text())
    .split('\n\n')
    .filter((block) => block.includes('event:'))
    .map((block) => ({
      event: /event: (.*)/.exec(block)?.[1] ?? '',
      data: JSON.parse(/data: (.*)/.exec(block)?.[1] ?? ''),
    }))
}

describe('/api/workflows', () => {
  it('stores, shows, changes and deletes a workflow and hides it from other users', async () => {
    const made = await ann()('POST /api/workflows', { ...definition, name: 'stored' })
    expect([made.status, made.body.version]).toEqual([201, 1])
    const { id } = made.body
    const changed = await ann()(`PUT /api/workflows/${id}`, { ...definition, name: 'stored', description: 'new' })
    expect(changed.body).toMatchObject({ id, version: 2, description: 'new' })
    const late = await ann()(`PUT /api/workflows/${id}?baseVersion=1`, { ...definition, name: 'stored' })
    expect([late.status, late.body.code]).toEqual([409, 'conflict'])
    expect(late.body.action).toBe('Look at the newest version, then save again on top of it.')
    expect((await ann()(`PUT /api/workflows/${id}?baseVersion=x`, definition)).status).toBe(422)
    expect((await ann()(`GET /api/workflows/${id}?version=1`)).body.version).toBe(1)
    expect((await ann()(`GET /api/workflows/${id}/versions`)).body.items).toHaveLength(2)
    expect((await ann()('GET /api/workflows')).body.items).toMatchObject([{ id, version: 2 }])
    for (const route of [
      `GET /api/workflows/${id}`,
      `GET /api/workflows/${id}/versions`,
      `DELETE /api/workflows/${id}`,
      `POST /api/workflows/${id}/check`,
    ] as const)
      expect((await app.as('bob')(route)).status).toBe(404)
    expect((await app.as('bob')('POST /api/workflow/invoke', { workflowId: id, input: { n: 1 } })).status).toBe(404)
    expect((await ann()('POST /api/workflows', { ...definition, name: 'stored' })).status).toBe(409)
    expect((await ann()(`DELETE /api/workflows/${id}`)).status).toBe(204)
    expect((await ann()(`GET /api/workflows/${id}`)).status).toBe(404)
  })

  it('reports every problem of a definition at once with its path', async () => {
    const wrong = {
      name: 'x',
      nodes: [
        { ...sum('a', 1, 'x'), after: ['b'] },
        { ...sum('b', 1, 2), after: ['a'] },
        { id: 'c', type: 'dance' },
        { ...sum('d', 1, 2), ref: 'everything.nothing' },
      ],
    }
    const { status, body } = await ann()('POST /api/workflows', wrong)
    expect([status, body.code]).toEqual([422, 'invalid-input'])
    expect(body.errors.map(({ path }: { path: string }) => path)).toEqual([
      'nodes.2.type',
      'nodes.0.after',
      'nodes.0.arguments.b',
      'nodes.3.ref',
    ])
    const mended = { ...wrong, nodes: [{ ...wrong.nodes[0], after: [] }, wrong.nodes[1], wrong.nodes[3]] }
    expect((await ann()('POST /api/workflows/validate', mended)).body).toEqual({
      valid: false,
      errors: [
        {
          path: 'nodes.0.arguments.b',
          message: expect.stringContaining("in node 'a': The arguments of 'everything.get-sum' do not fit"),
        },
        {
          path: 'nodes.2.ref',
          message:
            "in node 'd': Tool 'everything.nothing' not found in server 'everything'. Re-introspect server or remove tool.",
        },
      ],
    })
  })

  it('runs the preflight check on demand', async () => {
    const { body } = await ann()('POST /api/workflows', { name: 'ahead', nodes: [sum('a', 1, 2)] })
    expect((await ann()(`POST /api/workflows/${body.id}/check`)).body).toEqual({
      ok: true,
      problems: [],
      warnings: [],
      unseen: [],
    })
    await ann()('PATCH /api/mcp/everything', { enabled: false })
    const ghost = await ann()(`POST /api/workflows/${body.id}/check`, { threadId: 'thread_of_nobody' })
    expect([ghost.status, ghost.body.code]).toEqual([404, 'not-found'])
    const after = await ann()(`POST /api/workflows/${body.id}/check`)
    expect(after.body).toMatchObject({
      ok: false,
      problems: [{ node: 'a', code: 'not-carried', message: "The toolkit 'everything' is switched off." }],
    })
    await ann()('PATCH /api/mcp/everything', { enabled: true })
  })
})

describe('POST /api/workflow/invoke', () => {
  it('runs a stored workflow and returns its output', async () => {
    const { body: stored } = await ann()('POST /api/workflows', definition)
    const { status, body } = await ann()('POST /api/workflow/invoke', { workflowId: stored.id, input: { n: 3 } })
    expect([status, body.status]).toEqual([200, 'completed'])
    expect(body.output.first).toContain('4')
    expect(body).toMatchObject({
      runId: expect.stringMatching(/^run_/),
      failedToolkits: [],
      droppedToolkits: [],
      usage: { calls: 2 },
    })
    expect((await ann()(`GET /api/runs/${body.runId}`)).body).toMatchObject({
      kind: 'workflow',
      workflowVersionId: stored.workflowVersionId,
    })
    const version = await ann()('POST /api/workflow/invoke', {
      workflowVersionId: stored.workflowVersionId,
      input: { n: 1 },
    })
    expect(version.body.status).toBe('completed')
  })

  it.each([
    [{}, 'must name one of'],
    [{ workflowId: 'a', definition: {} }, 'must name one of'],
    [{ definition, input: { n: 'x' } }, 'input.n'],
    [{ definition, input: { n: 1 }, mcpServers: { x: { url: 5 } } }, '"mcpServers.x.url"'],
    [{ definition: { name: 'w', nodes: [] } }, 'nodes'],
  ])('rejects %j before the run starts', async (sent, why) => {
    const { status, body } = await ann()('POST /api/workflow/invoke', sent)
    expect([status, body.code]).toEqual([422, 'invalid-input'])
    expect(JSON.stringify(body)).toContain(why)
  })

  it('reports a missing tool with the message from source 003', async () => {
    const nodes = [sum('a', 1, 2), { ...sum('b', 1, 2), ref: 'everything.read_file' }]
    const { status, body } = await ann()('POST /api/workflow/invoke', { definition: { name: 'w', nodes } })
    expect([status, body.code, body.detail]).toEqual([
      422,
      'preflight-failed',
      "Tool 'everything.read_file' not found in server 'everything'. Re-introspect server or remove tool.",
    ])
    expect(body).toMatchObject({ errors: [{ path: 'nodes.1.ref' }], runId: expect.any(String) })
  })

  it('uses the toolkits of the call for that call only and names a broken one', async () => {
    const mcpServers = { mine: server, broken: { command: '/nothing/there' } }
    const nodes = [{ ...sum('a', 20, 3), ref: 'mine.get-sum' }]
    const { status, body } = await app.as('carl')('POST /api/workflow/invoke', {
      definition: { name: 'w', nodes },
      mcpServers,
    })
    expect([status, body.status]).toEqual([200, 'completed'])
    expect(body.output).toContain('23')
    expect(body.failedToolkits).toMatchObject([{ id: 'broken', reason: expect.any(String) }])
    expect((await app.as('carl')('GET /api/mcp')).body.toolkits).toEqual([])
    expect(app.host.connections.status().map(({ toolkit }) => toolkit)).not.toContain('mine')
  })

  it('returns 202 for a pending approval, continues after the answer, and reruns from a node', async () => {
    const nodes = [
      sum('a', 1, 1),
      { id: 'say', type: 'tool', ref: 'everything.echo', arguments: { message: '{{ nodes.a.output }}' } },
    ]
    const paused = await ann()('POST /api/workflow/invoke', { definition: { name: 'w', nodes } })
    expect([paused.status, paused.body.status, paused.body.approvals.length]).toEqual([202, 'paused', 1])
    await ann()(`POST /api/approvals/${paused.body.approvals[0]}/answer`, { decision: 'deny' })
    await expect.poll(async () => (await ann()(`GET /api/runs/${paused.body.runId}`)).body.status).toBe('failed')
    const again = await ann()(`POST /api/runs/${paused.body.runId}/rerun`, { from: 'say' })
    expect([again.status, again.body.status]).toEqual([202, 'paused'])
    await ann()(`POST /api/approvals/${again.body.approvals[0]}/answer`, { decision: 'allow' })
    await expect.poll(async () => (await ann()(`GET /api/runs/${again.body.runId}`)).body.output).toContain('Echo')
    const { body } = await ann()('GET /api/audit?action=mcp_tool_call')
    const sums = body.items.filter((one: Body) => JSON.stringify(one).includes(again.body.runId))
    expect(sums.length).toBeGreaterThan(0)
    expect(sums.every((one: Body) => !JSON.stringify(one).includes('get-sum'))).toBe(true)
  })

  it('streams the nodes and then the run', async () => {
    const events = await stream({ definition, input: { n: 2 } })
    expect(events[0]?.event).toBe('started')
    const nodes = events.filter(({ event }) => event === 'node').map(({ data }) => `${data.node} ${data.status}`)
    expect(nodes).toEqual([
      'first queued',
      'first running',
      'first completed',
      'second queued',
      'second running',
      'second completed',
    ])
    expect(events.at(-1)).toMatchObject({
      event: 'run',
      data: { status: 'completed', runId: events[0]?.data.runId, usage: { calls: 2 } },
    })
  })

  it('streams the progress of a map and failures with their fix, and the stored run shows the same', async () => {
    const nodes = [
      { id: 'each', type: 'map', over: '[1, 2]', node: 'one' },
      sum('one', '{{ item }}', 1),
      { ...sum('bad', '{{ size(nodes.each.output) > 0 ? "x" : 1 }}', 1), after: ['each'] },
    ]
    const events = await stream({ definition: { name: 'w', nodes } })
    const states = events.flatMap(({ event, data: { runId: _, ...state } }) => (event === 'node' ? [state] : []))
    const error = { code: 'invalid-input', message: expect.any(String), action: expect.stringContaining('Correct') }
    expect(states).toEqual([
      { node: 'each', status: 'queued' },
      ...[0, 1, 2].map((done) => ({ node: 'each', status: 'running', done, total: 2 })),
      { node: 'each', status: 'completed', done: 2, total: 2 },
      { node: 'bad', status: 'queued' },
      { node: 'bad', status: 'running' },
      { node: 'bad', status: 'failed', error },
    ])
    const { body: run } = await ann()(`GET /api/runs/${events[0]?.data.runId}`)
    expect(run).toMatchObject({ progress: { each: { done: 2, total: 2 } }, error: { action: error.action } })
    expect(run.steps.at(-1).error).toEqual(error)
  })

  it('returns the same run for the same key', async () => {
    const hono = createApp({ host: app.host, authenticate: () => ({ kind: 'session', userId: 'ann', role: 'user' }) })
    const send = async (key: string, n: number) => {
      const headers = { 'content-type': 'application/json', 'idempotency-key': key }
      const answer = await hono.request('/api/workflow/invoke', {
        method: 'POST',
        headers,
        body: JSON.stringify({ definition, input: { n } }),
      })
      return { status: answer.status, body: (await answer.json()) as Body }
    }
    const all = await Promise.all([send('k1', 5), send('k1', 5), send('k1', 5)])
    expect(new Set(all.map(({ body }) => body.runId)).size).toBe(1)
    expect(all.every(({ body }) => body.status === 'completed')).toBe(true)
    expect((await send('k1', 6)).status).toBe(409)
    expect((await send('k2', 5)).body.runId).not.toBe(all[0]?.body.runId)
  })
})
