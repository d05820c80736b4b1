/** API key scopes: each scope against one route of each kind. */

import { KEY_SCOPES, type KeyScope } from '@loadout/core/schema'
import { createServices } from '@loadout/core/services'
import { describe, expect, it } from 'vitest'
import { createApp } from './app.ts'

const ROUTES: Record<string, { body?: unknown; needs: readonly KeyScope[] }> = {
  'GET /api/mcp': { needs: ['read'] },
  'HEAD /api/mcp': { needs: ['read'] },
  'GET /api/mcp/config/tools': { needs: ['read'] },
  'GET /api/inputs': { needs: ['read', 'call'] },
  'GET /api/calls/call_1': { needs: ['read', 'call'] },
  'POST /api/tools/kit/echo/call': { body: {}, needs: ['call'] },
  'POST /api/tools/a%2Fb/c%20d/call': { body: {}, needs: ['call'] },
  'POST /api/inputs/input_1': { body: { action: 'decline' }, needs: ['call'] },
  'POST /api/mcp': { body: { name: 'kit', command: 'x' }, needs: ['write'] },
  'POST /api/mcp/kit/introspect': { needs: ['write'] },
  'POST /api/mcp/kit/cancel': { needs: ['write'] },
  'POST /api/mcp/config': { body: { name: 'kit', config_json: { command: 'x' } }, needs: ['write'] },
  'POST /api/keys': { body: { name: 'k', scopes: [] }, needs: ['write'] },
  'PATCH /api/preferences': { body: { theme: 'dark' }, needs: ['write'] },
  'DELETE /api/mcp/kit': { needs: ['write'] },
  // Paths that only resemble a call need other scopes.
  'POST /api/tools/kit/echo/call/': { body: {}, needs: ['write'] },
  'PUT /api/tools/kit/echo/call': { body: {}, needs: ['write'] },
  'POST /api/mcp/tools/call': { body: {}, needs: ['write'] },
}

async function lacks(scope: KeyScope, route: string, body: unknown): Promise<boolean> {
  const app = createApp({
    host: createServices(),
    authenticate: () => ({ kind: 'api-key', userId: 'ann', role: 'operator', scopes: [scope] }),
  })
  const [method = '', path = ''] = route.split(' ')
  const json = { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }
  const answer = await app.request(path, { method, ...(body === undefined ? {} : json) })
  if (answer.status !== 403) return false
  return method === 'HEAD' || (await answer.json()).detail.includes('lacks the scope')
}

describe('the scopes of an API key', () => {
  for (const [route, { body, needs }] of Object.entries(ROUTES))
    it(`allow ${route} for ${needs.join(' or ')} only`, async () => {
      const open: KeyScope[] = []
      for (const scope of KEY_SCOPES) if (!(await lacks(scope, route, body))) open.push(scope)
      expect(open).toEqual(needs)
    })

  it('allow no route when the list is empty', async () => {
    const app = createApp({
      host: createServices(),
      authenticate: () => ({ kind: 'api-key', userId: 'ann', scopes: [] }),
    })
    for (const route of Object.keys(ROUTES)) {
      const [method = '', path = ''] = route.split(' ')
      expect([route, (await app.request(path, { method })).status]).toEqual([route, 403])
    }
  })
})

describe('the HTTP entry points', () => {
  const authenticate = () => ({ kind: 'session', userId: 'ann', role: 'user' }) as const

  it('send Strict-Transport-Security only for an HTTPS public URL and not for its subdomains', async () => {
    const sent = async (publicUrl?: string) => {
      const app = createApp({ host: createServices(), authenticate, publicUrl })
      return (await app.request('/healthz')).headers.get('strict-transport-security')
    }
    expect(await sent()).toBeNull()
    expect(await sent('http://loadout.example.org')).toBeNull()
    expect(await sent('https://loadout.example.org')).toBe('max-age=15552000')
  })

  it('return 503 and close the connection once the server is stopping', async () => {
    const stopping = new AbortController()
    const app = createApp({ host: createServices(), authenticate, stopping: stopping.signal })
    const json = { body: JSON.stringify({ theme: 'dark' }), headers: { 'content-type': 'application/json' } }
    const patch = () => app.request('/api/preferences', { method: 'PATCH', ...json })
    const before = await patch()
    expect([before.status, before.headers.get('connection')]).toEqual([200, null])
    stopping.abort()
    const after = await patch()
    expect([after.status, after.headers.get('connection')]).toEqual([503, 'close'])
    expect(await after.json()).toMatchObject({ code: 'shutting-down', action: 'Try again in a moment.' })
  })
})
