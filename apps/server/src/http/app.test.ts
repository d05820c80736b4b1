import { createServices } from '@loadout/core/services'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { createApiKeys } from '../auth/api-keys.ts'
import { byApiKey, localOr } from '../auth/authenticate.ts'
import { createApp } from './app.ts'
import { BODY_LIMIT_BYTES } from './middleware.ts'

const BOOTSTRAP = 'a-bootstrap-key-of-more-than-32-characters'
const FILES = { name: 'Files', command: 'npx', args: ['-y', 'server-filesystem', '.'] }

afterEach(() => {
  vi.useRealTimers()
})

function localApp() {
  const host = createServices()
  const keys = createApiKeys(host.storage)
  return {
    host,
    ...client(createApp({ host, apiKeys: keys, authenticate: localOr(byApiKey(keys)), loopbackOnly: true })),
  }
}

function multiUserApp() {
  const host = createServices()
  const keys = createApiKeys(host.storage)
  return { host, ...client(createApp({ host, apiKeys: keys, authenticate: byApiKey(keys, BOOTSTRAP) })) }
}

function client(app: ReturnType<typeof createApp>) {
  const request = (
    method: string,
    path: string,
    options: { body?: unknown; key?: string; headers?: Record<string, string> } = {},
  ) => {
    const headers: Record<string, string> = { host: 'localhost:4300', ...options.headers }
    if (options.key !== undefined) headers.authorization = `Bearer ${options.key}`
    if (options.body !== undefined) headers['content-type'] ??= 'application/json'
    const body = typeof options.body === 'string' ? options.body : JSON.stringify(options.body)
    return app.request(`http://localhost:4300${path}`, {
      method,
      headers,
      ...(options.body === undefined ? {} : { body }),
    })
  }
  return { app, request }
}

describe('toolkits over HTTP', () => {
  it('are added, listed, changed and deleted in the wire format', async () => {
    const { request } = localApp()
    expect(await (await request('GET', '/api/mcp')).json()).toEqual({ toolkits: [] })
    const added = await request('POST', '/api/mcp', { body: { ...FILES, env: { N: 1, B: true } } })
    expect(added.status).toBe(201)
    const toolkit = await added.json()
    expect(toolkit).toMatchObject({
      id: 'files',
      uscoId: expect.stringMatching(/^usco_/),
      name: 'Files',
      tier: 'user',
      readOnly: false,
      enabled: true,
      server: { type: 'stdio', command: 'npx', env: { N: '${secret:env.N}', B: '${secret:env.B}' } },
      state: { status: 'error', reason: expect.stringContaining('stdio'), action: expect.any(String) },
      tools: [],
      toolCount: 0,
      tokens: 0,
    })
    expect((await request('POST', '/api/mcp', { body: FILES })).status).toBe(200)
    const patched = await request('PATCH', `/api/mcp/${toolkit.uscoId}`, { body: { enabled: false } })
    expect(await patched.json()).toMatchObject({ enabled: false, state: { status: 'disabled' } })
    expect((await request('GET', '/api/mcp/files')).status).toBe(200)
    expect((await request('DELETE', '/api/mcp/files')).status).toBe(204)
    expect((await request('DELETE', '/api/mcp/files')).status).toBe(404)
  })

  it('are read-only when global, except for the on/off setting of each user', async () => {
    const { host, request } = localApp()
    await host.toolkits.register({ ...FILES, env: { SECRET: 'x' } }, { tier: 'app' })
    const { toolkits } = await (await request('GET', '/api/mcp')).json()
    expect(toolkits).toMatchObject([{ id: 'files', tier: 'app', readOnly: true, server: { type: 'stdio' } }])
    expect(toolkits[0].server).toEqual({ type: 'stdio' })
    expect((await request('DELETE', '/api/mcp/files')).status).toBe(409)
    expect((await request('PATCH', '/api/mcp/files', { body: { name: 'x' } })).status).toBe(409)
    expect(await (await request('PATCH', '/api/mcp/files', { body: { enabled: false } })).json()).toMatchObject({
      enabled: false,
    })
  })

  it('return 409 on a rename to an existing name and change nothing', async () => {
    const { request } = localApp()
    await request('POST', '/api/mcp', { body: FILES })
    await request('POST', '/api/mcp', { body: { ...FILES, name: 'Other' } })
    const answer = await request('PATCH', '/api/mcp/other', { body: { name: 'Files' } })
    expect(answer.status).toBe(409)
    expect(await answer.json()).toMatchObject({ code: 'conflict', errors: [{ path: 'name' }] })
    expect((await (await request('GET', '/api/mcp')).json()).toolkits.map((kit: { name: string }) => kit.name)).toEqual(
      ['Files', 'Other'],
    )
  })
})

