/**
 * A body that nobody expects is refused, and the server goes on: every route with every kind of wrong body, none of them an
 * error of ours. (LibreChat CVE-2026-31949: one malformed body ended the process.)
 */
import { createServices, type HostServices } from '@loadout/core/services'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createSignIn } from '../../src/auth/sign-in.ts'
import { createApp } from '../../src/http/app.ts'

const deep = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`
const BODIES: Record<string, string> = {
  nothing: '',
  null: 'null',
  'a number': '1',
  'a text': '"x"',
  'a list': '[]',
  'a list of lists': '[[[[]]]]',
  'an empty object': '{}',
  'half an object': '{"name":',
  'no JSON': '<xml/>',
  'a prototype': '{"__proto__":{"role":"operator"},"constructor":{"prototype":{}}}',
  'wrong types':
    '{"name":{},"url":[],"command":1,"args":"x","arguments":"x","rules":{},"id":[],"ref":{},"on":"maybe","toolkit":{},"decision":[],"toolkits":{},"limits":"x","mcpServers":[],"config_json":"x","uscoId":{},"email":[],"password":{},"token":1,"current":[],"operator":"x"}',
  nulls:
    '{"name":null,"url":null,"command":null,"arguments":null,"rules":null,"id":null,"toolkit":null,"decision":null}',
  'a NUL': '{"name":"a\\u0000b","id":"\\u0000","toolkit":"\\u0000","ref":"\\u0000"}',
  'half a character': '{"name":"\\ud800","id":"\\udfff","toolkit":"\\ud800","ref":"\\ud800"}',
  'a long name': `{"name":"${'x'.repeat(100_000)}","toolkit":"${'x'.repeat(100_000)}"}`,
  'a deep one': deep(5000),
  'large numbers': '{"limit":1e999,"offset":-1e308,"name":1e400}',
}

let host: HostServices
let app: ReturnType<typeof createApp>
let routes: Array<{ method: string; path: string }>
beforeAll(async () => {
  host = createServices()
  const signIn = createSignIn({ storage: host.storage, secret: 's'.repeat(40), baseUrl: () => 'http://localhost' })
  app = createApp({ host, signIn, authenticate: () => ({ kind: 'session', userId: 'ann', role: 'operator' }) })
  const { paths } = await (await app.request('/api/openapi.json')).json()
  routes = Object.entries(paths as Record<string, object>).flatMap(([path, item]) =>
    Object.keys(item).map((method) => ({ method: method.toUpperCase(), path })),
  )
})
afterAll(() => host.close())

const ODD_PARTS = ['x', '..%2f..', '%00', '%ff', '__proto__', 'x'.repeat(3000), '%F0%9F%92%A9', '-1']

describe('every route', () => {
  for (const [name, body] of Object.entries(BODIES))
    it(`returns no server error for ${name} as its body`, async () => {
      const writing = routes.filter(({ method }) => method !== 'GET' && method !== 'DELETE')
      expect(writing.length).toBeGreaterThan(20)
      for (const { method, path } of writing)
        for (const type of ['application/json', 'text/plain']) {
          const at = path.replaceAll(/\{\w+\}/g, 'x')
          const response = await app.request(at, { method, body, headers: { 'content-type': type } })
          expect(response.status, `${method} ${at}: ${await response.text()}`).toBeLessThan(500)
        }
    })

  it('treats an empty body as no body for any content type, or reports that a body is required', async () => {
    const { paths } = await (await app.request('/api/openapi.json')).json()
    const bodyOf = ({ method, path }: { method: string; path: string }) => paths[path][method.toLowerCase()].requestBody
    const isNeeded = (route: (typeof routes)[number]) => bodyOf(route)?.required === true
    // A form is of a page, not of the API.
    const isForm = (route: (typeof routes)[number]) => bodyOf(route) && !bodyOf(route).content['application/json']
    // A route that needs a session asks for it before it reads a body.
    const needsSession = ({ method, path }: { method: string; path: string }) =>
      paths[path][method.toLowerCase()].security?.[0]?.session !== undefined
    const writing = routes.filter(
      (route) => !['GET', 'DELETE'].includes(route.method) && !isForm(route) && !needsSession(route),
    )
    const [needing, others] = [writing.filter(isNeeded), writing.filter((one) => !isNeeded(one))]
    expect(needing.length).toBeGreaterThan(20)
    expect(others.map(({ path }) => path)).toEqual(
      expect.arrayContaining(['/api/mcp/{id}/introspect', '/api/runs/{id}/cancel', '/api/workflows/{id}/check']),
    )
    for (const route of writing) {
      const { method } = route
      const at = route.path.replaceAll(/\{\w+\}/g, 'x')
      const send = (headers: Record<string, string>) => app.request(at, { method, headers })
      const typed = await send({ 'content-type': 'application/json; charset=utf-8' })
      if (isNeeded(route)) {
        expect([at, (await send({})).status]).toEqual([at, 400])
        expect([at, typed.status, await typed.json()]).toMatchObject([
          at,
          400,
          {
            code: 'invalid-json',
            detail: `The body of ${method} ${at} is empty.`,
            action: expect.stringContaining('Send'),
          },
        ])
      } else expect([at, typed.status]).toEqual([at, (await send({})).status])
    }
  })

  it('returns no server error for odd values in its path or query', async () => {
    for (const { method, path } of routes.filter(({ path: at }) => at !== '/api/events' && at !== '/api/app/backup'))
      for (const part of ODD_PARTS) {
        const at = path.replaceAll(/\{\w+\}/g, part)
        const query = `?limit=${part}&cursor=${part}&uri=${part}&q=${part}&from=${part}&state=${part}&format=${part}`
        const response = await app.request(`${at}${query}`, {
          method,
          ...(method === 'GET' ? {} : { body: '{}', headers: { 'content-type': 'application/json' } }),
        })
        expect(response.status, `${method} ${at}${query}: ${await response.text()}`).toBeLessThan(500)
      }
    expect((await app.request('/healthz')).status).toBe(200)
  })
})
