/** Tool lists that change: the server notifies, Loadout refreshes and the API reports. */
import { expect } from 'vitest'
import { provenWithin } from '../../../../../test/prove/work.ts'
import type { Fault } from '../../../../../test/scenario-http.ts'
import { pause, type ScenarioContext, type Scenarios } from './scenario-context.ts'

const toolNames = async (world: ScenarioContext) =>
  (await world.ask(`GET /mcp/${world.id}`)).body.tools.map(({ name }: { name: string }) => name)

/** A new tool of the server is heard of at the API, and can be called. */
async function grows(world: ScenarioContext, nth = 1): Promise<void> {
  const events = await world.events()
  expect((await world.call('grow')).status).toBe(200)
  const loaded = { ref: `${world.id}.grown-${nth}` }
  await world.until(() => events.all('tool-loaded').some(({ ref }) => ref === loaded.ref))
  await world.until(() => events.all('catalog-changed').some(({ toolkit }) => toolkit === world.id))
  expect(await toolNames(world)).toContain(`grown-${nth}`)
  expect((await world.call(`grown-${nth}`)).body.content[0].text).toBe(`grown-${nth}`)
}

export const CHANGES: Scenarios = {
  async 'arrive on the GET stream over legacy HTTP'(world) {
    const server = await world.http('legacy')
    await world.until(() => server.of('GET').length === 1)
    expect(server.of('GET')[0]?.headers.accept).toContain('text/event-stream')
    await grows(world)
    expect(server.of('tools/list')).toHaveLength(2)
    expect(server.of('GET')).toHaveLength(1)
  },

  async 'arrive by subscriptions/listen over 2026-07-28 HTTP'(world) {
    const server = await world.http('modern')
    const [listen] = await world.until(
      () => server.of('subscriptions/listen').length > 0 && server.of('subscriptions/listen'),
    )
    expect(listen?.message?.params?.notifications).toMatchObject({ toolsListChanged: true })
    await grows(world)
    expect(server.of('tools/list')).toHaveLength(2)
    expect(server.of('GET')).toHaveLength(0)
  },

  async 'arrive as notifications over legacy stdio'(world) {
    const server = await world.stdio('legacy')
    await grows(world)
    expect(server.of('tools/list')).toHaveLength(2)
  },

  async 'arrive by subscriptions/listen over 2026-07-28 stdio'(world) {
    const server = await world.stdio('modern')
    await world.until(() => server.of('subscriptions/listen').length === 1)
    await grows(world)
    expect(server.of('tools/list')).toHaveLength(2)
  },

  async 'arrive on the only stream over HTTP+SSE'(world) {
    const server = await world.http('sse')
    await grows(world)
    expect(server.of('tools/list')).toHaveLength(2)
  },

  async 'cause one refresh now and one later when many arrive at once'(world) {
    const server = await world.http('legacy')
    await world.until(() => server.of('GET').length === 1)
    const events = await world.events()
    expect((await world.call('grow', { times: 3000 })).status).toBe(200)
    await world.until(() => events.all('tool-loaded').length > 0)
    await pause(700)
    expect(server.of('tools/list')).toHaveLength(2)
    expect(events.all('catalog-changed').filter(({ toolkit }) => toolkit === world.id)).toHaveLength(1)
  },

  async 'arrive on a new GET stream after a legacy server ends the first'(world) {
    const server = await world.http('legacy')
    await world.until(() => server.of('GET').length === 1)
    server.dropStreams()
    await world.until(() => server.of('GET').length === 2)
    await grows(world)
    expect(server.of('initialize')).toHaveLength(1)
  },

  async 'arrive on a new listen stream after a 2026-07-28 server ends the first, and missed changes are refreshed'(
    world,
  ) {
    const server = await world.http('modern')
    await world.until(() => server.of('subscriptions/listen').length === 1)
    server.dropStreams()
    await grows(world)
    expect(server.of('subscriptions/listen')).toHaveLength(2)
    expect(server.of('server/discover')).toHaveLength(1)
  },

  async 'arrive on a later 2026-07-28 connection too'(world) {
    const server = await world.http('modern')
    await world.until(() => server.of('subscriptions/listen').length === 1)
    expect((await world.ask(`POST /mcp/${world.id}/introspect`)).body.state.status).toBe('connected')
    await world.until(() => server.of('subscriptions/listen').length === 2)
    await pause(100)
    await grows(world)
  },

  async 'are requested once from a 2026-07-28 server that refuses subscriptions, and its tools work'(world) {
    const server = await world.http('modern', {
      fault: ({ message }, response) => {
        if (message?.method !== 'subscriptions/listen') return false
        const error = { code: -32_601, message: 'Method not found' }
        response.writeHead(200, { 'content-type': 'application/json' })
        response.end(JSON.stringify({ jsonrpc: '2.0', id: message.id, error }))
        return true
      },
    })
    expect(world.view.state.status).toBe('connected')
    expect((await world.call('echo', { text: 'hi' })).status).toBe(200)
    await pause(1500)
    expect(server.of('subscriptions/listen')).toHaveLength(1)
  },

  async 'do not delay calls when a 2026-07-28 server never confirms the subscription'(world) {
    const fault: Fault = ({ message }) => message?.method === 'subscriptions/listen'
    const server = await provenWithin(4000, () => world.http('modern', { fault }))
    expect(world.view.state.status).toBe('connected')
    expect((await world.call('echo', { text: 'hi' })).status).toBe(200)
    expect(server.notes).toEqual(['echo hi'])
  },
}