/** Invalid requests and their expected problems. */
const BAD: Record<
  string,
  { body?: unknown; headers?: Record<string, string>; status: number; code: string; path?: string }
> = {
  'an unknown transport': {
    body: { name: 'a', transport: 'pigeon' },
    status: 422,
    code: 'invalid-input',
    path: 'transport',
  },
  'a missing command': { body: { name: 'a', transport: 'stdio' }, status: 422, code: 'invalid-input', path: 'command' },
  'a missing url': { body: { name: 'a', transport: 'http' }, status: 422, code: 'invalid-input', path: 'url' },
  'args that are not strings': {
    body: { name: 'a', command: 'x', args: [1] },
    status: 422,
    code: 'invalid-input',
    path: 'args.0',
  },
  'an env value that is no string': {
    body: { name: 'a', command: 'x', env: { A: [] } },
    status: 422,
    code: 'invalid-input',
    path: 'env.A',
  },
  'an id with odd characters': { body: { ...FILES, id: '../etc' }, status: 422, code: 'invalid-input', path: 'id' },
  'a body of 5 MB': { body: { name: 'a', command: 'x'.repeat(5_000_000) }, status: 413, code: 'body-too-large' },
  'JSON that is not JSON': { body: '{"name": ', status: 400, code: 'invalid-json' },
  'an empty JSON body': { body: '', status: 400, code: 'invalid-json' },
  'a NUL in a name': { body: '{"name":"a\\u0000b","command":"x"}', status: 422, code: 'invalid-input', path: 'name' },
  'no body': { status: 400, code: 'invalid-json' },
  'a list': { body: [], status: 422, code: 'invalid-input' },
  null: { body: 'null', status: 422, code: 'invalid-input' },
  'another content type': {
    body: 'name=a',
    headers: { 'content-type': 'text/plain' },
    status: 415,
    code: 'unsupported-media-type',
  },
  'a __proto__ key': {
    body: '{"name":"a","command":"x","__proto__":{"enabled":false}}',
    status: 422,
    code: 'invalid-input',
    path: '__proto__',
  },
  'a __proto__ key inside': {
    body: '{"name":"a","command":"x","env":{"__proto__":"1"}}',
    status: 422,
    code: 'invalid-input',
    path: 'env.__proto__',
  },
  'a pit of nesting': {
    body: `{"name":"a","command":"x","overrides":${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}}`,
    status: 422,
    code: 'invalid-input',
  },
}

describe('invalid input', () => {
  for (const [name, { status, code, path, ...options }] of Object.entries(BAD))
    it(`returns ${status} ${code} and stores nothing for ${name}`, async () => {
      const { request } = localApp()
      const answer = await request('POST', '/api/mcp', options)
      expect(answer.status).toBe(status)
      expect(answer.headers.get('content-type')).toContain('application/problem+json')
      const problem = await answer.json()
      expect(problem).toMatchObject({
        status,
        code,
        title: expect.any(String),
        detail: expect.any(String),
        action: expect.any(String),
      })
      expect(problem.requestId).toBe(answer.headers.get('x-request-id'))
      if (path !== undefined) expect(problem.errors.map((field: { path: string }) => field.path)).toContain(path)
      expect(await (await request('GET', '/api/mcp')).json()).toEqual({ toolkits: [] })
    })

  it('is cut off at the size limit, also for a stream without a length', async () => {
    const { app } = localApp()
    let sent = 0
    const stream = new ReadableStream<Uint8Array>({
      pull(controller) {
        sent += 65_536
        controller.enqueue(new Uint8Array(65_536).fill(32))
        if (sent > 64 * 1024 * 1024) controller.close()
      },
    })
    const answer = await app.request('http://localhost:4300/api/mcp', {
      method: 'POST',
      headers: { host: 'localhost:4300', 'content-type': 'application/json' },
      body: stream,
      duplex: 'half',
    } as RequestInit)
    expect(answer.status).toBe(413)
    expect(sent).toBeLessThan(BODY_LIMIT_BYTES * 2)
  })

  it('is reported by field for preferences and keys', async () => {
    const { request } = localApp()
    const preferences = await request('PATCH', '/api/preferences', { body: { maxServersPerThread: 0, colour: 'red' } })
    expect((await preferences.json()).errors.map((field: { path: string }) => field.path).sort()).toEqual([
      'colour',
      'maxServersPerThread',
    ])
    const key = await request('POST', '/api/keys', { body: { name: '', scopes: ['fly'] } })
    expect((await key.json()).errors.map((field: { path: string }) => field.path).sort()).toEqual(['name', 'scopes.0'])
  })

  it('is reported as a problem document for an unknown path', async () => {
    const answer = await localApp().request('GET', '/api/nothing')
    expect([answer.status, (await answer.json()).code]).toEqual([404, 'not-found'])
  })
})

