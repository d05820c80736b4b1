/** The old HTTP+SSE: found by itself, remembered, and its one stream may break. */
import { expect } from 'vitest'
import type { HttpScenario, Seen } from '../../../../../test/scenario-http.ts'
import type { Scenarios, World } from './world.ts'

/** What was posted to the address of the stream, which a newer server would have answered. */
const probes = (server: HttpScenario) => server.seen.filter(({ path, http }) => http === 'POST' && path === '/mcp')

/** Its stream breaks at the first call. */
async function breaking(world: World): Promise<HttpScenario> {
  const made: { server?: HttpScenario } = {}
  const fault = ({ message }: Seen, response: { writeHead(status: number): { end(): void } }, nth: number) => {
    if (message?.method !== 'tools/call' || nth > 1) return false
    response.writeHead(202).end()
    setTimeout(() => made.server?.dropStreams(), 20)
    return true
  }
  made.server = await world.http('sse', { fault })
  return made.server
}

export const OLD_SSE: Scenarios = {
  async 'a server that answers POST with 405 is asked for its stream; calls go to the endpoint that it names'(world) {
    const server = await world.http('sse')
    expect(world.view.state.status).toBe('connected')
    expect((await world.call('echo', { text: 'hi' })).body.content[0].text).toBe('hi')
    expect(probes(server).length).toBeGreaterThanOrEqual(1)
    expect(server.of('GET')).toHaveLength(1)
    expect(server.of('tools/call')[0]?.path).toMatch(/^\/message\?session=/)
  },

  async 'that is remembered: the next connection does not try the newer way'(world) {
    const server = await world.http('sse')
    const before = probes(server).length
    expect((await world.ask(`POST /mcp/${world.id}/introspect`)).body.state.status).toBe('connected')
    expect(probes(server)).toHaveLength(before)
    expect(server.of('GET')).toHaveLength(2)
  },

  async 'its stream breaks in a call: what may have happened is not done again'(world) {
    const server = await breaking(world)
    expect(await world.call('write', { text: 'x' })).toMatchObject({ status: 502, body: { code: 'session-lost' } })
    expect(server.of('tools/call')).toHaveLength(1)
    expect((await world.call('write', { text: 'y' })).status).toBe(200)
    expect(server.notes).toEqual(['write y'])
  },

  async 'its stream breaks in a call: what only reads is asked once more, on a new session'(world) {
    const server = await breaking(world)
    expect((await world.call('echo', { text: 'hi' })).body.content[0].text).toBe('hi')
    const [first, second, ...more] = server.of('tools/call').map(({ path }) => path)
    expect(first).not.toBe(second)
    expect(more).toEqual([])
    expect(server.notes).toEqual(['echo hi'])
  },

  async 'with type sse it is spoken at once'(world) {
    const server = await world.http('sse', { record: { type: 'sse' } })
    expect(world.view.state.status).toBe('connected')
    expect(probes(server)).toHaveLength(0)
    expect((await world.call('write', { text: 'x' })).status).toBe(200)
  },
}
