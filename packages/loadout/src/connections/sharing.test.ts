/** What one user does must not touch another: questions, switches, looks, failures. */

import { afterEach, describe, expect, it } from 'vitest'
import { type HttpFaultServer, type HttpFaults, startFaultServer } from '../../test/fixtures/fault-http.ts'
import { createHost, type Host } from '../host.ts'
import { rule } from '../policy/rule.ts'
import { nodeDrivers } from './node-drivers.ts'

let host: Host
const servers: HttpFaultServer[] = []
afterEach(async () => {
  await host.close()
  await Promise.all(servers.splice(0).map((server) => server.close()))
})

async function start(script: HttpFaults) {
  const server = await startFaultServer(script)
  servers.push(server)
  host = createHost({ policy: [rule('*', 'allow')], drivers: nodeDrivers({ guard: { privateNetwork: true } }) })
  return server
}
const call = (userId: string, args: Record<string, unknown> = {}) =>
  host.calls.start({ userId, toolkit: 'kit', tool: 'echo', arguments: args, caller: { type: 'direct' } })
const ann = { tier: 'user', userId: 'ann' } as const

describe('toolkits of the app', () => {
  it('one switched off by a user is off for that user alone', async () => {
    const server = await start({})
    await host.toolkits.register({ name: 'kit', url: server.url }, { tier: 'app' })
    for (const userId of ['ann', 'bob']) expect((await call(userId).outcome).status).toBe('ok')
    await host.toolkits.setEnabled('bob', 'kit', false)
    await expect.poll(() => host.connections.status().map(({ key }) => key.userId)).toEqual(['ann'])
    expect(await call('bob').outcome).toMatchObject({ error: { code: 'not-carried' } })
    await expect(host.resources.list('bob', 'kit')).rejects.toMatchObject({ code: 'not-carried' })
  })

  it('on a shared line nobody is asked', async () => {
    const server = await start({ era: 'legacy', sse: true, at: { 'tools/call': { do: 'ask', count: 1 } } })
    await host.toolkits.register({ name: 'kit', url: server.url, shared: true }, { tier: 'app' })
    const asked: string[] = []
    host.inputs.onAsked((userId) => asked.push(userId))
    await call('ann').outcome
    await call('bob').outcome
    expect(asked).toEqual([])
  })

  it('many users cause one look', async () => {
    const server = await start({ at: { 'tools/list': { do: 'delay', ms: 100 } } })
    const { stored } = await host.toolkits.register({ name: 'kit', url: server.url }, { tier: 'app' })
    await Promise.all(['ann', 'bob', 'cyd', 'dan'].map((userId) => host.catalog.introspect(stored, userId)))
    expect(server.requests.filter((request) => request.rpc === 'tools/list')).toHaveLength(1)
  })
})

describe('a look', () => {
  it('at a record that was changed meanwhile is not stored', async () => {
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

  it('that failed is told, also while a connection stands', async () => {
    const server = await start({ at: { 'tools/list': { do: 'hang' } } })
    const { stored } = await host.toolkits.register(
      { name: 'kit', url: server.url, timeouts: { introspectMs: 300 } },
      ann,
    )
    await host.catalog.introspect(stored, 'ann').catch(() => {})
    expect((await host.views.one('ann', 'kit')).state).toMatchObject({
      status: 'error',
      reason: expect.stringContaining('300 ms'),
    })
  })

  it('accepts only the change that was shown', async () => {
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
  it('is not waited for by who gives up, and is there for the next', async () => {
    const server = await start({ at: { 'server/discover': { do: 'delay', ms: 1000 } } })
    const echo = { name: 'echo', inputSchema: { type: 'object' } }
    await host.toolkits.register({ name: 'kit', url: server.url, tools: [echo] }, ann)
    const request = { userId: 'ann', toolkit: 'kit', tool: 'echo', arguments: {}, caller: { type: 'direct' as const } }
    const given = await host.calls.start({ ...request, signal: AbortSignal.timeout(50) }).outcome
    expect(given).toMatchObject({ error: { code: 'cancelled' } })
    // The server has not answered yet: nobody waited for it.
    expect(host.connections.counts().connections).toMatchObject({ connecting: 1 })
    expect((await call('ann').outcome).status).toBe('ok')
    expect(server.requests.filter((one) => one.rpc === 'server/discover')).toHaveLength(1)
  })

  it('outlives an answer that says no', async () => {
    const server = await start({ at: { 'tools/call': { do: 'error', code: -32_602, message: 'No.' } } })
    await host.toolkits.register({ name: 'kit', url: server.url }, ann)
    expect(await call('ann').outcome).toMatchObject({
      error: { code: 'refused-by-server', status: 422, message: expect.stringContaining('No.') },
    })
    expect(host.connections.status()).toHaveLength(1)
  })

  it('waits for its user for longer than a call may take, and forgets the question with the call', async () => {
    const server = await start({
      era: 'legacy',
      sse: true,
      at: { 'tools/call': [{ do: 'ask', count: 1 }, { do: 'hang' }] },
    })
    await host.toolkits.register({ name: 'kit', url: server.url, timeouts: { callMs: 300, totalMs: 300 } }, ann)
    const running = call('ann')
    const input = await running.asked
    await new Promise((resolve) => setTimeout(resolve, 600))
    expect(host.calls.get('ann', running.callId)).toMatchObject({ status: 'running', input: { id: input.id } })
    host.inputs.answer('ann', input.id, { action: 'decline' })
    expect(await running.outcome).toMatchObject({ error: { code: 'server-timeout' } })
    expect(host.inputs.list('ann')).toEqual([])
  })

  it('declines questions that lead nowhere good', async () => {
    const params = { mode: 'url', message: 'Sign in', url: 'javascript:alert(1)', elicitationId: 'x' }
    const server = await start({ era: 'legacy', sse: true, at: { 'tools/call': { do: 'ask', count: 1, params } } })
    await host.toolkits.register({ name: 'kit', url: server.url }, ann)
    const asked: unknown[] = []
    host.inputs.onAsked((_, input) => asked.push(input))
    expect((await call('ann').outcome).status).toBe('ok')
    expect(asked).toEqual([])
  })

  it('is kept alive by progress that nobody listens to', async () => {
    const server = await start({ sse: true, at: { 'tools/call': { do: 'progress', count: 12, everyMs: 100 } } })
    await host.toolkits.register({ name: 'kit', url: server.url, timeouts: { callMs: 400, totalMs: 5000 } }, ann)
    expect((await call('ann').outcome).status).toBe('ok')
  })

  for (const era of ['legacy', 'modern'] as const)
    it(`lets go of requests that were given up (${era})`, async () => {
      const server = await start({ era, sse: true, at: { 'tools/call': { do: 'hang' } } })
      await host.toolkits.register({ name: 'kit', url: server.url, timeouts: { callMs: 150, totalMs: 300 } }, ann)
      for (let i = 0; i < 5; i++) expect(await call('ann').outcome).toMatchObject({ error: { code: 'server-timeout' } })
      await expect.poll(() => server.open('tools/call')).toBe(0)
    })

  it('gives each broken stream its own reason', async () => {
    const server = await start({ http: { 'tools/call': 'endless-event' } })
    await host.toolkits.register({ name: 'kit', url: server.url }, ann)
    const outcomes = await Promise.all([call('ann').outcome, call('ann').outcome])
    for (const outcome of outcomes) expect(outcome).toMatchObject({ error: { code: 'response-too-large' } })
  })
})
