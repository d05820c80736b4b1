/** What one user does must not touch another: questions, switches, looks, failures. */

import { afterEach, describe, expect, it, vi } from 'vitest'
import { nodeDrivers } from '../../src/connections/node-drivers.ts'
import { createServices, type HostServices } from '../../src/host/create-services.ts'
import { rule } from '../../src/policy/rules.ts'
import { type HttpFaultServer, type HttpFaults, startFaultServer } from '../fixtures/fault-http.ts'

let host: HostServices
const servers: HttpFaultServer[] = []
afterEach(async () => {
  vi.useRealTimers()
  await host.close()
  await Promise.all(servers.splice(0).map((server) => server.close()))
})

/** Timeouts of the host and delays of the server wait for the test; connections are real. */
const fakeTimers = () => vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })

async function start(script: HttpFaults) {
  const server = await startFaultServer(script)
  servers.push(server)
  host = createServices({ policy: [rule('*', 'allow')], drivers: nodeDrivers({ guard: { privateNetwork: true } }) })
  return server
}
const call = (userId: string, args: Record<string, unknown> = {}) =>
  host.calls.start({ userId, toolkit: 'kit', tool: 'echo', arguments: args, caller: { type: 'direct' } })
const ann = { tier: 'user', userId: 'ann' } as const

describe('an app toolkit', () => {
  it('that one user turns off stays on for other users', async () => {
    const server = await start({})
    await host.toolkits.register({ name: 'kit', url: server.url }, { tier: 'app' })
    for (const userId of ['ann', 'bob']) expect((await call(userId).outcome).status).toBe('ok')
    await host.toolkits.setEnabled('bob', 'kit', false)
    await expect.poll(() => host.connections.status().map(({ key }) => key.userId)).toEqual(['ann'])
    expect(await call('bob').outcome).toMatchObject({ error: { code: 'not-carried' } })
    await expect(host.resources.list('bob', 'kit')).rejects.toMatchObject({ code: 'not-carried' })
  })

  it('with a shared connection sends no elicitations to users', async () => {
    const server = await start({ era: 'legacy', sse: true, at: { 'tools/call': { do: 'ask', count: 1 } } })
    await host.toolkits.register({ name: 'kit', url: server.url, shared: true }, { tier: 'app' })
    const asked: string[] = []
    host.inputs.onRequested((userId) => asked.push(userId))
    await call('ann').outcome
    await call('bob').outcome
    expect(asked).toEqual([])
  })

  it('is discovered once for many concurrent users', async () => {
    const server = await start({ at: { 'tools/list': { do: 'delay', ms: 100 } } })
    const { stored } = await host.toolkits.register({ name: 'kit', url: server.url }, { tier: 'app' })
    await Promise.all(['ann', 'bob', 'cyd', 'dan'].map((userId) => host.catalog.introspect(stored, userId)))
    expect(server.requests.filter((request) => request.rpc === 'tools/list')).toHaveLength(1)
  })
})

describe('a discovery', () => {
  it('of a record that changed meanwhile is not stored', async () => {
    const slow = await start({
      tools: [{ name: 'old', inputSchema: { type: 'object' } }],
      at: { 'tools/list': { do: 'delay', ms: 300 } },
    })
    const fresh = await startFaultServer({ tools: [{ name: 'new', inputSchema: { type: 'object' } }] })
    servers.push(fresh)
    const { stored } = await host.toolkits.register({ name: 'kit', url: slow.url }, ann)
    const late = host.catalog.introspect(stored, 'ann').catch(() => {})
    await expect.poll(() => slow.open('tools/list')).toBe(1)
    const changed = await host.toolkits.update('kit', { url: fresh.url }, ann)
    await host.catalog.introspect(changed.stored, 'ann')
    await late
    expect((await host.views.one('ann', 'kit')).tools.map((tool) => tool.name)).toEqual(['new'])
  })

  it('that failed is reported even while a connection is open', async () => {
    const server = await start({ at: { 'tools/list': { do: 'hang' } } })
    const { stored } = await host.toolkits.register(
      { name: 'kit', url: server.url, timeouts: { introspectMs: 300 } },
      ann,
    )
    fakeTimers()
    const failed = host.catalog.introspect(stored, 'ann').catch(() => {})
    await expect.poll(() => server.open('tools/list')).toBe(1)
    await vi.advanceTimersByTimeAsync(300)
    await failed
    expect((await host.views.one('ann', 'kit')).state).toMatchObject({
      status: 'error',
      reason: expect.stringContaining('300 ms'),
    })
  })

  it('allows accepting only the change that was shown', async () => {
    const server = await start({})
    const { stored } = await host.toolkits.register({ name: 'kit', url: server.url }, ann)
    await host.catalog.introspect(stored, 'ann')
    const change = { fingerprint: 'now', manifest: { name: 'echo' } }
    await host.storage.transaction({ caller: 'introspection', userId: 'ann' }, async (tx) => {
      const [pin] = await tx.list('pins', { where: { name: 'echo' } })
      if (pin)
        await tx.update('pins', pin.pinId, {
          set: { changedFingerprint: change.fingerprint, changedManifestJson: change.manifest },
        })
    })
    await expect(host.catalog.accept(stored, { userId: 'ann', pin: 'shown before' })).rejects.toMatchObject({
      code: 'tool-changed',
    })
    expect(await host.catalog.accept(stored, { userId: 'ann', pin: 'now' })).toBe(1)
  })
})

