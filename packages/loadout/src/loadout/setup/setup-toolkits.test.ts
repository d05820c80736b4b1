/** Source 000: inline toolkits of an execution context in an invocation, over real servers. */

import fs from 'node:fs'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { InMemoryTransport, McpServer } from '@modelcontextprotocol/server'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { EVERYTHING, FILESYSTEM, startHttpServer } from '../../../../../test/real-servers.ts'
import { nodeDrivers } from '../../connections/node-drivers.ts'
import { createExecutionContext } from '../../context.ts'
import { createServices, type HostServices } from '../../host/create-services.ts'
import type { ServiceOptions } from '../../host/service-options.ts'
import { setupToolkits, withExecutionContext } from '../../node.ts'
import { rule } from '../../policy/rules.ts'
import { localFiles } from '../../toolkits/sources/local-files.ts'
import { MAX_TOOLKITS } from './setup-toolkits.ts'

const node = process.execPath
const everything = {
  transport: { kind: 'stdio', spec: { command: node, args: [EVERYTHING], env: { GOOGLE_KEY: 'anything' } } },
}
const session = { kind: 'session' as const, userId: 'ann' }
const local = { kind: 'local' as const, userId: 'local' }

let folder: string
let host: HostServices
const open = (options: ServiceOptions = {}) => {
  host = createServices({
    policy: [rule('*', 'allow')],
    drivers: nodeDrivers({ baseEnv: { PATH: '/usr/bin:/bin' } }),
    files: localFiles({ folder }),
    ...options,
  })
  return host
}
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'loadout-setup-'))
  open()
})
afterEach(async () => {
  await host.close()
  await rm(folder, { recursive: true, force: true })
})

const echo = { name: 'everything.echo', arguments: { message: 'hello' } }
const files = () => ({ command: node, args: [FILESYSTEM, folder] })
const writeLocal = (name: string, mcpServers: object) => writeFile(join(folder, name), JSON.stringify({ mcpServers }))

/** Files and environment throw from here on, and note who touched them. */
function throwing(what: string) {
  const touched: string[] = []
  const trap = (name: string) => () => {
    touched.push(name)
    throw new Error(`${what} throws: ${name}`)
  }
  const environment = process.env
  const read = fs.promises.readFile
  const readSync = fs.readFileSync
  const stat = fs.promises.stat
  Object.assign(fs.promises, { readFile: trap('readFile'), stat: trap('stat') })
  Object.assign(fs, { readFileSync: trap('readFileSync') })
  syncBuiltinESMExports()
  const get = (_: unknown, name: string | symbol) => trap(`env ${String(name)}`)()
  process.env = new Proxy(environment, { get, has: get, ownKeys: trap('env') }) as NodeJS.ProcessEnv
  const back = () => {
    process.env = environment
    Object.assign(fs.promises, { readFile: read, stat })
    Object.assign(fs, { readFileSync: readSync })
    syncBuiltinESMExports()
  }
  return { touched, back }
}

