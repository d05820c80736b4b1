/** A look ahead over real servers: each problem by its name, all at once, and nothing was called. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type HttpFaultServer, startFaultServer } from '../../../test/fixtures/fault-http.ts'
import type { FaultTool } from '../../../test/fixtures/fault-script.ts'
import { nodeDrivers } from '../../connections/node-drivers.ts'
import { createServices, type HostServices } from '../../host/create-services.ts'
import { rule } from '../../policy/rules.ts'

const ann = { tier: 'user', userId: 'ann' } as const
const text = {
  type: 'object',
  properties: { path: { type: 'string' }, n: { type: 'integer' } },
  required: ['path'],
  additionalProperties: false,
}
const listed = (name: string, more: object = {}): FaultTool => ({
  name,
  inputSchema: text,
  annotations: { readOnlyHint: true },
  ...more,
})

let host: HostServices
let servers: HttpFaultServer[]
const script: { tools: FaultTool[] } = { tools: [] }

const start = async (options: Parameters<typeof startFaultServer>[0]) => {
  const server = await startFaultServer(options)
  servers.push(server)
  return server
}
const register = async (id: string, record: object) => {
  const { stored } = await host.toolkits.register({ id, name: id, ...record }, ann)
  await host.catalog.introspect(stored, 'ann').catch(() => {})
  return stored
}
const called = () => servers.flatMap(({ server }) => server.calls)

beforeEach(async () => {
  servers = []
  script.tools = [listed('read_file'), listed('write_file'), listed('gone'), listed('secret_file')]
  host = createServices({
    drivers: nodeDrivers({ guard: { privateNetwork: true } }),
    policy: [rule('*.secret_*', 'deny'), rule('*', 'allow')],
  })
  await host.ready()
  await register('filesystem', { url: (await start(script)).url })
})
afterEach(async () => {
  await host.close()
  await Promise.all(servers.map((server) => server.close()))
})

const node = (id: string, ref: string, args: object = { path: 'x' }) => ({ id, type: 'tool', ref, arguments: args })
const check = (nodes: object[]) => host.workflows.check('ann', { definition: { name: 'w', nodes } })

describe('the preflight check', () => {
  it('finds no problems in a valid workflow and sends no request', async () => {
    const [server] = servers
    const before = server?.requests.length
    const found = await check([node('a', 'filesystem.read_file', { path: '{{ input.p }}' })])
    expect(found).toEqual({ ok: true, problems: [], warnings: [], unseen: [] })
    expect(server?.requests.length).toBe(before)
  })

  it('does not refresh a server with an expired tool cache', async () => {
    const server = await start({ tools: [listed('x')] })
    const old = createServices({
      drivers: nodeDrivers({ guard: { privateNetwork: true } }),
      policy: [rule('*', 'allow')],
      toolCacheTtlMs: 1,
    })
    try {
      for (const id of ['mine', 'other']) {
        const { stored } = await old.toolkits.register({ id, name: id, url: server.url }, ann)
        await old.catalog.introspect(stored, 'ann')
      }
      await new Promise((resolve) => setTimeout(resolve, 20))
      const before = server.requests.length
      const definition = { name: 'w', nodes: [node('a', 'mine.x')] }
      expect(await old.workflows.check('ann', { definition })).toMatchObject({ ok: true })
      expect(await old.workflows.validate('ann', definition)).toBeUndefined()
      await old.catalog.settled()
      expect(server.requests.length).toBe(before)
    } finally {
      await old.close()
    }
  })

  it('finds each of twelve problems at once by name and calls no tool', async () => {
    await register('off', { url: (await start({ tools: [listed('x')] })).url })
    await host.toolkits.update('off', { enabled: false }, ann)
    await register('broken', { url: 'http://127.0.0.1:9/mcp' })
    await register('locked', {
      url: (
        await start({ tools: [listed('x')], http: { initialize: { status: 401 }, 'server/discover': { status: 401 } } })
      ).url,
    })
    await register('by_hand', { url: (await start({ tools: [listed('x')] })).url, allowedCallers: ['direct'] })
    script.tools = [
      listed('read_file', { description: 'Other words.' }),
      listed('write_file'),
      listed('secret_file'),
      listed('quiet'),
    ]
    await host.catalog.introspect(await host.toolkits.find('ann', 'filesystem'), 'ann')
    await host.activations.set({ userId: 'ann' }, [{ ref: 'filesystem.quiet', on: false }])
    await host.preferences.update('ann', { costLimits: { maxCallsPerHour: 5 } })
    const found = await check([
      node('missing', 'filesystem.gone'),
      node('never', 'filesystem.never_was'),
      node('unknown', 'nobody.x'),
      node('off', 'off.x'),
      node('broken', 'broken.x'),
      node('locked', 'locked.x'),
      node('changed', 'filesystem.read_file'),
      node('denied', 'filesystem.secret_file'),
      node('wrong', 'filesystem.write_file', { n: 'many', more: 1, path: '{{ input.p }}' }),
      node('quiet', 'filesystem.quiet'),
      { id: 'code', type: 'code', program: 'return 1', tools: ['by_hand.x'] },
      { id: 'agent', type: 'agent', prompt: 'x', tools: ['none_of_it'] },
    ])
    const problems = found.problems.map(({ node: id, code, message }) => `${id ?? ''} ${code}: ${message}`)
    expect(problems).toEqual([
      "code function-missing: Node 'code' is a program, and this host runs none.",
      "agent function-missing: Node 'agent' is an agent, and this host has none.",
      "missing tool-not-found: Tool 'filesystem.gone' not found in server 'filesystem'. Re-introspect server or remove tool.",
      "never tool-not-found: Tool 'filesystem.never_was' not found in server 'filesystem'. Re-introspect server or remove tool.",
      "unknown not-found: Requested 'nobody', and there is no such toolkit. Available: filesystem, off, broken, locked, by_hand.",
      "off not-carried: The toolkit 'off' is switched off.",
      expect.stringMatching(/^broken server-unreachable: The server of 'broken' does not work: /),
      "broken tool-not-found: Tool 'broken.x' not found in server 'broken'. Re-introspect server or remove tool.",
      "locked sign-in-needed: You are not signed in to the server of 'locked'.",
      "locked tool-not-found: Tool 'locked.x' not found in server 'locked'. Re-introspect server or remove tool.",
      "changed tool-changed: The tool 'filesystem.read_file' is not what was accepted: its server changed it.",
      expect.stringMatching(/^denied denied: The call of 'filesystem.secret_file' is denied\. /),
      expect.stringMatching(/^wrong invalid-input: The arguments of 'filesystem.write_file' do not fit: n must be/),
      expect.stringMatching(/^wrong invalid-input: The arguments of 'filesystem.write_file' do not fit: more /),
      expect.stringMatching(/^quiet not-carried: The tool 'filesystem.quiet' is not carried\. /),
      'code not-carried: The tool \'by_hand.x\' may not be called by "code", only by direct.',
      "agent not-found: Requested 'none_of_it', and there is no such toolkit. Available: filesystem, off, broken, locked, by_hand.",
      expect.stringMatching(/^ limit-reached: The limit of 5 calls an hour leaves 5, and it makes 10 or more\.$/),
    ])
    expect(found.problems.every(({ action }) => action.length > 0)).toBe(true)
    expect(called()).toEqual([])
  })

  it('fails a run before its first call', async () => {
    const definition = { name: 'w', nodes: [node('a', 'filesystem.write_file'), node('b', 'filesystem.gone2')] }
    const done = await host.workflows.run('ann', { definition })
    expect(done).toMatchObject({ status: 'failed', steps: [] })
    expect(done.error).toMatchObject({
      code: 'preflight-failed',
      message: "Tool 'filesystem.gone2' not found in server 'filesystem'. Re-introspect server or remove tool.",
      problems: [{ path: 'nodes.1.ref', node: 'b', ref: 'filesystem.gone2', code: 'tool-not-found' }],
    })
    expect(called()).toEqual([])
  })

  it('lists undiscovered servers without contacting them, and a run discovers them first', async () => {
    const server = await start({ tools: [listed('x')] })
    await host.toolkits.register({ id: 'fresh', name: 'fresh', url: server.url }, ann)
    expect(await check([node('a', 'fresh.x')])).toMatchObject({ ok: true, unseen: ['fresh'] })
    expect(server.requests).toEqual([])
    const run = (ref: string) => host.workflows.run('ann', { definition: { name: 'w', nodes: [node('a', ref)] } })
    expect(await run('fresh.y')).toMatchObject({ status: 'failed', error: { code: 'preflight-failed' } })
    expect((await run('fresh.x')).status).toBe('completed')
    expect(server.server.calls).toEqual(['x'])
  })
})
