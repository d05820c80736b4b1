/** Real servers of every kind over the API: added, introspected, called, removed; and what the catalog promises. */

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { rule } from '@loadout/core'
import { nodeDrivers } from '@loadout/core/node'
import { createServices, type HostServices } from '@loadout/core/services'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import {
  EVERYTHING,
  FILESYSTEM,
  type RunningServer,
  startHttpServer,
  startSseServer,
} from '../../../../test/real-servers.ts'
import { LOCAL } from '../../src/auth/authenticate.ts'
import { createApp } from '../../src/http/app.ts'

/** The shapes of many routes, looked at by the assertions. */
type Answer = ReturnType<typeof JSON.parse>
let folder: string
let host: HostServices
let request: (method: string, path: string, body?: unknown) => Promise<{ status: number; body: Answer }>
const servers: Record<'legacy' | 'modern' | 'sse', RunningServer> = {} as never

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'loadout-servers-'))
  await writeFile(join(folder, 'hello.txt'), 'Hello from a file.')
  Object.assign(servers, {
    legacy: await startHttpServer('legacy'),
    modern: await startHttpServer('modern'),
    sse: await startSseServer(),
  })
})
afterAll(async () => {
  await Promise.all(Object.values(servers).map((server) => server.close()))
  await rm(folder, { recursive: true, force: true })
})
beforeEach(() => {
  host = createServices({ policy: [rule('*', 'allow')], drivers: nodeDrivers({ guard: { privateNetwork: true } }) })
  const app = createApp({ host, authenticate: () => LOCAL })
  request = async (method, path, body) => {
    const init = {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    }
    const answer = await app.request(path, init)
    const text = await answer.text()
    return { status: answer.status, body: text === '' ? undefined : JSON.parse(text) }
  }
})
afterEach(async () => {
  vi.useRealTimers()
  await host.close()
})

interface Case {
  record: () => object
  tool: string
  args: object
  says: string
  era?: string
}

/** 200 with `npm run prove:routing`; the server runs in this process too, and takes its time for 10,000 calls at once. */
const CALLS = process.env.LOADOUT_PROVE === 'full' ? 200 : 20

const node = process.execPath
const CASES: Record<string, Case> = {
  'server-everything over stdio': {
    record: () => ({ command: node, args: [EVERYTHING, 'stdio'] }),
    tool: 'echo',
    args: { message: 'hi' },
    says: 'Echo: hi',
  },
  'server-filesystem over stdio': {
    record: () => ({ command: node, args: [FILESYSTEM, folder] }),
    tool: 'read_text_file',
    args: { path: () => join(folder, 'hello.txt') },
    says: 'Hello from a file.',
  },
  'Streamable HTTP of the first era': {
    record: () => ({ url: servers.legacy.url }),
    tool: 'echo',
    args: { text: 'hi' },
    says: 'hi',
    era: 'legacy',
  },
  'Streamable HTTP of 2026-07-28': {
    record: () => ({ url: servers.modern.url }),
    tool: 'echo',
    args: { text: 'hi' },
    says: 'hi',
    era: 'modern',
  },
  'legacy SSE, found by itself': {
    record: () => ({ url: servers.sse.url }),
    tool: 'echo',
    args: { message: 'hi' },
    says: 'Echo: hi',
    era: 'legacy',
  },
}

