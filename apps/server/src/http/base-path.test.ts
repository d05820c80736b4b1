/** An app mounted at a path, and requests as frameworks pass them. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createServices, type HostServices } from '@loadout/core/services'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { createApp } from './app.ts'
import { joinUrl, normalizeBasePath } from './base-path.ts'
import { toNextHandler } from './next.ts'

let host: HostServices
const authenticate = () => ({ kind: 'session' as const, userId: 'ann', role: 'operator' as const })
const json = (body: unknown) => ({
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
})

beforeAll(() => {
  host = createServices()
})
afterAll(() => host.close())

/** Next.js passes a Proxy of its request, whose private fields no constructor can read. */
const proxied = (request: Request): Request =>
  new Proxy(request, {
    get(target, name) {
      const value = Reflect.get(target, name, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })

describe('a request that is a Proxy', () => {
  it.each(['', '/tools'])('is read by an app at "%s"', async (basePath) => {
    const app = createApp({ host, authenticate, basePath })
    const id = `thread${basePath.replace('/', '-')}`
    const create = () => proxied(new Request(`http://localhost${basePath}/api/threads`, json({ id })))
    expect(() => new Request(create())).toThrow()
    expect((await app.fetch(create())).status).toBe(201)
    expect((await app.fetch(proxied(new Request(`http://localhost${basePath}/api/threads/${id}`)))).status).toBe(200)
  })
})

describe('a base path', () => {
  it('is in front of the API, and mounts that strip it work too', async () => {
    const app = createApp({ host, authenticate, basePath: 'tools/' })
    expect(app.basePath).toBe('/tools')
    for (const path of ['/tools/api/mcp', '/api/mcp']) expect((await app.request(path)).status).toBe(200)
    expect((await app.request('/toolsets/api/mcp')).status).toBe(404)
    const document = await (await app.request('/tools/api/openapi.json')).json()
    expect(document.servers).toEqual([{ url: '/tools' }])
    expect(await (await app.request('/tools/api/docs')).text()).toContain('href="/tools/api/openapi.json"')
  })

  it('is the path of the public URL if the app names none', () => {
    expect(createApp({ host, authenticate, publicUrl: 'https://example.com/tools/' }).basePath).toBe('/tools')
  })

  it('is in the pages that end an OAuth sign-in', async () => {
    const app = createApp({ host, authenticate, basePath: '/tools' })
    const page = await (await app.request('/tools/api/oauth/callback?state=unknown&code=1')).text()
    const paths = [...page.matchAll(/(?:href|src)="([^"]+)"/g)].map(([, path]) => path)
    expect(paths).toEqual(['/tools/api/oauth/page.css', '/tools/connectors', '/tools/api/oauth/close.js'])
    for (const path of paths) if (path?.includes('/api/')) expect((await app.request(path)).status).toBe(200)
  })

  it('is written into the page of the web UI', async () => {
    const webDir = await mkdtemp(join(tmpdir(), 'loadout-base-'))
    const built = '<meta name="base-path" content="" /><script src="./theme.js"></script>'
    await writeFile(join(webDir, 'index.html'), built)
    await writeFile(join(webDir, 'theme.js'), 'themed')
    const app = createApp({ host, authenticate, basePath: '/tools', webDir })
    const page = await (await app.request('/tools/threads/abc')).text()
    expect(page).toBe('<meta name="base-path" content="/tools" /><script src="/tools/theme.js"></script>')
    expect(await (await app.request('/tools/theme.js')).text()).toBe('themed')
    await rm(webDir, { recursive: true })
  })

  it('has plain segments', () => {
    expect(['', '/', '/a/', 'a/b'].map(normalizeBasePath)).toEqual(['', '', '/a', '/a/b'])
    for (const path of ['/a b', '/"x', '/a//b', '/a?b']) expect(() => normalizeBasePath(path)).toThrow('basePath')
  })
})

it('a callback URL keeps the path of the public URL', () => {
  expect(joinUrl('https://example.com/tools/', '/api/oauth/callback')).toBe(
    'https://example.com/tools/api/oauth/callback',
  )
  expect(joinUrl('https://example.com', '/api/oauth/callback')).toBe('https://example.com/api/oauth/callback')
})

it('a Next.js handler leaves compression to Next.js and passes the body on', async () => {
  const { GET, POST } = toNextHandler(createApp({ host, authenticate }))
  const headers = { 'accept-encoding': 'gzip' }
  const plain = await GET(proxied(new Request('http://localhost/api/openapi.json', { headers })))
  expect([plain.status, plain.headers.get('content-encoding')]).toEqual([200, null])
  const direct = await createApp({ host, authenticate }).request('/api/openapi.json', { headers })
  expect(direct.headers.get('content-encoding')).toBe('gzip')
  const made = await POST(proxied(new Request('http://localhost/api/threads', json({ id: 'next' }))))
  expect([made.status, (await made.json()).id]).toEqual([201, 'next'])
})

it('a response with status 500 is logged to console.error by default, with its request id', async () => {
  const logged = vi.spyOn(console, 'error').mockImplementation(() => {})
  try {
    const app = createApp({
      host,
      authenticate: () => {
        throw new TypeError('Cannot read private member #state')
      },
    })
    const answer = await app.request('/api/mcp')
    expect(answer.status).toBe(500)
    const entries = logged.mock.calls.map(([entry]) => JSON.parse(entry))
    expect(entries).toMatchObject([{ msg: 'internal', requestId: answer.headers.get('x-request-id') }])
    expect(entries[0].cause.stack[0]).toContain('base-path.test.ts')
  } finally {
    logged.mockRestore()
  }
})