describe('setupToolkits acceptance', () => {
  it('provides UI toolkits without any mcp-secret.json', async () => {
    const context = createExecutionContext({ principal: session, mcp: { toolkits: { everything } } })
    await using run = await host.setupToolkits(['everything'], { context })
    expect(run.failedToolkits).toEqual([])
    expect(run.resolved).toEqual([
      { name: 'everything', toolkit: 'everything', from: 'context', tools: expect.arrayContaining(['echo']) },
    ])
    expect(await run.call(echo)).toMatchObject({ status: 'ok', content: [{ text: 'Echo: hello' }] })
    expect(await readdir(folder)).toEqual([])
    expect(await host.toolkits.list('ann')).toEqual([])
  })

  it.each(['session', 'api-key'] as const)('reads neither file nor environment for %s principals', async (kind) => {
    const server = await startHttpServer('modern')
    await host.close()
    await writeLocal('mcp-secret.json', { web: { url: 'http://127.0.0.1:1' }, elsewhere: files() })
    open({ drivers: nodeDrivers({ guard: { privateNetwork: true } }) })
    const put = throwing('everything that reads a file or the environment')
    try {
      const context = createExecutionContext({
        principal: { kind, userId: 'ann' },
        toolkits: { web: { url: server.url } },
      })
      const run = await host.setupToolkits(['web', 'elsewhere'], { context, path: 'x.json' })
      const outcome = await run.call({ name: 'web.echo', arguments: { text: 'hi' } })
      await run.close()
      put.back()
      expect(run.missing).toEqual(['elsewhere'])
      expect(run.available).toEqual(['web'])
      expect(outcome).toMatchObject({ status: 'ok' })
      expect(put.touched).toEqual([])
    } finally {
      put.back()
      await server.close()
    }
  })

  it('reads a file for a local principal, which proves that the file trap works', async () => {
    const put = throwing('everything that reads a file or the environment')
    const context = createExecutionContext({ principal: local })
    const run = await host.setupToolkits(['files'], { context }).finally(put.back)
    expect(run.warnings.join()).toContain('mcp-secret.json cannot be used')
    expect(put.touched).toContain('readFile')
  })

  it('falls back to mcp-secret.json for local work when the context has no toolkits', async () => {
    await writeLocal('mcp-secret.json', { files: files() })
    const context = createExecutionContext({ principal: local })
    await using run = await host.setupToolkits(['files'], { context })
    expect(run.resolved).toMatchObject([{ name: 'files', from: './mcp-secret.json' }])
    expect(run.warnings.join()).toContain('comes from ./mcp-secret.json')
    expect(await run.call({ name: 'files.list_allowed_directories', arguments: {} })).toMatchObject({ status: 'ok' })
  })

  it('skips unusable tools that a context lists in advance and warns about them', async () => {
    const tools = { a1: {}, echo: { inputSchema: { type: 'object' } } }
    const context = createExecutionContext({ principal: session, toolkits: { everything: { ...everything, tools } } })
    expect(context.toolkits.everything?.tools?.map(({ name }) => name)).toEqual(['echo'])
    await using run = await host.setupToolkits(['everything'], { context })
    expect(run.warnings.join()).toContain('The toolkit "everything": "tools.a1" cannot be used and was left out')
    expect(await run.call(echo)).toMatchObject({ status: 'ok' })
  })

  it('resolves requested names to tools with their model names', async () => {
    const context = createExecutionContext({ principal: session, toolkits: { everything } })
    const run = await withExecutionContext({ principal: session, toolkits: { everything } }, () =>
      setupToolkits(host, ['everything']),
    )
    expect(run.loadout.tools.map(({ modelName }) => modelName)).toContain('mcp_everything_echo')
    expect(await run.call({ ...echo, name: 'mcp_everything_echo' })).toMatchObject({ status: 'ok' })
    await run.close()
    expect(context.toolkits.everything?.server.type).toBe('stdio')
    expect(() => setupToolkits(host, ['everything'])).toThrow('no execution context')
  })
})

describe('setupToolkits scenarios', () => {
  it('use the local file when no toolkits are stored', async () => {
    await writeLocal('mcp-secret.json', { everything: { command: node, args: [EVERYTHING] } })
    await using run = await host.setupToolkits(['everything'], {
      context: createExecutionContext({ principal: local }),
    })
    expect(await run.call(echo)).toMatchObject({ status: 'ok' })
  })

  it('start toolkits from the session context', async () => {
    await writeLocal('mcp-secret.json', { everything: { command: '/nowhere', args: [] } })
    const context = createExecutionContext({ principal: local, toolkits: { everything } })
    await using run = await host.setupToolkits(['everything'], { context })
    expect(run.resolved[0]?.from).toBe('context')
    expect(await run.call(echo)).toMatchObject({ status: 'ok' })
  })

  it('report a toolkit that fails to start and keep the others', async () => {
    const broken = { command: '/nowhere/to/be/found', args: [] }
    const context = createExecutionContext({ principal: session, toolkits: { broken, everything } })
    await using run = await host.setupToolkits(undefined, { context })
    expect(run.failedToolkits).toEqual([
      { id: 'broken', code: 'spawn-failed', reason: expect.any(String), action: expect.any(String) },
    ])
    expect(await run.call(echo)).toMatchObject({ status: 'ok' })
  })

  it('reuse the connection on a second run and end it on close', async () => {
    const context = createExecutionContext({ principal: session, toolkits: { everything } })
    const first = await host.setupToolkits(['everything'], { context })
    await first.call(echo)
    const pids = () => host.connections.status().map((line) => line.diagnostics().pid)
    const before = pids()
    await first.release()
    expect(await first.call(echo)).toMatchObject({ status: 'failed', error: { code: 'cancelled' } })
    const second = await host.setupToolkits(['everything'], { context })
    await second.call(echo)
    expect(pids()).toEqual(before)
    expect((await host.status()).connections).toMatchObject([{ toolkit: 'everything', userId: 'ann', calls: 0 }])
    await second.close()
    expect(pids()).toEqual([])
  })
})