describe('adding, introspecting, calling and removing a real server', () => {
  for (const [name, { record, tool, args, says, era }] of Object.entries(CASES))
    it(name, async () => {
      const added = await request('POST', '/api/mcp', { name: 'kit', ...record() })
      expect([added.status, added.body.state.status]).toEqual([201, 'connected'])
      expect(added.body.toolCount).toBeGreaterThan(0)
      const found = added.body.tools.find((one: { name: string }) => one.name === tool)
      expect(found).toMatchObject({
        ref: `kit.${tool}`,
        modelName: `mcp_kit_${tool}`,
        enabled: true,
        pin: expect.stringMatching(/^2:[0-9a-f]{64}$/),
      })
      if (era) expect(host.connections.status()[0]?.info.era).toBe(era)

      const values = Object.fromEntries(
        Object.entries(args).map(([key, value]) => [key, typeof value === 'function' ? value() : value]),
      )
      const called = await request('POST', `/api/tools/kit/${tool}/call`, { arguments: values })
      expect(called).toMatchObject({ status: 200, body: { status: 'ok', content: [{ type: 'text', text: says }] } })
      expect(await request('GET', `/api/calls/${called.body.callId}`)).toMatchObject({ status: 200, body: called.body })

      const pids = host.connections.status().flatMap((line) => line.diagnostics().pid ?? [])
      expect((await request('DELETE', '/api/mcp/kit')).status).toBe(204)
      await expect.poll(() => host.connections.status()).toEqual([])
      for (const pid of pids) await expect.poll(() => isAlive(pid)).toBe(false)
    })
})

/** Whether there is such a process. */
function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

describe('a healthy server beside a failing server', () => {
  const bad: Record<string, object> = {
    'it hangs': { command: node, args: ['-e', 'setInterval(() => {}, 1000)'], timeouts: { introspectMs: 25_000 } },
    'it is down': { url: 'http://127.0.0.1:9/mcp' },
    'it is not there': { command: '/nowhere' },
  }
  for (const [name, record] of Object.entries(bad))
    it(name, async () => {
      let isOver = false
      const slow = request('POST', '/api/mcp', { name: 'bad', ...record }).finally(() => {
        isOver = true
      })
      const good = await request('POST', '/api/mcp', { name: 'good', url: servers.modern.url })
      expect(good.body.state.status).toBe('connected')
      const { body } = await request('GET', '/api/mcp')
      expect(body.toolkits.find((kit: { id: string }) => kit.id === 'good').toolCount).toBe(1)
      if (name === 'it hangs') expect(isOver).toBe(false)
      await host.connections.close()
      await slow
    })
})

