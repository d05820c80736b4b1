/** Tools of a server that is not trusted: off until a person accepts them. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { nodeDrivers } from '../../src/connections/node-drivers.ts'
import { createServices, type HostServices } from '../../src/host/create-services.ts'
import { rule } from '../../src/policy/rules.ts'
import { type HttpFaultServer, startFaultServer } from '../fixtures/fault-http.ts'
import type { FaultTool } from '../fixtures/fault-script.ts'

const ann = { tier: 'user', userId: 'ann' } as const
const tool = (name: string, more: object = {}): FaultTool => ({ name, inputSchema: { type: 'object' }, ...more })

let host: HostServices
let server: HttpFaultServer
/** What the server lists; changed between looks. */
const script: { tools: FaultTool[] } = { tools: [] }

beforeEach(async () => {
  script.tools = [tool('one'), tool('two')]
  server = await startFaultServer(script)
  host = createServices({ drivers: nodeDrivers({ guard: { privateNetwork: true } }), policy: [rule('*', 'allow')] })
})
afterEach(async () => {
  await host.close()
  await server.close()
})

const stored = () => host.toolkits.find('ann', 'kit')
const look = async () => host.catalog.introspect(await stored(), 'ann')
const register = async (more: object = {}) => {
  await host.toolkits.register({ name: 'kit', url: server.url, ...more }, ann)
  await look()
}
const accept = async (more: { tool?: string; pin?: string } = {}) =>
  host.catalog.accept(await stored(), { userId: 'ann', ...more })
const call = async (name: string) => {
  const direct = { userId: 'ann', toolkit: 'kit', caller: { type: 'direct' } as const }
  const outcome = await host.calls.start({ ...direct, tool: name, arguments: {} }).outcome
  return 'error' in outcome && outcome.error ? outcome.error.code : outcome.status
}
const available = async () => (await host.loadouts.resolve({ userId: 'ann' })).tools.map((entry) => entry.tool)
const view = () => host.views.one('ann', 'kit')
const enabled = async () => Object.fromEntries((await view()).tools.map((one) => [one.name, one.enabled]))

describe('an untrusted server', () => {
  it('starts with all tools off and reports why and what to do', async () => {
    await register({ untrusted: true })
    expect(await available()).toEqual([])
    expect(await call('one')).toBe('tool-not-accepted')
    expect(await host.thread({ userId: 'ann', threadId: 't' }).explain()).toMatchObject([
      { ref: 'kit.one', included: false },
      { ref: 'kit.two', included: false },
    ])
    const { state, tools } = await view()
    expect(state).toMatchObject({ status: 'changed', reason: expect.stringMatching(/not trusted: one, two$/) })
    expect(tools).toMatchObject([{ enabled: false, held: expect.stringContaining('accept it') }, { enabled: false }])
    expect(server.server.calls).toEqual([])
  })

  it('turns on an accepted tool and keeps later tools off', async () => {
    await register({ untrusted: true })
    expect(await accept({ tool: 'one' })).toBe(1)
    expect([await call('one'), await call('two'), await available()]).toEqual(['ok', 'tool-not-accepted', ['one']])
    expect(await accept()).toBe(1)
    expect((await view()).state.status).toBe('connected')
    script.tools = [...script.tools, tool('three')]
    await look()
    expect(await enabled()).toEqual({ one: true, two: true, three: false })
    expect(await call('three')).toBe('tool-not-accepted')
  })

  it('rejects accepting a tool that changed after it was shown', async () => {
    await register({ untrusted: true })
    const shown = (await view()).tools[0]?.pin as string
    script.tools = [tool('one', { description: 'Another.' })]
    await look()
    await expect(accept({ tool: 'one', pin: shown })).rejects.toMatchObject({ code: 'tool-changed' })
    const [now] = (await view()).tools
    expect(now?.changed).toBeUndefined()
    expect(await accept({ tool: 'one', pin: now?.pin as string })).toBe(1)
    expect(await call('one')).toBe('ok')
    script.tools = [tool('one', { description: 'A third.' })]
    await look()
    expect(await call('one')).toBe('tool-changed')
  })

  it('is connected while only excluded tools are not accepted', async () => {
    await register({ untrusted: true, exclude: ['two'] })
    await accept({ tool: 'one' })
    expect((await view()).state.status).toBe('connected')
    expect(await call('two')).toBe('tool-not-accepted')
  })

  it('keeps tools off that come from manifests in its record', async () => {
    const manifest = { name: 'one', inputSchema: { type: 'object' } }
    await host.toolkits.register({ name: 'kit', url: server.url, untrusted: true, tools: [manifest] }, ann)
    expect([await available(), await call('one')]).toEqual([[], 'tool-not-accepted'])
  })
})

describe('a trust change', () => {
  it('to trusted turns on held tools and still detects later tool changes', async () => {
    await host.app.update({ trust: { userToolkits: false } })
    await register()
    expect(await call('one')).toBe('tool-not-accepted')
    await host.app.update({ trust: { userToolkits: true } })
    expect([await call('one'), await available()]).toEqual(['ok', ['one', 'two']])
    expect((await view()).state.status).toBe('connected')
    script.tools = [tool('one', { description: 'Another.' }), tool('two')]
    await look()
    expect(await call('one')).toBe('tool-changed')
  })

  it('to untrusted keeps existing tools on and later tools off', async () => {
    await register()
    await host.app.update({ trust: { untrusted: ['ki*'] } })
    expect(await available()).toEqual(['one', 'two'])
    script.tools = [...script.tools, tool('three')]
    await look()
    expect([await call('one'), await call('three')]).toEqual(['ok', 'tool-not-accepted'])
  })
})

it('a trusted server has all its tools on at once', async () => {
  await register()
  script.tools = [...script.tools, tool('three')]
  await look()
  expect(await enabled()).toEqual({ one: true, two: true, three: true })
  expect([await call('three'), await accept()]).toEqual(['ok', 0])
})
