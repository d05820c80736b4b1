/** HTTP+SSE: detected, remembered, and recovered when its stream breaks. */
import { expect } from 'vitest'
import type { HttpScenario, Seen } from '../../../../../test/scenario-http.ts'
import type { ScenarioContext, Scenarios } from './scenario-context.ts'

/** What was posted to the address of the stream, which a newer server would have answered. */
const probes = (server: HttpScenario) => server.seen.filter(({ path, http }) => http === 'POST' && path === '/mcp')

/** Its stream breaks at the first call. */
async function breaking(world: ScenarioContext): Promise<HttpScenario> {
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
  async 'is found when POST returns 405, and calls go to the endpoint that the stream names'(world) {
    const server = await world.http('sse')
    expect(world.view.state.status).toBe('connected')
    expect((await world.call('echo', { text: 'hi' })).body.content[0].text).toBe('hi')
    expect(probes(server).length).toBeGreaterThanOrEqual(1)
    expect(server.of('GET')).toHaveLength(1)
    expect(server.of('tools/call')[0]?.path).toMatch(/^\/message\?session=/)
  },

  async 'is remembered, so the next connection skips streamable HTTP'(world) {
    const server = await world.http('sse')
    const before = probes(server).length
    expect((await world.ask(`POST /mcp/${world.id}/introspect`)).body.state.status).toBe('connected')
    expect(probes(server)).toHaveLength(before)
    expect(server.of('GET')).toHaveLength(2)
  },

  async 'does not repeat a call that may have run when its stream breaks'(world) {
    const server = await breaking(world)
    expect(await world.call('write', { text: 'x' })).toMatchObject({ status: 502, body: { code: 'session-lost' } })
    expect(server.of('tools/call')).toHaveLength(1)
    expect((await world.call('write', { text: 'y' })).status).toBe(200)
    expect(server.notes).toEqual(['write y'])
  },

  async 'repeats a read-only call once on a new session when its stream breaks'(world) {
    const server = await breaking(world)
    expect((await world.call('echo', { text: 'hi' })).body.content[0].text).toBe('hi')
    const [first, second, ...more] = server.of('tools/call').map(({ path }) => path)
    expect(first).not.toBe(second)
    expect(more).toEqual([])
    expect(server.notes).toEqual(['echo hi'])
  },

  async 'is used at once for type sse'(world) {
    const server = await world.http('sse', { record: { type: 'sse' } })
    expect(world.view.state.status).toBe('connected')
    expect(probes(server)).toHaveLength(0)
    expect((await world.call('write', { text: 'x' })).status).toBe(200)
  },
}