describe('the catalog', () => {
  it('serves all tools of 50 toolkits without a connection, and the first call opens one', async () => {
    const manifest = {
      name: 'echo',
      description: 'Says it again.',
      inputSchema: { type: 'object', properties: { text: { type: 'string' } } },
    }
    for (let i = 0; i < 50; i++)
      await host.toolkits.register(
        { name: `Kit ${i}`, url: servers.modern.url, tools: [manifest] },
        { tier: 'user', userId: 'local' },
      )
    const before = servers.modern.calls
    const { body } = await request('GET', '/api/mcp')
    expect(body.toolkits.map((kit: { toolCount: number }) => kit.toolCount)).toEqual(Array(50).fill(1))
    expect(host.connections.status()).toEqual([])
    expect((await request('POST', '/api/tools/kit-7/echo/call', { arguments: { text: 'x' } })).body.status).toBe('ok')
    expect(host.connections.status()).toHaveLength(1)
    expect(servers.modern.calls - before).toBe(1)
  })

  it("supports source 003's routes: save, introspect, tools by name, cached or not", async () => {
    const saved = await request('POST', '/api/mcp/config', {
      name: 'filesystem',
      config_json: { command: node, args: [FILESYSTEM, folder] },
    })
    expect(saved).toMatchObject({ status: 200, body: { usco_id: expect.stringMatching(/^usco_/) } })
    const uscoId = saved.body.usco_id
    const introspected = await request('POST', '/api/mcp/config/introspect', { uscoId })
    expect(introspected.body.tools.map((tool: { name: string }) => tool.name)).toEqual(
      expect.arrayContaining(['read_file', 'write_file', 'list_directory']),
    )
    const custom = {
      tools: ['one', 'two'].map((name) => ({ name, inputSchema: { type: 'object' }, execute: 'return 1' })),
    }
    const { usco_id } = (
      await request('POST', '/api/mcp/config', { name: 'my-kit', config_type: 'custom', config_json: custom })
    ).body
    await request('POST', '/api/mcp/config/introspect', { uscoId: usco_id })
    const { body } = await request('GET', '/api/mcp/config/tools')
    expect(Object.keys(body.tools).sort()).toEqual(['filesystem', 'my-kit'])
    expect([body.tools['my-kit'].length, body.cached]).toEqual([2, true])
    const one = await request('GET', `/api/mcp/config/tools?uscoId=${uscoId}`)
    expect(Object.keys(one.body.tools)).toEqual(['filesystem'])
    expect((await request('GET', '/api/mcp/config')).body.configs).toMatchObject([
      {
        usco_id: uscoId,
        name: 'filesystem',
        config_type: 'mcp_stdio',
        introspection: { status: 'success', at: expect.any(String) },
      },
      { usco_id, config_type: 'custom' },
    ])
    expect((await request('POST', '/api/mcp/config/introspect', { uscoId: 'usco_other' })).status).toBe(404)
    expect(
      (await request('POST', '/api/mcp/config', { name: 'x', config_type: 'custom', config_json: { command: 'x' } }))
        .status,
    ).toBe(422)
    const broken = (await request('POST', '/api/mcp/config', { name: 'broken', config_json: { command: '/nowhere' } }))
      .body.usco_id
    expect(await request('POST', '/api/mcp/config/introspect', { uscoId: broken })).toMatchObject({
      status: 502,
      body: { code: 'spawn-failed' },
    })
  })

  it('serves resources and prompts through the same connections', async () => {
    await request('POST', '/api/mcp', { name: 'kit', command: node, args: [EVERYTHING, 'stdio'] })
    const resources = await request('GET', '/api/mcp/kit/resources')
    expect(resources.body.items.length).toBeGreaterThan(0)
    const uri = encodeURIComponent(resources.body.items[0].uri)
    expect((await request('GET', `/api/mcp/kit/resources/read?uri=${uri}`)).body.contents).toHaveLength(1)
    const prompts = await request('GET', '/api/mcp/kit/prompts')
    expect(prompts.body.items.map((prompt: { name: string }) => prompt.name)).toContain('simple-prompt')
    expect((await request('POST', '/api/mcp/kit/prompts/simple-prompt', {})).body.messages.length).toBeGreaterThan(0)
    expect((await request('GET', '/api/mcp/nobodys/resources')).status).toBe(404)
    expect(host.connections.status()).toHaveLength(1)
  })

  it('is served stale while one refresh runs in the background, for any number of readers', async () => {
    await host.close()
    host = createServices({
      policy: [rule('*', 'allow')],
      drivers: nodeDrivers({ guard: { privateNetwork: true } }),
      toolCacheTtlMs: 60_000,
    })
    const { stored } = await host.toolkits.register(
      { name: 'kit', url: servers.legacy.url },
      { tier: 'user', userId: 'ann' },
    )
    await host.catalog.introspect(stored, 'ann')
    let looks = 0
    host.events.on('catalog-changed', () => looks++)
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 60_001 })
    const views = await Promise.all(Array.from({ length: 20 }, () => host.views.one('ann', 'kit')))
    expect(views.map((view) => view.toolCount)).toEqual(Array(20).fill(1))
    await host.catalog.settled()
    expect(looks).toBe(1)
  })

  it('opens one connection for all users of a shared app toolkit', async () => {
    await host.toolkits.register({ name: 'ours', url: servers.modern.url, shared: true }, { tier: 'app' })
    await host.toolkits.register({ name: 'each', url: servers.modern.url }, { tier: 'app' })
    for (const userId of ['ann', 'bob'])
      for (const toolkit of ['ours', 'each']) {
        const call = { userId, toolkit, tool: 'echo', arguments: { text: 'x' }, caller: { type: 'direct' as const } }
        expect((await host.calls.start(call).outcome).status).toBe('ok')
      }
    expect(
      host.connections
        .status()
        .map(({ key }) => key.userId)
        .sort(),
    ).toEqual(['ann', 'bob', null])
  })

  it('forwards a server request for input during a call and returns the answer', async () => {
    await request('POST', '/api/mcp', { name: 'kit', command: node, args: [EVERYTHING, 'stdio'] })
    const waiting = await request('POST', '/api/tools/kit/trigger-elicitation-request/call', { arguments: {} })
    expect(waiting).toMatchObject({
      status: 202,
      body: { status: 'input-needed', input: { question: { mode: 'form', requestedSchema: { type: 'object' } } } },
    })
    const { callId, input } = waiting.body
    expect((await request('GET', '/api/inputs')).body.items).toHaveLength(1)
    const states = async () => [
      (await request('GET', '/api/mcp')).body.toolkits[0].state.status,
      (await request('GET', '/api/mcp/kit')).body.state.status,
    ]
    expect(await states()).toEqual(['input-needed', 'input-needed'])
    expect((await request('GET', `/api/calls/${callId}`)).status).toBe(202)
    const wrong = { action: 'accept', content: { name: 7, check: true } }
    expect(await request('POST', `/api/inputs/${input.id}`, wrong)).toMatchObject({
      status: 422,
      body: { code: 'invalid-input', errors: [{ path: 'content.name' }] },
    })
    expect((await request('GET', '/api/inputs')).body.items).toHaveLength(1)
    expect(
      (await request('POST', `/api/inputs/${input.id}`, { action: 'accept', content: { name: 'Ann', check: true } }))
        .status,
    ).toBe(204)
    expect((await request('POST', `/api/inputs/${input.id}`, { action: 'decline' })).status).toBe(404)
    await expect.poll(async () => (await request('GET', `/api/calls/${callId}`)).status).toBe(200)
    const done = await request('GET', `/api/calls/${callId}`)
    expect(JSON.stringify(done.body.content)).toContain('Ann')
    expect(await states()).toEqual(['connected', 'connected'])
  })
})

