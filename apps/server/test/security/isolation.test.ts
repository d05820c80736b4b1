/** Two users with the same ids never meet, on any route; and what looks for leaks finds those that are planted. */
import { rule } from '@loadout/core'
import { quickjs } from '@loadout/core/code-mode/quickjs'
import { nodeDrivers } from '@loadout/core/node'
import { createServices, type HostServices } from '@loadout/core/services'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type RunningServer, startHttpServer } from '../../../../test/real-servers.ts'
import { createApp } from '../../src/http/app.ts'
import { findLeaks, type IsolationApp } from '../support/isolation.ts'
import { OPERATOR, USERS } from '../support/isolation-routes.ts'

let server: RunningServer
let host: HostServices
let world: IsolationApp
beforeAll(async () => {
  server = await startHttpServer('modern')
})
afterAll(() => server.close())
beforeEach(() => {
  host = createServices({
    policy: [rule('*', 'allow')],
    executor: quickjs(),
    drivers: nodeDrivers({ stdio: 'on', guard: { privateNetwork: true } }),
  })
  const app = createApp({
    host,
    authenticate: ({ headers }) => {
      const userId = headers.get('x-user') ?? ''
      return { kind: 'session', userId, role: userId === OPERATOR ? 'operator' : 'user' }
    },
  })
  world = {
    serverUrl: server.url,
    fetch: async (who, path, init) => app.request(path, { ...init, headers: { ...init.headers, 'x-user': who } }),
  }
})
afterEach(() => host.close())

describe('isolation in memory', () => {
  for (const user of USERS)
    it(`keeps ${user} from every resource of the other user on any route`, async () => {
      const { findings, routes } = await findLeaks(world, user)
      expect(findings).toEqual([])
      expect(routes.length).toBeGreaterThan(40)
    })
})

describe('the leak detector', () => {
  /** Ann's request is answered as if Bob had sent it. */
  const asBob = (leaky: (route: string) => boolean): IsolationApp => ({
    ...world,
    fetch: (who, path, init) =>
      world.fetch(who === 'ann' && leaky(`${init.method ?? 'GET'} ${path}`) ? 'bob' : who, path, init),
  })
  it('reports a shown, a listed, a deleted and an announced resource of the other user', async () => {
    const leaks = ['GET /api/threads/thread-bob', 'GET /api/mcp', 'DELETE /api/threads/trip', 'GET /api/events']
    const { findings } = await findLeaks(
      asBob((route) => leaks.includes(route)),
      'ann',
    )
    for (const found of [
      /GET \/api\/threads\/thread-bob gave 200 instead of 404/,
      /GET \/api\/mcp told ann of bob/,
      /bob's GET \/api\/threads\/trip changed/,
      /an event told ann of bob/,
    ])
      expect(findings.join('\n')).toMatch(found)
  })

  it("reports that the other user's secret is used", async () => {
    const world = asBob((route) => route.startsWith('POST /api/tools/kit/get-env'))
    expect((await findLeaks(world, 'bob')).findings.join('\n')).toMatch(/secret did not reach/)
  })

  it('reports a different refusal that reveals that a resource exists, and a route without test data', async () => {
    const more: IsolationApp = {
      ...world,
      async fetch(who, path, init) {
        if (who === 'ann' && path === '/api/threads/thread-bob')
          return Response.json({ code: 'not-found', detail: 'Not yours.' }, { status: 404 })
        const answer = await world.fetch(who, path, init)
        if (path !== '/api/openapi.json') return answer
        const document = await answer.json()
        Object.assign(document.paths, {
          '/api/jobs/{id}': { get: {} },
          '/api/jobs': { post: {} },
          '/api/threads/{id}/chat': { post: {} },
          '/api/threads/{id}/runs/{runId}': { get: {} },
        })
        return Response.json(document)
      },
    }
    const { findings } = await findLeaks(more, 'ann')
    expect(findings.join('\n')).toMatch(/tells that it exists/)
    expect(findings.filter((finding) => finding.includes('say in')).sort()).toEqual([
      '/api/jobs/{id}: say in PARAMS which things it names',
      '/api/threads/{id}/runs/{runId}: say in PARAMS what stands for all of its names',
      'POST /api/jobs: say in WRITES what is sent',
      'POST /api/threads/{id}/chat: say in BODIES what is sent',
    ])
  })
})
