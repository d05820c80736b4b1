/** HTTP semantics before a route runs: credentials, method, body and size of the head (findings S4 to S9). */
import { request as send } from 'node:http'
import { createServices, type HostServices } from '@loadout/core/services'
import { memory } from '@loadout/core/storage/memory'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createSignIn } from '../../src/auth/sign-in.ts'
import { readConfig } from '../../src/config.ts'
import { createApp } from '../../src/http/app.ts'
import { createLog } from '../../src/ops/log.ts'
import { startServer } from '../../src/serve.ts'

interface Operation {
  security?: Array<Record<string, string[]>>
}

let host: HostServices
let app: ReturnType<typeof createApp>
let operations: Array<{ method: string; path: string; operation: Operation }>
beforeAll(async () => {
  host = createServices()
  const signIn = createSignIn({ storage: host.storage, secret: 's'.repeat(40), baseUrl: () => 'http://localhost' })
  app = createApp({
    host,
    signIn,
    authenticate: (request) =>
      request.headers.get('authorization') === 'Bearer key' ? { kind: 'api-key', userId: 'ann' } : undefined,
  })
  const { paths } = (await (await app.request('/api/openapi.json')).json()) as {
    paths: Record<string, Record<string, Operation>>
  }
  operations = Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  )
})
afterAll(() => host.close())

const ask = ({ method, path }: { method: string; path: string }, headers: Record<string, string> = {}) =>
  app.request(path.replaceAll(/\{\w+\}/g, 'x'), { method, headers })

it('declares no credentials for an operation exactly where it asks for none', async () => {
  for (const one of operations) {
    const { status } = await ask(one)
    const isPublic = one.operation.security?.length === 0
    expect([one.method, one.path, isPublic], String(status)).toEqual([one.method, one.path, status !== 401])
  }
})

it('declares a session alone exactly where it refuses every key', async () => {
  const refused: string[] = []
  for (const one of operations) {
    if (one.operation.security?.length === 0 || one.path === '/api/events') continue
    const response = await ask(one, { authorization: 'Bearer key' })
    if (response.status === 401) {
      refused.push(`${one.method} ${one.path}`)
      expect(await response.json()).toMatchObject({ detail: expect.stringContaining('session') })
      expect(one.operation.security).toEqual([{ session: [] }])
    } else expect([one.path, one.operation.security]).toEqual([one.path, undefined])
  }
  expect(refused).toHaveLength(4)
})

it('names the way to authenticate in a 401', async () => {
  const response = await app.request('/api/mcp')
  expect([response.status, response.headers.get('www-authenticate')]).toEqual([401, 'Bearer realm="Loadout"'])
})

it('asks for credentials before it reads a body', async () => {
  const response = await app.request('/api/mcp', {
    method: 'POST',
    body: 'no JSON',
    headers: { 'content-type': 'application/json' },
  })
  expect(response.status).toBe(401)
})

it('answers a wrong method with 405 and the methods of the path', async () => {
  const response = await ask({ method: 'PATCH', path: '/api/mcp' }, { authorization: 'Bearer key' })
  expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, POST'])
  expect(await response.json()).toMatchObject({ code: 'method-not-allowed', action: 'Use GET, POST.' })
  const missing = await ask({ method: 'PATCH', path: '/api/nowhere' }, { authorization: 'Bearer key' })
  expect(missing.status).toBe(404)
})

it('accepts nothing without naming a tool or all tools', async () => {
  for (const body of [undefined, '{}', '{"all":false}', '{"tool":"x","all":true}']) {
    const response = await app.request('/api/mcp/kit/accept', {
      method: 'POST',
      ...(body === undefined ? {} : { body }),
      headers: { authorization: 'Bearer key', ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    })
    expect([body, response.status]).toEqual([body, body === undefined ? 400 : 422])
  }
})

it('takes the longest query that the document allows, and answers a longer head with a problem document', async () => {
  const config = readConfig({ PORT: '0', LOADOUT_MODE: 'local' })
  const server = await startServer(config, { storage: memory(), log: createLog('silent') })
  try {
    const longest = await fetch(`${server.url}/api/tools?q=${encodeURIComponent('語'.repeat(10_000))}`)
    expect(longest.status).toBe(200)
    const { status, body } = await rawGet(`${server.url}/api/tools?q=${'x'.repeat(200_000)}`)
    expect(status).toBe(431)
    expect(JSON.parse(body)).toMatchObject({ code: 'headers-too-large', status: 431, action: expect.any(String) })
  } finally {
    await server.close()
  }
})

/** `fetch` hides a response that arrives while the request is still written. */
function rawGet(url: string): Promise<{ status: number | undefined; body: string }> {
  return new Promise((resolve, reject) => {
    const sent = send(url, (response) => {
      let body = ''
      response.setEncoding('utf8').on('data', (chunk) => {
        body += chunk
      })
      response.on('end', () => resolve({ status: response.statusCode, body }))
    })
    sent.on('error', reject)
    sent.end()
  })
}