describe('events', () => {
  it("report changes live to the owner, and not others' changes", async () => {
    const app = createApp({
      host,
      authenticate: (from) => ({ kind: 'session', userId: from.headers.get('x-user') ?? 'nobody' }),
    })
    const stream = await app.request('/api/events', { headers: { 'x-user': 'ann' } })
    expect(stream.headers.get('content-type')).toContain('text/event-stream')
    let received = ''
    const reader = stream.body?.pipeThrough(new TextDecoderStream()).getReader()
    const hearing = (async () => {
      for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) received += part.value
    })()
    for (const userId of ['bob', 'ann']) {
      const { stored } = await host.toolkits.register(
        { name: `kit of ${userId}`, url: servers.modern.url },
        { tier: 'user', userId },
      )
      await host.catalog.introspect(stored, userId)
    }
    await expect.poll(() => received).toContain('catalog-changed')
    for (const event of ['ready', 'toolkit-registered', 'state-changed', 'catalog-changed'])
      expect(received).toContain(`event: ${event}`)
    expect(received).toContain('kit-of-ann')
    expect(received).not.toContain('bob')
    await reader?.cancel()
    await hearing
  })
})

describe('multi-user calls', () => {
  it(`return no response to the wrong user with 50 users × ${CALLS} parallel calls to one server`, async () => {
    const users = Array.from({ length: 50 }, (_, i) => `user${i}`)
    await Promise.all(
      users.map((userId) => host.toolkits.register({ name: 'kit', url: servers.modern.url }, { tier: 'user', userId })),
    )
    for (const userId of users) await host.catalog.introspect(await host.toolkits.find(userId, 'kit'), userId)
    const wrong: string[] = []
    await Promise.all(
      users.map(async (userId) => {
        const calls = Array.from({ length: CALLS }, async (_, i) => {
          const text = `${userId} ${i}`
          const call = {
            userId,
            toolkit: 'kit',
            tool: 'echo',
            arguments: { text },
            caller: { type: 'direct' as const },
          }
          const outcome = await host.calls.start(call).outcome
          if (!('content' in outcome) || outcome.content[0]?.text !== text)
            wrong.push(`${text}: ${JSON.stringify(outcome).slice(0, 200)}`)
        })
        await Promise.all(calls)
      }),
    )
    expect([wrong.length, wrong.slice(0, 3)]).toEqual([0, []])
    expect(new Set(host.connections.status().map(({ key }) => key.userId)).size).toBe(50)
  }, 300_000)
})
