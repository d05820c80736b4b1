/** Stored workflows and what a call brings: versions, whose they are, and toolkits that are nobody else's. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type HttpFaultServer, startFaultServer } from '../../test/fixtures/fault-http.ts'
import { newKey } from '../../test/fixtures/remote-host.ts'
import { type SharedPglite, sharedPglite } from '../../test/fixtures/shared-pglite.ts'
import { nodeDrivers } from '../connections/node-drivers.ts'
import { masterKeyRing } from '../credentials/master-key.ts'
import { createServices, type HostServices } from '../host/create-services.ts'
import { rule } from '../policy/rules.ts'
import type { Storage } from '../storage/storage.ts'

const KEY = newKey()
let engine: SharedPglite
let storage: Storage
let host: HostServices
let servers: HttpFaultServer[]

const open = () =>
  createServices({
    storage,
    keyRing: () => masterKeyRing(KEY),
    drivers: nodeDrivers({ guard: { privateNetwork: true } }),
    policy: [rule('*.ask_*', 'ask'), rule('*', 'allow')],
  })
const serve = async (...names: string[]) => {
  const tools = names.map((name) => ({ name, inputSchema: { type: 'object' } }))
  const server = await startFaultServer({ tools })
  servers.push(server)
  return server
}

beforeAll(async () => {
  engine = await sharedPglite()
})
afterAll(() => engine.close())
beforeEach(async () => {
  servers = []
  storage = engine.open()
  host = open()
  await host.ready()
})
afterEach(async () => {
  await host.close()
  await Promise.all(servers.map((server) => server.close()))
})

const node = (id: string, ref: string, more: object = {}) => ({ id, type: 'tool', ref, ...more })
const definition = (more: object = {}) => ({ name: 'mine', brings: ['kit'], nodes: [node('a', 'kit.say')], ...more })

describe('stored workflows', () => {
  it('have immutable versions and belong to one user', async () => {
    const first = await host.workflows.create('ann', definition())
    expect(first).toMatchObject({ name: 'mine', version: 1, definition: { nodes: [{ id: 'a', onError: 'fail' }] } })
    const second = await host.workflows.update('ann', first.id, definition({ name: 'other', description: 'd' }))
    expect(second).toMatchObject({ id: first.id, name: 'other', version: 2, description: 'd' })
    expect(
      (await host.workflows.update('ann', first.id, definition({ name: 'other', description: 'd' }))).version,
    ).toBe(2)
    expect(await host.workflows.get('ann', first.id, 1)).toMatchObject({ version: 1, definition: first.definition })
    expect((await host.workflows.versions('ann', first.id)).map(({ version }) => version)).toEqual([2, 1])
    expect((await host.workflows.list('ann')).map(({ name, version }) => [name, version])).toEqual([['other', 2]])
    for (const look of [
      host.workflows.get('bob', first.id),
      host.workflows.update('bob', first.id, definition()),
      host.workflows.delete('bob', first.id),
      host.workflows.versions('bob', first.id),
    ])
      await expect(look).rejects.toMatchObject({ code: 'not-found' })
    expect(await host.workflows.list('bob')).toEqual([])
    await host.workflows.delete('ann', first.id)
    await expect(host.workflows.get('ann', first.id)).rejects.toMatchObject({ code: 'not-found' })
  })

  it('emit an event to their user when saved or deleted and none on failure', async () => {
    const events: unknown[] = []
    host.events.on('workflow-changed', ({ userId, workflowId }) => events.push([userId, workflowId]))
    const { id } = await host.workflows.create('ann', definition())
    await host.workflows.update('ann', id, definition({ description: 'd' }))
    await expect(host.workflows.create('ann', definition())).rejects.toMatchObject({ code: 'conflict' })
    await expect(host.workflows.delete('bob', id)).rejects.toMatchObject({ code: 'not-found' })
    await host.workflows.delete('ann', id)
    expect(events).toEqual([0, 1, 2].map(() => ['ann', id]))
  })

  it('have a unique name per user and keep concurrent saves', async () => {
    const one = await host.workflows.create('ann', definition())
    await expect(host.workflows.create('ann', definition())).rejects.toMatchObject({ code: 'conflict' })
    await host.workflows.create('bob', definition())
    const other = await host.workflows.create('ann', definition({ name: 'two' }))
    await expect(host.workflows.update('ann', other.id, definition())).rejects.toMatchObject({ code: 'conflict' })
    await Promise.all(
      ['x', 'y', 'z'].map((description) => host.workflows.update('ann', one.id, definition({ description }))),
    )
    expect((await host.workflows.versions('ann', one.id)).map(({ version }) => version)).toEqual([4, 3, 2, 1])
  })

  it('reject a save that is not based on the latest version', async () => {
    const { id } = await host.workflows.create('ann', definition())
    const which = { id, baseVersion: 1 }
    const saves = ['x', 'y', 'z'].map((description) => host.workflows.update('ann', which, definition({ description })))
    const outcomes = await Promise.allSettled(saves)
    const refused = outcomes.filter((one) => one.status === 'rejected')
    expect(refused.map(({ reason }) => reason)).toMatchObject([{ code: 'conflict' }, { code: 'conflict' }])
    expect(refused[0]?.reason.message).toContain('Version 2 was saved since version 1, which yours began with.')
    const saved = await host.workflows.get('ann', id)
    expect(saved.version).toBe(2)
    // The same once more, as after an answer that was lost, is what is there.
    expect((await host.workflows.update('ann', which, saved.definition)).version).toBe(2)
    const next = definition({ description: 'seen' })
    expect((await host.workflows.update('ann', { id, baseVersion: 2 }, next)).version).toBe(3)
  })

  it('reject unknown tools, programs that cannot be parsed and invalid arguments', async () => {
    const server = await startFaultServer({
      tools: [
        { name: 'say', inputSchema: { type: 'object', required: ['text'], properties: { text: { type: 'string' } } } },
      ],
    })
    servers.push(server)
    const { stored } = await host.toolkits.register(
      { id: 'own', name: 'own', url: server.url },
      { tier: 'user', userId: 'ann' },
    )
    await host.catalog.introspect(stored, 'ann')
    const invalid = definition({
      nodes: [
        node('a', 'own.shout'),
        node('b', 'own.say', { arguments: { text: 1 } }),
        node('c', 'own.say', { arguments: { text: '{{ input.t }}' } }),
        node('d', 'other.x'),
        { id: 'e', type: 'code', program: 'return (', tools: ['ghost'] },
      ],
    })
    await expect(host.workflows.create('ann', invalid)).rejects.toMatchObject({
      code: 'invalid-input',
      errors: [
        { path: 'nodes.4.program' },
        {
          path: 'nodes.0.ref',
          message: "in node 'a': Tool 'own.shout' not found in server 'own'. Re-introspect server or remove tool.",
        },
        { path: 'nodes.1.arguments.text' },
        { path: 'nodes.3.ref', message: expect.stringContaining("there is no toolkit 'other'") },
        { path: 'nodes.4.tools.0' },
      ],
    })
    expect((await host.workflows.validate('ann', invalid))?.errors).toHaveLength(5)
    // What is wrong with the graph keeps none of them from being told.
    const worse = {
      ...invalid,
      nodes: [...invalid.nodes, node('1x', 'own.say'), node('r', 'own.say', { after: ['r'] })],
    }
    const paths = (await host.workflows.validate('ann', worse))?.errors?.map(({ path }) => path)
    const both = ['nodes.5.id', 'nodes.6.after', 'nodes.6.arguments.text']
    expect(paths).toEqual(
      expect.arrayContaining([...both, 'nodes.4.program', 'nodes.0.ref', 'nodes.3.ref', 'nodes.4.tools.0']),
    )
    expect(await host.workflows.list('ann')).toEqual([])
  })
})

describe('toolkits that a call brings', () => {
  it('serve only that run, also when two users use the same name at once', async () => {
    const [one, two] = [await serve('say'), await serve('say')]
    const ids = await Promise.all(
      ['ann', 'bob'].map(async (userId) => (await host.workflows.create(userId, definition())).id),
    )
    const runs = await Promise.all(
      [one, two].map((server, n) =>
        host.workflows.run(['ann', 'bob'][n] as string, {
          workflowId: ids[n] as string,
          mcpServers: { kit: { url: server.url } },
        }),
      ),
    )
    expect(runs.map(({ status }) => status)).toEqual(['completed', 'completed'])
    expect([one.server.calls, two.server.calls]).toEqual([['say'], ['say']])
    const without = await host.workflows.run('ann', { workflowId: ids[0] as string })
    expect(without).toMatchObject({
      status: 'failed',
      error: { code: 'preflight-failed', message: expect.stringContaining("Requested 'kit'") },
    })
  })

  it('are reported when they fail while the others work', async () => {
    const server = await serve('say')
    const mcpServers = { kit: { url: server.url }, bad: { url: 'http://127.0.0.1:9/mcp' } }
    const done = await host.workflows.run('ann', { definition: definition(), mcpServers })
    expect(done).toMatchObject({
      status: 'completed',
      failedToolkits: [{ id: 'bad', reason: expect.any(String) }],
      droppedToolkits: [],
    })
    const used = { ...definition(), nodes: [node('a', 'kit.say'), node('b', 'bad.x')] }
    expect(await host.workflows.run('ann', { definition: used, mcpServers })).toMatchObject({
      status: 'failed',
      error: { code: 'preflight-failed', problems: [{ node: 'b', ref: 'bad.x' }] },
    })
    expect(server.server.calls).toEqual(['say'])
  })

  it('are limited to sixteen with the rest reported, and invalid ones are rejected at once', async () => {
    const { url } = await serve('say')
    const mcpServers = Object.fromEntries(Array.from({ length: 18 }, (_, n) => [n === 0 ? 'kit' : `kit${n}`, { url }]))
    const done = await host.workflows.run('ann', { definition: definition(), mcpServers })
    expect(done).toMatchObject({ status: 'completed', droppedToolkits: ['kit16', 'kit17'] })
    await expect(
      host.workflows.start('ann', { definition: definition(), mcpServers: { kit: { url: 7 } } }),
    ).rejects.toMatchObject({ code: 'invalid-input' })
    expect(host.connections.status()).toEqual([])
  })

  it('survive a restart encrypted and are deleted when the run ends', async () => {
    const server = await serve('say', 'ask_first')
    const headers = { authorization: 'Bearer very-secret-token-1234567890' }
    const nodes = [
      node('a', 'kit.say'),
      node('b', 'kit.ask_first', { after: ['a'] }),
      node('c', 'kit.say', { after: ['b'] }),
    ]
    const paused = await host.workflows.run('ann', {
      definition: definition({ nodes }),
      mcpServers: { kit: { url: server.url, headers } },
    })
    expect(paused.status).toBe('paused')
    const inputOf = async () =>
      storage.transaction({ userId: 'ann' }, async (tx) => JSON.stringify((await tx.get('runs', paused.id))?.inputJson))
    expect(await inputOf()).not.toContain('very-secret')
    expect(await inputOf()).toContain('"toolkits"')
    await host.close()
    storage = engine.reopen()
    host = open()
    await host.ready()
    const [approval] = await host.approvals.list('ann', { status: 'pending' })
    await host.approvals.answer('ann', approval?.id ?? '', { decision: 'allow' })
    await expect.poll(async () => (await host.runs.get('ann', paused.id)).status).toBe('completed')
    expect(server.server.calls).toEqual(['say', 'ask_first', 'say'])
    expect(server.requests.at(-1)?.headers.authorization).toBe(headers.authorization)
    expect(await inputOf()).not.toContain('"toolkits"')
  })

  it('receive the cancellation of their run', async () => {
    const server = await startFaultServer({
      tools: [{ name: 'say', inputSchema: { type: 'object' } }],
      at: { 'tools/call': { do: 'hang' } },
    })
    servers.push(server)
    const { id } = await host.workflows.start('ann', {
      definition: definition(),
      mcpServers: { kit: { url: server.url } },
    })
    await expect.poll(() => server.server.calls).toEqual(['say'])
    await host.runs.cancel('ann', id)
    await expect.poll(() => server.open('tools/call')).toBe(0)
    const row = await storage.transaction({ userId: 'ann' }, (tx) => tx.get('runs', id))
    expect(row?.inputJson.toolkits).toBeUndefined()
    expect((await host.runs.get('ann', id)).status).toBe('cancelled')
  })
})
