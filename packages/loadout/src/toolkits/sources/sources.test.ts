/** Toolkits that are defined outside the database: in a file that people edit while the host runs, and in code. */

import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { EVERYTHING } from '../../../../../test/real-servers.ts'
import { nodeDrivers } from '../../connections/node-drivers.ts'
import { processKeyRing } from '../../credentials/aes-key-ring.ts'
import { createServices, type HostServices } from '../../host/create-services.ts'
import type { ServiceOptions } from '../../host/service-options.ts'
import { rule } from '../../policy/rules.ts'
import { memory } from '../../storage/memory.ts'
import type { Storage } from '../../storage/storage.ts'
import { defineTool } from '../define-tool.ts'
import { fileSource } from './file-source.ts'
import type { SourceRead } from './sources.ts'

let folder: string
let host: HostServices
let here: string
let home: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'loadout-sources-'))
  here = join(folder, 'here', 'mcp-servers.json')
  home = join(folder, 'home', 'mcp-servers.json')
  await mkdir(join(folder, 'here'))
  await mkdir(join(folder, 'home'))
})
afterEach(async () => {
  vi.useRealTimers()
  await host.close()
  await rm(folder, { recursive: true, force: true })
})

const open = (options: ServiceOptions = {}) => {
  host = createServices({
    policy: [rule('*', 'allow')],
    sources: [fileSource({ paths: [here, home], pollMs: 20 })],
    ...options,
  })
  return host
}
const write = (path: string, mcpServers: object) => writeFile(path, JSON.stringify({ mcpServers }, null, 2))
const names = async () => (await host.toolkits.list('ann')).map(({ toolkit }) => toolkit.id)
const soon = { timeout: 60_000, interval: 20 }
const remote = { url: 'https://kb.example/mcp' }

