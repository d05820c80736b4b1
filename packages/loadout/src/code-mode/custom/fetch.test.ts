/** The fetch of custom tools: real sockets, the real guard. */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sharedExecutor } from '../../../test/fixtures/shared-executor.ts'
import { nodeDrivers } from '../../connections/node-drivers.ts'
import { createServices, type HostServices } from '../../host/create-services.ts'
import { rule } from '../../policy/rules.ts'
import { FETCH_BYTES } from './fetch.ts'

const SECRET = 'key-that-goes-to-one-host-only'
const seen: Array<{ at: string; url: string; method: string; headers: Record<string, unknown>; body: string }> = []
let servers: Server[]
let [good, other] = ['', '']

const listen = (name: string) =>
  new Promise<Server>((resolve) => {
    const server = createServer(async (request, response) => {
      let body = ''
      for await (const piece of request) body += piece
      const { url = '', method = '', headers } = request
      seen.push({ at: name, url, method, headers, body })
      if (url === '/away') return response.writeHead(302, { location: `http://${other}/stolen` }).end()
      if (url === '/round') return response.writeHead(302, { location: '/json' }).end()
      if (url === '/large') return response.end('x'.repeat(FETCH_BYTES + 1))
      if (url === '/missing') return response.writeHead(404, { 'X-Why': 'gone' }).end('not here')
      response.writeHead(200, { 'content-type': 'application/json', 'x-seen': method })
      response.end(JSON.stringify({ method, got: body, key: headers['x-key'] ?? null }))
    }).listen(0, '127.0.0.1', () => resolve(server))
  })

const executor = sharedExecutor()
let host: HostServices
let guarded: HostServices
const hostOf = (server: Server) => `127.0.0.1:${(server.address() as AddressInfo).port}`
beforeAll(async () => {
  servers = [await listen('good'), await listen('other')]
  ;[good, other] = servers.map(hostOf) as [string, string]
  const options = { executor, policy: [rule('*', 'allow')] }
  const app = { customToolkits: { hosts: [good, 'allowed.example'] } }
  host = createServices({ ...options, app, drivers: nodeDrivers({ guard: { privateNetwork: true } }) })
  guarded = createServices({ ...options, app, drivers: nodeDrivers() })
})
afterAll(async () => {
  await Promise.all([host.close(), guarded.close()])
  for (const server of servers) server.close()
})

/** Through a try: the same pipeline, and nothing to save. */
const run = async (execute: string, { hosts = [good], at = host, uscoId = '' } = {}) => {
  const tool = { name: 'go', inputSchema: { type: 'object' }, execute, ...(hosts.length > 0 ? { hosts } : {}) }
  const record = { id: `kit${uscoId}`, name: 'kit', secrets: { KEY: SECRET }, tools: [tool] }
  const { outcome } = await at.tryTool({ userId: 'ann' }, { record, tool: 'go' })
  if ('error' in outcome) return outcome.error.message
  return outcome.structuredContent ?? outcome.content[0]?.text
}
const caught = (code: string) => `try { ${code} } catch (error) { return [error.code, error.message] }`

describe('fetch in custom tool code', () => {
  it('returns a Response-like object', async () => {
    const code = `const answer = await fetch('http://${good}/json', {
        method: 'POST', body: JSON.stringify({ a: 1 }), headers: { 'Content-Type': 'application/json', 'X-Key': secrets.KEY },
      })
      const { method, got, key } = await answer.json()
      const type = answer.headers.get('Content-Type')
      return { status: answer.status, ok: answer.ok, type, has: answer.headers.has('x-none'), method, got, long: key.length }`
    expect(await run(code)).toEqual({
      status: 200,
      ok: true,
      type: 'application/json',
      has: false,
      method: 'POST',
      got: '{"a":1}',
      long: SECRET.length,
    })
    expect(seen.at(-1)?.headers).toMatchObject({ 'x-key': SECRET })
    const missing = `const r = await fetch('http://${good}/missing'); return [r.ok, r.status, r.headers.get('x-why'), await r.text()]`
    expect(await run(missing)).toEqual([false, 404, 'gone', 'not here'])
    expect(await run(`return (await fetch('http://${good}/round')).redirected`)).toBe(true)
  })

  it('reaches only hosts that the tool and the operator allow', async () => {
    const before = seen.length
    const ask = (url: string) => caught(`return await fetch('${url}')`)
    expect(await run(ask(`http://${other}/json`))).toEqual([
      'address-blocked',
      `${other} is not among the \`hosts\` of the tool.`,
    ])
    expect(await run(ask(`http://${good}/json`), { hosts: [] })).toEqual([
      'address-blocked',
      `${good} is not among the \`hosts\` of the tool.`,
    ])
    for (const url of ['file:///etc/passwd', 'data:text/plain,x', 'ftp://allowed.example/', 'not a url', '//x'])
      expect(await run(ask(url), { hosts: ['allowed.example'] }), url).toMatchObject([
        expect.stringMatching(/address-blocked|invalid-input/),
        expect.any(String),
      ])
    expect(await run(ask(`http://${good}@${other}/json`))).toMatchObject(['address-blocked', expect.any(String)])
    expect(seen.length).toBe(before)
    // Taken away by the operator after it was saved.
    const tools = [{ name: 'go', inputSchema: { type: 'object' }, execute: ask(`http://${good}/json`), hosts: [good] }]
    await host.toolkits.register({ name: 'kept', tools }, { tier: 'user', userId: 'ann' })
    await host.app.update({ customToolkits: { hosts: ['allowed.example'] } })
    const started = host.calls.start({
      userId: 'ann',
      toolkit: 'kept',
      tool: 'go',
      arguments: {},
      caller: { type: 'direct' },
    })
    expect(JSON.stringify(await started.outcome)).toContain('not among the hosts that the operator allows')
    await host.app.update({ customToolkits: { hosts: [good, 'allowed.example'] } })
    expect(seen.length).toBe(before)
  })

  it('does not follow redirects to other hosts and limits the response size', async () => {
    const before = seen.length
    const code = `return await fetch('http://${good}/away', { headers: { 'X-Key': secrets.KEY } })`
    expect(await run(caught(code))).toEqual(['address-blocked', `${other} is not among the \`hosts\` of the tool.`])
    expect(seen.slice(before).map(({ at, url }) => `${at} ${url}`)).toEqual(['good /away'])
    expect(await run(`return (await fetch('http://${good}/away', { redirect: 'manual' })).status`)).toBe(302)
    expect(await run(caught(`return await fetch('http://${good}/large')`))).toMatchObject([
      'response-too-large',
      expect.any(String),
    ])
  })

  it('blocks private addresses unless the operator allows private networks', async () => {
    const before = seen.length
    expect(await run(caught(`return await fetch('http://${good}/json')`), { at: guarded })).toMatchObject([
      'address-blocked',
      expect.any(String),
    ])
    expect(seen.length).toBe(before)
  })

  it('throws catchable errors for invalid requests', async () => {
    const bad = [
      `fetch('http://${good}/', { headers: { 'bad name': 'x' } })`,
      `fetch('http://${good}/', { method: 'POST', body: { a: 1 } })`,
      `fetch('http://${good}/', { method: 'GE T' })`,
    ]
    for (const code of bad)
      expect(await run(caught(`return await ${code}`)), code).toMatchObject(['invalid-input', expect.any(String)])
  })
})