describe('preferences', () => {
  it('have defaults, change by field, and belong to the user', async () => {
    const { request } = localApp()
    expect(await (await request('GET', '/api/preferences')).json()).toEqual({
      autoLoadTools: true,
      costLimits: {},
      learnFromUse: true,
      theme: 'system',
    })
    await request('PATCH', '/api/preferences', { body: { costLimits: { maxCallsPerHour: 5 } } })
    const changed = await request('PATCH', '/api/preferences', { body: { theme: 'dark' } })
    expect(await changed.json()).toMatchObject({ theme: 'dark', costLimits: { maxCallsPerHour: 5 } })
  })
})

describe('a local host', () => {
  const foreign: Record<string, Record<string, string>> = {
    'a foreign HostServices': { host: 'evil.example' },
    'a foreign HostServices that begins like ours': { host: 'localhost.evil.example:4300' },
    'a foreign Origin': { origin: 'https://evil.example' },
    'the Origin of another local app': { origin: 'http://localhost:3000' },
    'a null Origin': { origin: 'null' },
  }
  for (const [name, headers] of Object.entries(foreign))
    it(`rejects ${name}`, async () => {
      const { request } = localApp()
      for (const [method, body] of [
        ['GET', undefined],
        ['POST', FILES],
      ] as const) {
        const answer = await request(method, '/api/mcp', { headers, ...(body ? { body } : {}) })
        expect([answer.status, (await answer.json()).code]).toEqual([403, 'foreign-origin'])
      }
    })

  it('accepts its own host names and Origin', async () => {
    const { request } = localApp()
    for (const host of ['localhost:4300', '127.0.0.1:4300', '[::1]:4300', 'localhost:9999'])
      expect((await request('GET', '/api/mcp', { headers: { host, origin: `http://${host}` } })).status).toBe(200)
  })
})