describe('a config file', () => {
  it('is the first existing path and provides read-only toolkits for every user', async () => {
    await write(home, { home: remote })
    open()
    expect(await names()).toEqual(['home'])
    await write(here, { here: remote, 'With Spaces': { command: 'node', args: ['x'] } })
    await vi.waitFor(async () => expect(await names()).toEqual(['here', 'with-spaces']), soon)
    await rm(here)
    await vi.waitFor(async () => expect(await names()).toEqual(['home']), soon)
    await expect(host.toolkits.remove('home', { tier: 'app' })).rejects.toMatchObject({ code: 'read-only' })
    await expect(host.toolkits.update('home', { name: 'x' }, { tier: 'app' })).rejects.toMatchObject({
      code: 'read-only',
    })
    await expect(host.toolkits.register({ id: 'home', name: 'x', ...remote }, { tier: 'app' })).rejects.toMatchObject({
      code: 'read-only',
    })
    expect((await host.views.list('ann'))[0]).toMatchObject({ readOnly: true, tier: 'app' })
  })

  it('is read again when it changes and updates its toolkits', async () => {
    await write(here, { kb: { ...remote, headers: { 'X-Key': 'old-secret' } } })
    open()
    const [before] = await host.toolkits.app()
    const updated: string[] = []
    host.events.on('toolkit-updated', ({ toolkit }) => updated.push(toolkit))
    await write(here, { kb: { ...remote, headers: { 'X-Key': 'new-secret' } }, more: remote })
    await vi.waitFor(async () => expect(await names()).toEqual(['kb', 'more']), soon)
    expect(updated).toEqual(['kb'])
    const secrets = await host.credentials.open({ userId: '', toolkit: before?.uscoId ?? '' })
    expect(secrets).toEqual({ 'headers.X-Key': 'new-secret' })
    expect(JSON.stringify(await host.views.list('ann'))).not.toContain('secret"')
    await write(here, { more: remote })
    await vi.waitFor(async () => expect(await names()).toEqual(['more']), soon)
    expect(await host.credentials.open({ userId: '', toolkit: before?.uscoId ?? '' })).toEqual({})
  })

  it('keeps its last valid toolkits when it is broken and reports the line', async () => {
    await write(here, { kb: remote, other: remote })
    open()
    expect(await names()).toEqual(['kb', 'other'])
    const reported: object[] = []
    host.events.on('source-broken', ({ type: _, userId: _user, ...problem }) => reported.push(problem))
    await writeFile(here, '{\n  "mcpServers": {\n    "kb": { "url": }\n  }\n}')
    // A file that is read while it is written is broken too, for a moment.
    await vi.waitFor(() => expect(host.sources.problems()).toMatchObject([{ source: here, line: 3 }]), soon)
    expect(await names()).toEqual(['kb', 'other'])
    await writeFile(
      here,
      '{\n  "mcpServers": {\n    "kb": {\n      "url": "ftp://nowhere"\n    },\n    "new": { "url": "https://new.example" }\n  }\n}',
    )
    const problem = { source: here, entry: 'kb', line: 4, message: expect.stringContaining('url must be an absolute') }
    await vi.waitFor(() => expect(host.sources.problems()).toEqual([problem]), soon)
    expect(await names()).toEqual(['kb', 'new'])
    expect((await host.toolkits.find('ann', 'kb')).toolkit.server).toMatchObject(remote)
    expect(reported).toMatchObject(expect.arrayContaining([expect.objectContaining({ line: 3 }), problem]))
    await write(here, { kb: remote })
    await vi.waitFor(() => expect(host.sources.problems()).toEqual([]), soon)
  })

  it('does not override the toolkit of an operator, which stays when the file is removed', async () => {
    open()
    await host.ready()
    await host.toolkits.register({ id: 'kb', name: 'Operator', url: 'https://operator.example' }, { tier: 'app' })
    await write(here, { kb: remote })
    const taken = [{ message: expect.stringContaining('from an operator') }]
    await vi.waitFor(() => expect(host.sources.problems()).toMatchObject(taken), soon)
    await rm(here)
    await vi.waitFor(() => expect(host.sources.problems()).toEqual([]), soon)
    expect((await host.toolkits.find('ann', 'kb')).toolkit.name).toBe('Operator')
  })

  it('keeps its toolkits when it disappears for a moment', async () => {
    await write(here, { kb: remote })
    open()
    const reads: SourceRead[] = []
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const stop = await fileSource({ paths: [here], pollMs: 100 }).follow(async (read) => void reads.push(read))
    /** Lets one timer of the source fire, and waits until the source has set the next one. */
    const pass = async () => {
      await vi.advanceTimersByTimeAsync(100)
      await expect.poll(() => vi.getTimerCount()).toBe(1)
    }
    await rename(here, `${here}.new`)
    await pass()
    await rename(`${here}.new`, here)
    await pass()
    expect(reads).toMatchObject([{ source: here }])
    await rm(here)
    await pass()
    await pass()
    expect(reads).toMatchObject([{ source: here }, { replaces: here }])
    stop()
  })

  it('creates another toolkit for a changed id and reports two entries with the same id', async () => {
    await write(here, { Files: remote })
    open()
    expect(await names()).toEqual(['files'])
    await write(here, { Files: { id: 'files2', ...remote }, 'My Kb': remote, 'my-kb': remote })
    const twice = [{ entry: 'my-kb', message: expect.stringContaining('same id') }]
    await vi.waitFor(() => expect(host.sources.problems()).toMatchObject(twice), soon)
    expect(await names()).toEqual(['files2', 'my-kb'])
  })

  it('keeps its toolkits on a host without the file, where an operator can remove them', async () => {
    await write(here, { kb: remote })
    const storage = shared(memory())
    const keyRing = processKeyRing()
    const first = createServices({
      storage: storage.one(),
      keyRing,
      sources: [fileSource({ paths: [here], pollMs: 20 })],
    })
    await first.ready()
    open({ storage: storage.one(), keyRing, sources: [fileSource({ paths: [home], pollMs: 20 })] })
    await host.ready()
    expect(await names()).toEqual(['kb'])
    await expect(first.toolkits.remove('kb', { tier: 'app' })).rejects.toMatchObject({ code: 'read-only' })
    await host.toolkits.remove('kb', { tier: 'app' })
    expect(await names()).toEqual([])
    await first.close()
  })

  it('keeps its toolkits and reports a problem when it cannot be read', async () => {
    await write(here, { kb: remote })
    open()
    expect(await names()).toEqual(['kb'])
    await rm(here)
    await mkdir(here)
    await vi.waitFor(() => expect(host.sources.problems()).toMatchObject([{ message: 'is not a file' }]), soon)
    expect(await names()).toEqual(['kb'])
  })

  it('writes nothing when it is read again unchanged', async () => {
    await write(here, { kb: { ...remote, headers: { 'X-Key': 's' } } })
    const storage = shared(memory())
    const keyRing = processKeyRing()
    open({ storage: storage.one(), keyRing })
    const [first] = await host.toolkits.app()
    await host.close()
    open({ storage: storage.one(), keyRing })
    const [second] = await host.toolkits.app()
    expect(second?.row.updatedAt).toEqual(first?.row.updatedAt)
  })
})