describe('toolkit resolution', () => {
  it('goes by name through context, explicit path, MCP_SECRET_PATH and ./mcp-secret.json', async () => {
    await host.close()
    await writeLocal('path.json', { b: files(), c: files() })
    await writeLocal('secret.json', { b: files(), c: files(), d: files() })
    await writeLocal('mcp-secret.json', { a: files(), b: files(), c: files(), d: files(), e: files() })
    open({ files: localFiles({ folder, secretPath: 'secret.json' }) })
    const context = createExecutionContext({ principal: local, toolkits: { a: files() } })
    const run = await host.setupToolkits(['a', 'b', 'c', 'd', 'e', 'f'], { context, path: 'path.json' })
    expect(run.resolved.map(({ name, from }) => [name, from])).toEqual([
      ['a', 'context'],
      ['b', 'path.json'],
      ['c', 'path.json'],
      ['d', 'MCP_SECRET_PATH'],
      ['e', './mcp-secret.json'],
    ])
    expect(run.missing).toEqual(['f'])
    expect(run.available).toEqual(['a', 'b', 'c', 'd', 'e'])
    expect(run.warnings.join()).toContain('Requested: f. Available: a, b, c, d, e.')
    expect(
      run.warnings.filter((warning) => warning.includes('comes from')).map((warning) => warning.split('. ')[0]),
    ).toEqual([
      '"b" comes from path.json, the file that was named, which comes before what is stored',
      '"c" comes from path.json, the file that was named, which comes before what is stored',
      '"d" comes from MCP_SECRET_PATH, because no toolkit of that name is stored or in the context',
      '"e" comes from ./mcp-secret.json, because no toolkit of that name is stored or in the context',
    ])
    await run.close()
  })

  it('reports a broken or missing file and tries the next one', async () => {
    await writeFile(join(folder, 'broken.json'), '{ "mcpServers": { "a": ')
    await writeLocal('mcp-secret.json', { a: files(), odd: { nonsense: true } })
    const context = createExecutionContext({ principal: local })
    const run = await host.setupToolkits(['a', 'odd'], { context, path: 'broken.json' })
    expect(run.warnings.join()).toMatch(/broken\.json cannot be used: .*line 1/)
    expect(run.resolved).toMatchObject([{ name: 'a', from: './mcp-secret.json' }])
    expect(run.failedToolkits).toMatchObject([{ id: 'odd', code: 'invalid-input' }])
    await run.close()
    const missing = await host.setupToolkits(['a'], { context, path: 'nowhere.json' })
    expect(missing.warnings.join()).toContain('nowhere.json cannot be used')
    await missing.close()
  })

  it('uses stored toolkits that are named and applies their tier rules', async () => {
    const { stored } = await host.toolkits.register({ name: 'files', ...files() }, { tier: 'user', userId: 'ann' })
    await host.toolkits.register({ name: 'unasked', ...files() }, { tier: 'user', userId: 'ann' })
    await host.catalog.introspect(stored, 'ann')
    await host.activations.set({ userId: 'ann' }, [{ ref: 'files.write_*', on: false }])
    const context = createExecutionContext({ principal: session, toolkits: { everything } })
    await using run = await host.setupToolkits(['files', 'everything'], { context, narrow: { except: ['*.get*'] } })
    const refs = run.loadout.tools.map(({ ref }) => ref)
    expect(run.resolved.map(({ from }) => from)).toEqual(['stored', 'context'])
    expect(refs).toContain('files.read_text_file')
    expect(refs).not.toContain('files.write_file')
    expect(refs.some((ref) => ref.startsWith('unasked.'))).toBe(false)
    expect(refs.some((ref) => ref.includes('.get'))).toBe(false)
  })

  it('reports toolkits that a thread turned off and does not count unnamed ones', async () => {
    const kit = (name: string) => ({
      name,
      tools: [{ name: 'ping', inputSchema: { type: 'object' }, execute: () => 'pong' }],
    })
    for (const name of ['a', 'b']) await host.toolkits.register(kit(name), { tier: 'user', userId: 'ann' })
    await host.preferences.update('ann', { maxServersPerThread: 1 })
    const context = createExecutionContext({ principal: session, scope: { threadId: 't' } })
    const run = await host.setupToolkits(['b'], { context })
    expect(run.resolved).toMatchObject([{ name: 'b', tools: ['ping'] }])
    await host.thread({ userId: 'ann', threadId: 't' }).deactivate('b')
    const off = await host.setupToolkits(['b'], { context })
    expect(off.failedToolkits).toMatchObject([{ id: 'b', code: 'not-carried' }])
    await host.thread({ userId: 'ann', threadId: 't' }).deactivate('*')
    const mine = { tools: [{ name: 'ping', inputSchema: { type: 'object' }, execute: 'ref:host' }] }
    const inlineContext = createExecutionContext({ principal: session, scope: { threadId: 't' }, toolkits: { mine } })
    expect((await host.setupToolkits(['mine'], { context: inlineContext })).failedToolkits).toMatchObject([
      { id: 'mine' },
    ])
  })

  it('accepts display names, prefers IDs and starts nothing when aborted', async () => {
    const toolkits = { 'My Files': { id: 'other', ...files() } }
    const context = createExecutionContext({ principal: session, toolkits })
    const run = await host.setupToolkits(['My Files'], { context })
    expect(run.resolved).toMatchObject([{ name: 'My Files', toolkit: 'my-files', from: 'context' }])
    expect((await host.status()).connections).toMatchObject([{ toolkit: 'my-files', tools: expect.any(Number) }])
    expect((await host.status()).connections[0]?.tools).toBeGreaterThan(5)
    await run.close()
    await host.toolkits.register({ id: 'x', name: 'gh', ...files() }, { tier: 'user', userId: 'ann' })
    await host.toolkits.register({ id: 'gh', name: 'Other', ...files() }, { tier: 'user', userId: 'ann' })
    const plain = createExecutionContext({ principal: session })
    expect((await host.setupToolkits(['gh'], { context: plain })).resolved).toMatchObject([{ toolkit: 'gh' }])
    const gone = createExecutionContext({ principal: session, toolkits, signal: AbortSignal.abort() })
    await expect(host.setupToolkits(undefined, { context: gone })).rejects.toMatchObject({ code: 'cancelled' })
  })

  it(`keeps the first ${MAX_TOOLKITS} toolkits and names the others`, async () => {
    const tools = { ping: { inputSchema: { type: 'object' } } }
    const names = Array.from({ length: 20 }, (_, index) => `kit-${index}`)
    const toolkits = Object.fromEntries(names.map((name) => [name, { command: node, args: [], tools }]))
    const context = createExecutionContext({ principal: session, toolkits })
    const run = await host.setupToolkits(undefined, { context })
    expect(run.droppedToolkits).toEqual(names.slice(16))
    expect(run.resolved.map(({ name }) => name)).toEqual(names.slice(0, 16))
    expect(run.warnings.join()).toContain('kit-16, kit-17, kit-18, kit-19')
    // Manifests that were known in advance serve without a connection.
    expect(host.connections.status()).toEqual([])
  })

  it('resolves secret references only from credentials of the same user', async () => {
    const { stored } = await host.toolkits.register(
      { name: 'keys', command: node, env: { TOKEN: 's3cret' } },
      { tier: 'user', userId: 'ann' },
    )
    const secrets = { MY_KEY: { toolkit: stored.uscoId, field: 'env.TOKEN' } }
    const toolkits = { everything: { command: node, args: [EVERYTHING], env: { KEY: '${secret:MY_KEY}' } } }
    const call = { name: 'everything.get-env', arguments: {} }
    const mine = createExecutionContext({ principal: session, toolkits, secrets })
    await using run = await host.setupToolkits(undefined, { context: mine })
    expect(JSON.stringify(await run.call(call))).toContain('s3cret')
    expect(JSON.stringify(mine)).not.toContain('s3cret')
    const theirs = createExecutionContext({ principal: { kind: 'session', userId: 'bob' }, toolkits, secrets })
    const refused = await host.setupToolkits(undefined, { context: theirs })
    expect(refused.failedToolkits).toMatchObject([{ id: 'everything', code: 'secret-missing' }])
  })

  it('keeps two concurrent invocations with the same names separate', async () => {
    const other = await mkdtemp(join(tmpdir(), 'loadout-other-'))
    const run = async (userId: string, folder: string) => {
      const toolkits = { files: { command: node, args: [FILESYSTEM, folder] } }
      const context = createExecutionContext({ principal: { kind: 'session', userId }, toolkits })
      await using own = await host.setupToolkits(['files'], { context })
      return JSON.stringify(await own.call({ name: 'files.list_allowed_directories', arguments: {} }))
    }
    const [mine, theirs] = await Promise.all([run('ann', folder), run('bob', other)])
    expect([mine.includes(folder), mine.includes(other)]).toEqual([true, false])
    expect([theirs.includes(folder), theirs.includes(other)]).toEqual([false, true])
    await rm(other, { recursive: true })
  })

  it('is reported as an event for logging', async () => {
    const events: unknown[] = []
    host.events.on('toolkits-resolved', (event) => events.push(event))
    const context = createExecutionContext({ principal: session, toolkits: { everything }, runId: 'run_1' })
    const run = await host.setupToolkits(['everything', 'nothing'], { context })
    expect(events).toMatchObject([
      { userId: 'ann', runId: 'run_1', missing: ['nothing'], resolved: [{ name: 'everything', from: 'context' }] },
    ])
    expect(JSON.stringify(events)).not.toContain('anything')
    await run.close()
  })
})