describe('a session', () => {
  it('keeps connecting after its caller cancels and serves the next call', async () => {
    const server = await start({ at: { 'server/discover': { do: 'delay', ms: 1000 } } })
    const echo = { name: 'echo', inputSchema: { type: 'object' } }
    await host.toolkits.register({ name: 'kit', url: server.url, tools: [echo] }, ann)
    const request = { userId: 'ann', toolkit: 'kit', tool: 'echo', arguments: {}, caller: { type: 'direct' as const } }
    fakeTimers()
    const abort = new AbortController()
    const outcome = host.calls.start({ ...request, signal: abort.signal }).outcome
    await expect.poll(() => server.open('server/discover')).toBe(1)
    abort.abort()
    expect(await outcome).toMatchObject({ error: { code: 'cancelled' } })
    // The server has not answered yet: nobody waited for it.
    expect(host.connections.counts().connections).toMatchObject({ connecting: 1 })
    const next = call('ann').outcome
    await vi.advanceTimersByTimeAsync(1000)
    expect((await next).status).toBe('ok')
    expect(server.requests.filter((one) => one.rpc === 'server/discover')).toHaveLength(1)
  })

  it('stays open after a call that the server refuses', async () => {
    const server = await start({ at: { 'tools/call': { do: 'error', code: -32_602, message: 'No.' } } })
    await host.toolkits.register({ name: 'kit', url: server.url }, ann)
    expect(await call('ann').outcome).toMatchObject({
      error: { code: 'refused-by-server', status: 422, message: expect.stringContaining('No.') },
    })
    expect(host.connections.status()).toHaveLength(1)
  })

  it('waits for a user beyond the call timeout and removes the elicitation with the call', async () => {
    const server = await start({
      era: 'legacy',
      sse: true,
      at: { 'tools/call': [{ do: 'ask', count: 1 }, { do: 'hang' }] },
    })
    await host.toolkits.register({ name: 'kit', url: server.url, timeouts: { callMs: 300, totalMs: 300 } }, ann)
    fakeTimers()
    const running = call('ann')
    const input = await running.inputRequested
    await vi.advanceTimersByTimeAsync(600)
    expect(host.calls.get('ann', running.callId)).toMatchObject({ status: 'running', input: { id: input.id } })
    host.inputs.answer('ann', input.id, { action: 'decline' })
    // The clock of the call continues once the answer is on its way to the server.
    let isOver = false
    void running.outcome.then(() => {
      isOver = true
    })
    while (!isOver) await vi.advanceTimersByTimeAsync(300)
    expect(await running.outcome).toMatchObject({ error: { code: 'server-timeout' } })
    expect(host.inputs.list('ann')).toEqual([])
  })

  it('declines elicitations with unsafe URLs', async () => {
    const params = { mode: 'url', message: 'Sign in', url: 'javascript:alert(1)', elicitationId: 'x' }
    const server = await start({ era: 'legacy', sse: true, at: { 'tools/call': { do: 'ask', count: 1, params } } })
    await host.toolkits.register({ name: 'kit', url: server.url }, ann)
    const asked: unknown[] = []
    host.inputs.onRequested((_, input) => asked.push(input))
    expect((await call('ann').outcome).status).toBe('ok')
    expect(asked).toEqual([])
  })

  it('is kept alive by progress without a listener', async () => {
    const server = await start({ sse: true, at: { 'tools/call': { do: 'progress', count: 12, everyMs: 200 } } })
    // Both ends run in one process, so a busy machine delays the timeout and the progress alike.
    await host.toolkits.register({ name: 'kit', url: server.url, timeouts: { callMs: 2000, totalMs: 60_000 } }, ann)
    expect((await call('ann').outcome).status).toBe('ok')
  })

  for (const era of ['legacy', 'modern'] as const)
    it(`closes requests that timed out (${era})`, async () => {
      const server = await start({ era, sse: true, at: { 'tools/call': { do: 'hang' } } })
      await host.toolkits.register({ name: 'kit', url: server.url, timeouts: { callMs: 150, totalMs: 300 } }, ann)
      for (let i = 0; i < 5; i++) expect(await call('ann').outcome).toMatchObject({ error: { code: 'server-timeout' } })
      await expect.poll(() => server.open('tools/call')).toBe(0)
    })

  it('reports the reason of each broken stream', async () => {
    const server = await start({ http: { 'tools/call': 'endless-event' } })
    await host.toolkits.register({ name: 'kit', url: server.url }, ann)
    const outcomes = await Promise.all([call('ann').outcome, call('ann').outcome])
    for (const outcome of outcomes) expect(outcome).toMatchObject({ error: { code: 'response-too-large' } })
  })
})
