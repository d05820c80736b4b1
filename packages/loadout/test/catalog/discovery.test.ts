/** When a server is looked at without anybody asking for it: never seen, seen as another, away the last time. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { nodeDrivers } from '../../src/connections/node-drivers.ts'
import { createServices, type HostServices } from '../../src/host/create-services.ts'
import type { ServiceOptions } from '../../src/host/service-options.ts'
import { rule } from '../../src/policy/rules.ts'
import { fileSource } from '../../src/toolkits/sources/file-source.ts'
import { type HttpFaultServer, type HttpFaults, startFaultServer } from '../fixtures/fault-http.ts'

const ann = { tier: 'user', userId: 'ann' } as const
const soon = { timeout: 60_000, interval: 20 }
const listing = (...names: string[]): HttpFaults => ({
  tools: names.map((name) => ({ name, inputSchema: { type: 'object' } })),
})

const AWAY = { status: 503 }
const start = async (script: HttpFaults) => {
  const server = await startFaultServer(script)
  return { url: server.url, [Symbol.asyncDispose]: () => server.close() }
}

let folder: string
let host: HostServices
let a: HttpFaultServer
let b: HttpFaultServer
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'loadout-looks-'))
  a = await startFaultServer(listing('a1', 'a2'))
  b = await startFaultServer(listing('b1'))
})
afterEach(async () => {
  await host.close()
  await a.close()
  await b.close()
  await rm(folder, { recursive: true, force: true })
})

function open(options: ServiceOptions = {}): HostServices {
  host = createServices({
    drivers: nodeDrivers({ guard: { privateNetwork: true } }),
    policy: [rule('*', 'allow')],
    ...options,
  })
  return host
}
const shown = async () => (await host.views.list('ann')).flatMap(({ tools }) => tools.map(({ name }) => name))
const call = (toolkit: string, tool: string) =>
  host.calls.start({ userId: 'ann', toolkit, tool, arguments: {}, caller: { type: 'direct' } }).outcome

describe('a new server', () => {
  it('is discovered in the background when it is first listed', async () => {
    open()
    await host.toolkits.register({ name: 'kit', url: a.url }, ann)
    expect(await shown()).toEqual([])
    await vi.waitFor(async () => expect(await shown()).toEqual(['a1', 'a2']), soon)
  })

  it('is not discovered by a read with asIs', async () => {
    open()
    await host.toolkits.register({ name: 'kit', url: a.url }, ann)
    await host.loadouts.resolve({ userId: 'ann' }, { asIs: true })
    await host.catalog.settled()
    expect(a.server.calls).toEqual([])
    expect((await host.toolkits.find('ann', 'kit')).row.introspectedAt).toBeNull()
  })
})

describe('a server that failed its first discovery', () => {
  it('keeps its last error while it connects again', async () => {
    open()
    const script: HttpFaults = { ...listing('c1'), http: { initialize: AWAY, 'server/discover': AWAY } }
    await using c = await start(script)
    const { stored } = await host.toolkits.register({ name: 'kit', url: c.url }, ann)
    await expect(host.catalog.introspect(stored, 'ann')).rejects.toThrow()
    const state = async () => (await host.views.one('ann', 'kit')).state
    const failed = await state()
    expect(failed).toMatchObject({ status: 'error', reason: expect.stringContaining('503') })
    delete script.http
    script.at = { initialize: { do: 'hang' }, 'server/discover': { do: 'hang' } }
    const fresh = await host.toolkits.find('ann', 'kit')
    await host.connections.reset(fresh.uscoId, 'ann')
    const again = host.catalog.introspect(fresh, 'ann').catch(() => {})
    await vi.waitFor(async () => expect((await state()).status).toBe('connecting'), soon)
    expect(await state()).toMatchObject({ reason: expect.stringContaining('503'), action: expect.any(String) })
    await host.toolkits.remove(fresh.uscoId, ann)
    await again
  })

  it('is discovered again by a read once its catalog is stale', async () => {
    const script: HttpFaults = { ...listing('c1'), http: { initialize: AWAY, 'server/discover': AWAY } }
    await using c = await start(script)
    open({ toolCacheTtlMs: 30 })
    await host.toolkits.register({ name: 'kit', url: c.url }, ann)
    await host.catalog.introspect(await host.toolkits.find('ann', 'kit'), 'ann').catch(() => {})
    expect((await host.toolkits.find('ann', 'kit')).row.introspectionStatus).toBe('error')
    expect(host.catalog.isStale(await host.toolkits.find('ann', 'kit'))).toBe(true)
    delete script.http
    await vi.waitFor(async () => expect(await shown()).toEqual(['c1']), soon)
  })
})

describe('a changed toolkit record', () => {
  it('with another URL is discovered again and keeps no old tools', async () => {
    open()
    await host.toolkits.register({ name: 'kit', url: a.url }, ann)
    expect((await call('kit', 'a1')).status).toBe('ok')
    await host.toolkits.update('kit', { url: b.url }, ann)
    expect((await host.toolkits.find('ann', 'kit')).row).toMatchObject({
      introspectionStatus: null,
      introspectedAt: null,
    })
    expect((await call('kit', 'b1')).status).toBe('ok')
    expect(await call('kit', 'a1')).toMatchObject({ status: 'failed', error: { code: 'tool-not-found' } })
    expect(await shown()).toEqual(['b1'])
  })

  it('with another URL in a config file is discovered again', async () => {
    const path = join(folder, 'mcp-servers.json')
    const write = (url: string) => writeFile(path, JSON.stringify({ mcpServers: { kit: { url } } }))
    await write(a.url)
    open({ sources: [fileSource({ paths: [path], pollMs: 20 })] })
    await vi.waitFor(async () => expect(await shown()).toEqual(['a1', 'a2']), soon)
    await write(b.url)
    await vi.waitFor(async () => expect(await shown()).toEqual(['b1']), soon)
  })

  it('with another name or timeout keeps its catalog', async () => {
    open()
    await host.toolkits.register({ name: 'kit', url: a.url }, ann)
    await call('kit', 'a1')
    const { introspectedAt } = (await host.toolkits.find('ann', 'kit')).row
    await host.toolkits.update('kit', { name: 'Other', timeouts: { callMs: 5000 } }, ann)
    expect((await host.toolkits.find('ann', 'kit')).row).toMatchObject({
      introspectionStatus: 'success',
      introspectedAt,
    })
  })
})