describe('the end of a run', () => {
  it('after an error frees every connection, including those with a running call', async () => {
    const context = createExecutionContext({ principal: session, toolkits: { everything } })
    let late: Promise<unknown> | undefined
    const work = async () => {
      await using run = await host.setupToolkits(['everything'], { context })
      late = run.call({ name: 'everything.trigger-long-running-operation', arguments: { duration: 30, steps: 3 } })
      await expect.poll(async () => (await host.status()).connections).toMatchObject([{ calls: 1 }])
      throw new Error('the workflow failed')
    }
    await expect(work()).rejects.toThrow('the workflow failed')
    expect(await late).toMatchObject({ status: 'failed', error: { code: 'cancelled' } })
    await expect.poll(async () => (await host.status()).connections).toMatchObject([{ calls: 0 }])
  })
})

describe('an app transport', () => {
  const transportTo = () => {
    const server = new McpServer({ name: 'in process', version: '1.0.0' })
    server.registerTool('add', { inputSchema: z.object({ a: z.number(), b: z.number() }) }, async ({ a, b }) => ({
      content: [{ type: 'text', text: String(a + b) }],
    }))
    const [mine, theirs] = InMemoryTransport.createLinkedPair()
    void server.connect(theirs)
    return mine
  }

  it('is never shared between two invocations with the same name', async () => {
    const named = (word: string) => () => {
      const server = new McpServer({ name: word, version: '1.0.0' })
      server.registerTool('who', { inputSchema: z.object({}) }, async () => ({
        content: [{ type: 'text', text: word }],
      }))
      const [mine, theirs] = InMemoryTransport.createLinkedPair()
      void server.connect(theirs)
      return mine
    }
    const context = createExecutionContext({ principal: session })
    const one = await host.setupToolkits(['x'], { context, transports: { x: named('first') } })
    const two = await host.setupToolkits(['x'], { context, transports: { x: named('second') } })
    const who = { name: 'x.who', arguments: {} }
    expect(await two.call(who)).toMatchObject({ content: [{ text: 'second' }] })
    expect(await one.call(who)).toMatchObject({ content: [{ text: 'first' }] })
    await one.close()
    await two.close()
  })

  it('works for an invocation and for a discovery', async () => {
    const context = createExecutionContext({ principal: session })
    const run = await host.setupToolkits(['calc'], { context, transports: { calc: transportTo } })
    expect(run.failedToolkits).toEqual([])
    expect(await run.call({ name: 'calc.add', arguments: { a: 1, b: 2 } })).toMatchObject({ content: [{ text: '3' }] })
    await run.close()
    const found = await host.discover({ url: 'http://in-process.invalid' }, { transport: transportTo })
    expect(found.tools.map(({ name }) => name)).toEqual(['add'])
  })
})