describe('multi-user mode', () => {
  it('requires a key', async () => {
    const { request } = multiUserApp()
    for (const key of [undefined, 'lo_wrong', 'nonsense', `${BOOTSTRAP}x`]) {
      const answer = await request('GET', '/api/mcp', key === undefined ? {} : { key })
      expect([answer.status, (await answer.json()).code]).toEqual([401, 'unauthenticated'])
    }
    expect((await request('GET', '/healthz')).status).toBe(200)
    expect((await request('GET', '/api/openapi.json')).status).toBe(200)
  })

  it('lets an operator create keys and isolates the users from each other', async () => {
    const { request } = multiUserApp()
    const keyFor = async (userId: string) => {
      const answer = await request('POST', '/api/keys', { key: BOOTSTRAP, body: { name: 'first', userId } })
      expect(answer.status).toBe(201)
      return (await answer.json()).key as string
    }
    const ann = await keyFor('ann')
    const bob = await keyFor('bob')
    expect(ann).toMatch(/^lo_[A-Za-z0-9]{40}$/)
    const { uscoId } = await (await request('POST', '/api/mcp', { key: ann, body: FILES })).json()
    expect((await (await request('GET', '/api/mcp', { key: bob })).json()).toolkits).toEqual([])
    for (const id of ['files', uscoId]) {
      expect((await request('GET', `/api/mcp/${id}`, { key: bob })).status).toBe(404)
      expect((await request('PATCH', `/api/mcp/${id}`, { key: bob, body: { enabled: false } })).status).toBe(404)
      expect((await request('DELETE', `/api/mcp/${id}`, { key: bob })).status).toBe(404)
    }
    expect((await request('POST', '/api/mcp', { key: bob, body: FILES })).status).toBe(201)
  })

  it('lists keys without their values, records their use, and rejects revoked and expired keys', async () => {
    const { request } = multiUserApp()
    const make = async (key: string, body: object) => (await request('POST', '/api/keys', { key, body })).json()
    const { key } = await make(BOOTSTRAP, { name: 'first', userId: 'ann' })
    const second = await make(key, { name: 'second' })
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() })
    const soon = new Date(Date.now() + 60_000).toISOString()
    const expired = await make(key, { name: 'short', expiresAt: soon })
    expect((await request('POST', '/api/keys', { key: expired.key, body: { name: 'longer' } })).status).toBe(403)
    vi.setSystemTime(Date.now() + 60_001)
    const list = await (await request('GET', '/api/keys', { key })).json()
    expect(JSON.stringify(list)).not.toContain(key)
    expect(
      list.items.map((item: { name: string; lastUsedAt: unknown }) => [item.name, item.lastUsedAt !== null]),
    ).toEqual([
      ['first', true],
      ['second', false],
    ])
    expect((await request('GET', '/api/mcp', { key: expired.key })).status).toBe(401)
    expect((await request('GET', '/api/mcp', { key: second.key })).status).toBe(200)
    expect((await request('DELETE', `/api/keys/${second.id}`, { key })).status).toBe(204)
    expect((await request('GET', '/api/mcp', { key: second.key })).status).toBe(401)
    expect((await request('DELETE', `/api/keys/${second.id}`, { key })).status).toBe(404)
  })

  it('gives a key no more rights than its creator has', async () => {
    const { request } = multiUserApp()
    const make = (key: string, body: object) => request('POST', '/api/keys', { key, body })
    const { key: ann } = await (await make(BOOTSTRAP, { name: 'ann', userId: 'ann', scopes: ['read', 'write'] })).json()
    for (const body of [
      { name: 'x', userId: 'bob' },
      { name: 'x', role: 'operator' },
      { name: 'x', scopes: ['approve'] },
      { name: 'x', scopes: ['operate'] },
    ])
      expect((await make(ann, body)).status).toBe(403)
    const { key: reader, id } = await (await make(ann, { name: 'reader', scopes: ['read'] })).json()
    expect((await request('GET', '/api/mcp', { key: reader })).status).toBe(200)
    expect((await request('POST', '/api/mcp', { key: reader, body: FILES })).status).toBe(403)
    const { key: bob } = await (await make(BOOTSTRAP, { name: 'bob', userId: 'bob' })).json()
    const half = await (
      await make(BOOTSTRAP, { name: 'half', userId: 'op', role: 'operator', scopes: ['read', 'write'] })
    ).json()
    expect((await request('DELETE', `/api/keys/${id}`, { key: half.key })).status).toBe(404)
    expect((await request('DELETE', '/api/keys/%00', { key: bob })).status).toBe(422)
    expect((await request('DELETE', `/api/keys/${id}`, { key: bob })).status).toBe(404)
    expect((await request('DELETE', `/api/keys/${id}`, { key: BOOTSTRAP })).status).toBe(204)
  })

  it('lets an app supply its own users with one function', async () => {
    const app = createApp({
      host: createServices(),
      authenticate: (request) => {
        const user = request.headers.get('x-user')
        return user ? { kind: 'session', userId: user } : undefined
      },
    })
    expect((await app.request('/api/mcp', { headers: { 'x-user': 'ann' } })).status).toBe(200)
    expect((await app.request('/api/mcp')).status).toBe(401)
  })
})