/** A storage that outlives the hosts that use it. */
function shared(storage: Storage) {
  return { one: (): Storage => ({ ...storage, close: async () => {} }) }
}

describe('toolkits in code', () => {
  it('serve every user from the first request with createServices({ mcpServers })', async () => {
    open({ drivers: nodeDrivers(), mcpServers: { everything: { command: process.execPath, args: [EVERYTHING] } } })
    const thread = host.thread({ userId: 'ann', threadId: 't' })
    const { tools } = await thread.loadout()
    expect(tools.map(({ ref }) => ref)).toContain('everything.echo')
    expect(tools[0]).toMatchObject({ tier: 'app', toolkit: 'everything', uscoId: expect.stringMatching(/^usco_/) })
    const call = { name: 'mcp_everything_echo', arguments: { message: 'hi' } }
    expect(await thread.call(call)).toMatchObject({ content: [{ text: 'Echo: hi' }] })
  })

  it('are absent in an empty host', async () => {
    host = createServices()
    expect(await host.toolkits.list('ann')).toEqual([])
  })

  it('include functions with validated input, tool errors and cancellation', async () => {
    const seen: unknown[] = []
    const add = defineTool({
      name: 'add',
      description: 'Adds.',
      inputSchema: z.object({ a: z.number(), b: z.number().default(1) }),
      annotations: { readOnlyHint: true },
      execute: ({ a, b }, { userId, threadId, caller }) => {
        seen.push({ userId, threadId, caller })
        return { sum: a + b }
      },
    })
    const fails = defineTool({ name: 'fails', execute: () => Promise.reject(new Error('not today')) })
    const slow = defineTool({
      name: 'slow',
      execute: (_, { signal }) => new Promise((resolve) => signal.addEventListener('abort', resolve)),
    })
    open({ tools: [add, fails, slow] })
    const thread = host.thread({ userId: 'ann', threadId: 't' })
    const call = (name: string, args = {}) => thread.call({ name, arguments: args })
    expect(await call('app.add', { a: 2 })).toMatchObject({ status: 'ok', structuredContent: { sum: 3 } })
    expect(seen).toEqual([{ userId: 'ann', threadId: 't', caller: { type: 'direct' } }])
    expect(await call('app.add', { a: 'x' })).toMatchObject({ status: 'failed', error: { code: 'invalid-input' } })
    expect(await call('app.fails')).toMatchObject({ status: 'tool-error', content: [{ text: 'not today' }] })
    const signal = AbortSignal.timeout(50)
    expect(await thread.call({ name: 'app.slow', arguments: {}, signal })).toMatchObject({
      error: { code: 'cancelled' },
    })
  })

  it('give no app function to a user record that references it', async () => {
    open({ tools: [defineTool({ name: 'secret', execute: () => 'for the app only' })] })
    const tools = [{ name: 'secret', inputSchema: { type: 'object' }, execute: 'ref:host' }]
    await host.toolkits.register({ id: 'app', name: 'Mine', tools }, { tier: 'user', userId: 'eve' })
    const outcome = await host.thread({ userId: 'eve', threadId: 't' }).call({ name: 'app.secret', arguments: {} })
    expect(outcome).toMatchObject({ status: 'failed', error: { code: 'function-missing' } })
  })
})

describe('app settings', () => {
  it('apply defaults to records without their own and require an endpoint for discovery', async () => {
    open({ app: { defaults: { deferLoading: false } } })
    const register = async (name: string, more = {}) =>
      (await host.toolkits.register({ name, ...remote, ...more }, { tier: 'app' })).stored.toolkit
    expect(await register('one')).toMatchObject({ deferLoading: false, allowedCallers: ['direct', 'code'] })
    await host.app.update({ defaults: { enableProgrammaticCalling: false } })
    expect(await register('two')).toMatchObject({ deferLoading: false, allowedCallers: ['direct'] })
    expect(await register('three', { defer_loading: true, allowed_callers: ['code'] })).toMatchObject({
      deferLoading: true,
      allowedCallers: ['code'],
    })
    await expect(host.app.update({ discovery: { enabled: true } })).rejects.toMatchObject({
      errors: [{ path: 'discovery.endpoint' }],
    })
    await host.app.update({ discovery: { enabled: true, endpoint: 'https://registry.example' } })
    expect(await host.app.get()).toMatchObject({
      discovery: { enabled: true, endpoint: 'https://registry.example', autoDiscover: false },
      defaults: { deferLoading: false, enableProgrammaticCalling: false },
    })
  })
})