describe('host.discover, host.warm, host.status', () => {
  it('register nothing and leave no connection open after a discovery', async () => {
    const found = await host.discover({ command: node, args: [EVERYTHING] }, { userId: 'ann' })
    expect(found.tools.map(({ name }) => name)).toContain('echo')
    expect(await host.toolkits.list('ann')).toEqual([])
    expect(host.connections.status()).toEqual([])
    await expect(host.discover({ nonsense: 1 })).rejects.toMatchObject({ code: 'invalid-input' })
    await host.close()
    open({ drivers: nodeDrivers({ stdio: 'off' }) })
    await expect(host.discover({ command: node, args: [EVERYTHING] }, { userId: 'ann' })).rejects.toMatchObject({
      code: 'stdio-refused',
    })
  })

  it('warm the toolkits of a user and report failures and connection times', async () => {
    await host.toolkits.register(
      { name: 'Everything', command: node, args: [EVERYTHING] },
      { tier: 'user', userId: 'ann' },
    )
    await host.toolkits.register({ name: 'Broken', command: '/nowhere' }, { tier: 'user', userId: 'ann' })
    await host.toolkits.register({ name: 'Off', command: node, enabled: false }, { tier: 'user', userId: 'ann' })
    expect(await host.warm({ userId: 'ann' })).toEqual(
      expect.arrayContaining([
        { id: 'everything', status: 'connected' },
        { id: 'broken', status: 'failed', reason: expect.any(String), action: expect.any(String) },
      ]),
    )
    // The server reports a list change at once, which triggers an introspection.
    await expect.poll(async () => (await host.status()).connections[0]?.calls).toBe(0)
    const { connections } = await host.status()
    expect(connections).toMatchObject([{ toolkit: 'everything', userId: 'ann', since: expect.any(Date) }])
  })

  it('open shared app toolkits once for all when no user is given', async () => {
    await host.toolkits.register({ name: 'Shared', command: node, args: [EVERYTHING], shared: true }, { tier: 'app' })
    await host.toolkits.register({ name: 'Own', command: node, args: [EVERYTHING] }, { tier: 'app' })
    expect(await host.warm()).toEqual([{ id: 'shared', status: 'connected' }])
    expect((await host.status()).connections).toMatchObject([{ toolkit: 'shared', userId: null }])
    await host.catalog.introspect(await host.toolkits.find('ann', 'shared'), 'ann')
    expect((await host.status()).connections).toMatchObject([
      { toolkit: 'shared', userId: null, tools: expect.any(Number) },
    ])
    expect((await host.status()).connections[0]?.tools).toBeGreaterThan(5)
  })
})