describe('the OpenAPI document', () => {
  it('is version 3.1 and contains every route', async () => {
    const document = await (await localApp().request('GET', '/api/openapi.json')).json()
    expect(document.openapi).toBe('3.1.0')
    const routes = Object.entries(document.paths as Record<string, object>).flatMap(([path, item]) =>
      Object.keys(item).map((method) => `${method} ${path}`),
    )
    expect(routes.sort()).toEqual([
      'delete /api/app/models/{provider}/key',
      'delete /api/app/toolkits/{id}',
      'delete /api/auth/sessions',
      'delete /api/auth/sessions/{id}',
      'delete /api/grants/{id}',
      'delete /api/keys/{id}',
      'delete /api/mcp/{id}',
      'delete /api/models/{provider}/key',
      'delete /api/threads/{id}',
      'delete /api/threads/{id}/activations',
      'delete /api/threads/{id}/loaded',
      'delete /api/threads/{id}/messages',
      'delete /api/users/{id}',
      'delete /api/users/{id}/sessions',
      'delete /api/workflows/{id}',
      'get /api/app/audit/verify',
      'get /api/app/backup',
      'get /api/app/config',
      'get /api/app/settings',
      'get /api/app/toolkits',
      'get /api/app/toolkits/{id}',
      'get /api/approvals',
      'get /api/approvals/{id}',
      'get /api/audit',
      'get /api/auth/oidc/callback',
      'get /api/auth/oidc/start',
      'get /api/auth/session',
      'get /api/auth/sessions',
      'get /api/calls/{id}',
      'get /api/events',
      'get /api/grants',
      'get /api/inputs',
      'get /api/keys',
      'get /api/mcp',
      'get /api/mcp/config',
      'get /api/mcp/config/tools',
      'get /api/mcp/export',
      'get /api/mcp/{id}',
      'get /api/mcp/{id}/output',
      'get /api/mcp/{id}/prompts',
      'get /api/mcp/{id}/resources',
      'get /api/mcp/{id}/resources/read',
      'get /api/mcp/{id}/resources/templates',
      'get /api/mcp/{id}/skills',
      'get /api/mcp/{id}/skills/read',
      'get /api/models',
      'get /api/oauth/callback',
      'get /api/policy',
      'get /api/policy/decisions',
      'get /api/policy/own',
      'get /api/preferences',
      'get /api/results/{id}',
      'get /api/runs',
      'get /api/runs/{id}',
      'get /api/stdio',
      'get /api/threads',
      'get /api/threads/{id}',
      'get /api/threads/{id}/activations',
      'get /api/threads/{id}/explain',
      'get /api/threads/{id}/loaded',
      'get /api/threads/{id}/loadout',
      'get /api/threads/{id}/messages',
      'get /api/threads/{id}/policy',
      'get /api/tools',
      'get /api/tools/explain',
      'get /api/tools/{toolkit}/{tool}/declaration',
      'get /api/usage',
      'get /api/usage/history',
      'get /api/users',
      'get /api/workflows',
      'get /api/workflows/{id}',
      'get /api/workflows/{id}/versions',
      'get /healthz',
      'get /readyz',
      'patch /api/app/config',
      'patch /api/app/toolkits/{id}',
      'patch /api/mcp/{id}',
      'patch /api/preferences',
      'patch /api/threads/{id}',
      'patch /api/users/{id}',
      'post /api/app/keys/rotate',
      'post /api/app/toolkits',
      'post /api/approvals/{id}/answer',
      'post /api/auth/invite',
      'post /api/auth/link',
      'post /api/auth/password',
      'post /api/auth/reset',
      'post /api/auth/setup',
      'post /api/auth/sign-in',
      'post /api/auth/sign-out',
      'post /api/calls/{id}/cancel',
      'post /api/grants',
      'post /api/inputs/{id}',
      'post /api/keys',
      'post /api/mcp',
      'post /api/mcp/config',
      'post /api/mcp/config/check',
      'post /api/mcp/config/introspect',
      'post /api/mcp/config/try',
      'post /api/mcp/import',
      'post /api/mcp/{id}/accept',
      'post /api/mcp/{id}/cancel',
      'post /api/mcp/{id}/complete',
      'post /api/mcp/{id}/introspect',
      'post /api/mcp/{id}/prompts/{name}',
      'post /api/mcp/{id}/resources/read',
      'post /api/oauth/confirm',
      'post /api/oauth/disconnect',
      'post /api/oauth/start',
      'post /api/runs/{id}/cancel',
      'post /api/runs/{id}/rerun',
      'post /api/runs/{id}/steps/{step}',
      'post /api/threads',
      'post /api/threads/{id}/activations',
      'post /api/threads/{id}/loaded',
      'post /api/threads/{id}/messages',
      'post /api/threads/{id}/resolve',
      'post /api/threads/{id}/run',
      'post /api/tools/{toolkit}/{tool}/call',
      'post /api/users',
      'post /api/users/{id}/link',
      'post /api/workflow/invoke',
      'post /api/workflows',
      'post /api/workflows/validate',
      'post /api/workflows/{id}/check',
      'put /api/app/models/{provider}/key',
      'put /api/models/{provider}/key',
      'put /api/policy',
      'put /api/policy/own',
      'put /api/threads/{id}/activations',
      'put /api/threads/{id}/policy',
      'put /api/workflows/{id}',
    ])
  })
})
