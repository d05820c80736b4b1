/** Lost sessions, and the headers of every request of a session. */
import { expect } from 'vitest'
import { provenWithin } from '../../../../../test/prove/work.ts'
import type { Fault, Seen } from '../../../../../test/scenario-http.ts'
import { pause, type Scenarios } from './scenario-context.ts'

const isCall = ({ message }: Seen) => message?.method === 'tools/call'

/** The server no longer knows the session, at the first so many calls. */
const forgets =
  (times: number): Fault =>
  (seen, response, nth) => {
    if (!isCall(seen) || nth > times) return false
    response.writeHead(404).end()
    return true
  }

/** The answer breaks off, at the first so many calls. */
const breaks =
  (times: number): Fault =>
  (seen, response, nth) => {
    if (!isCall(seen) || nth > times) return false
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write(': working\n\n')
    setTimeout(() => response.destroy(), 20)
    return true
  }

const sessionOf = ({ headers }: Seen) => headers['mcp-session-id']

export const SESSIONS: Scenarios = {
  async 'a session that the server lost (404) is reopened and the call runs once'(world) {
    const server = await world.http('legacy', { fault: forgets(1) })
    expect(await world.call('echo', { text: 'hi' })).toMatchObject({ status: 200, body: { content: [{ text: 'hi' }] } })
    expect(server.of('initialize')).toHaveLength(2)
    const [first, second] = server.of('tools/call').map(sessionOf)
    expect(second).toEqual(expect.any(String))
    expect(second).not.toBe(first)
    expect(server.of('DELETE')).toHaveLength(0)
    expect(server.notes).toEqual(['echo hi'])
  },

  async 'a call that is not idempotent is sent again after one 404 and not after a second'(world) {
    const server = await world.http('legacy', { fault: forgets(100) })
    expect(await world.call('write', { text: 'x' })).toMatchObject({ status: 502, body: { code: 'session-lost' } })
    expect(server.of('tools/call')).toHaveLength(2)
    expect(server.notes).toEqual([])
  },

  async 'a call that may have run is not repeated when its response breaks off'(world) {
    const server = await world.http('legacy', { fault: breaks(1) })
    expect(await world.call('write', { text: 'x' })).toMatchObject({ status: 502, body: { code: 'session-lost' } })
    expect(server.of('tools/call')).toHaveLength(1)
    expect((await world.call('write', { text: 'y' })).status).toBe(200)
    expect(server.notes).toEqual(['write y'])
  },

  async 'a read-only call is repeated once when its response breaks off'(world) {
    const server = await world.http('modern', { fault: breaks(1) })
    expect(await world.call('echo', { text: 'hi' })).toMatchObject({ status: 200 })
    expect(server.of('tools/call')).toHaveLength(2)
    expect(server.notes).toEqual(['echo hi'])
  },

  async 'a session is deleted at the server when its toolkit is removed'(world) {
    const server = await world.http('legacy')
    await world.call('echo', { text: 'hi' })
    const session = sessionOf(server.of('tools/call')[0] as Seen)
    expect((await world.ask(`DELETE /mcp/${world.id}`)).status).toBe(204)
    const [ended] = await world.until(() => server.of('DELETE').length > 0 && server.of('DELETE'))
    expect(sessionOf(ended as Seen)).toBe(session)
    expect(ended?.headers['mcp-protocol-version']).toBe('2025-11-25')
  },

  async 'a server that rejects the session DELETE (405) or hangs does not delay the removal'(world) {
    const hangs: Fault = ({ http }) => http === 'DELETE'
    const server = await world.http('legacy', { fault: hangs })
    expect((await provenWithin(3000, () => world.ask(`DELETE /mcp/${world.id}`))).status).toBe(204)
    // The server was not waited for: what it was sent is still open, or not sent yet.
    expect(server.of('DELETE').filter(({ aborted }) => aborted)).toEqual([])
    await world.until(() => server.of('DELETE').length === 1)
  },

  async 'a rejected session DELETE (401) starts no sign-in'(world) {
    const server = await world.http('legacy', {
      fault: ({ http }, response) => {
        if (http !== 'DELETE') return false
        response.writeHead(401, { 'www-authenticate': 'Bearer' }).end()
        return true
      },
    })
    expect((await world.ask(`DELETE /mcp/${world.id}`)).status).toBe(204)
    await world.until(() => server.of('DELETE').length === 1)
    await pause(200)
    expect(new Set(server.seen.map(({ path }) => path))).toEqual(new Set(['/mcp']))
  },

  async 'legacy requests carry the version and the session after the handshake'(world) {
    const server = await world.http('legacy')
    await world.call('echo', { text: 'hi' })
    await world.ask(`GET /mcp/${world.id}/resources`)
    const after = server.seen.slice(server.seen.findIndex(({ message }) => message?.method === 'initialize') + 1)
    expect(after.length).toBeGreaterThanOrEqual(5)
    const session = sessionOf(after[0] as Seen)
    for (const { headers, http, message } of after)
      expect([http, message?.method, headers['mcp-protocol-version'], headers['mcp-session-id']]).toEqual([
        http,
        message?.method,
        '2025-11-25',
        session,
      ])
    expect(session).toEqual(expect.any(String))
  },

  async '2026-07-28 requests carry the version in the header and in _meta, and no session'(world) {
    const server = await world.http('modern')
    await world.call('echo', { text: 'hi' })
    await world.ask(`GET /mcp/${world.id}/prompts`)
    expect(server.seen.length).toBeGreaterThanOrEqual(4)
    for (const { http, headers, message } of server.seen) {
      expect([http, headers['mcp-protocol-version'], headers['mcp-method']]).toEqual([
        'POST',
        '2026-07-28',
        message?.method,
      ])
      expect(message?.params?._meta?.['io.modelcontextprotocol/protocolVersion']).toBe('2026-07-28')
      expect(headers['mcp-session-id']).toBeUndefined()
    }
    expect(server.of('tools/call')[0]?.headers['mcp-name']).toBe('echo')
  },

  async 'the protocol of a server is probed once for all connections'(world) {
    const server = await world.http('legacy')
    for (let i = 0; i < 3; i++) expect((await world.ask(`POST /mcp/${world.id}/introspect`)).status).toBe(200)
    expect(server.of('server/discover')).toHaveLength(1)
    expect(server.of('initialize')).toHaveLength(4)
  },
}
