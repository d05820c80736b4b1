/** Tools of servers that are not trusted, over the API: off, told, accepted by who may. */
import { nodeDrivers } from '@loadout/core/node'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { type RunningServer, startHttpServer } from '../../../../test/real-servers.ts'
import { type Ask, type MultiUserApp, multiUserApp } from '../support/multi-user-app.ts'

let app: MultiUserApp
let server: RunningServer
let ann: Ask
let operator: Ask
beforeEach(async () => {
  app = multiUserApp({ drivers: nodeDrivers({ guard: { privateNetwork: true } }) })
  server = await startHttpServer('modern')
  ann = app.as('ann')
  operator = app.as('root', 'operator')
})
afterEach(async () => {
  await app.host.close()
  await server.close()
})

const call = (ask: Ask) => ask('POST /api/tools/kit/echo/call', { arguments: { text: 'a' } })
const NOT_ACCEPTED = { status: 409, body: { code: 'tool-not-accepted', action: expect.stringContaining('/accept') } }

it('an untrusted user’s server is blocked until its tools are accepted', async () => {
  await operator('PATCH /api/app/config', { trust: { userToolkits: false } })
  const { status, body } = await ann('POST /api/mcp', { name: 'kit', url: server.url })
  expect([status, body.state.status]).toEqual([201, 'changed'])
  const echo = body.tools.find(({ name }: { name: string }) => name === 'echo')
  expect(echo).toMatchObject({ enabled: false, held: expect.stringContaining('accept it') })
  await ann('POST /api/threads', { id: 'thread' })
  const explained = await ann('GET /api/threads/thread/explain')
  expect(explained.body.items.find(({ ref }: { ref: string }) => ref === 'kit.echo')).toMatchObject({
    included: false,
    reasons: expect.arrayContaining([expect.objectContaining({ kind: 'pin', speaks: 'against' })]),
  })
  expect(await call(ann)).toMatchObject(NOT_ACCEPTED)
  expect(await ann('POST /api/mcp/kit/accept', { tool: 'echo', pin: 'another' })).toMatchObject({
    status: 409,
    body: { code: 'tool-changed' },
  })
  const accepted = await ann('POST /api/mcp/kit/accept', { tool: 'echo', pin: echo.pin })
  expect(accepted.body.tools.find(({ name }: { name: string }) => name === 'echo')).toMatchObject({ enabled: true })
  expect((await call(ann)).status).toBe(200)
  const { items } = (await ann('GET /api/audit?action=pin_accepted')).body
  expect(items).toMatchObject([{ userId: 'ann' }])
})

it('an untrusted app server can be accepted by an operator and not by users', async () => {
  const { status } = await operator('POST /api/app/toolkits', { name: 'kit', url: server.url, untrusted: true })
  expect(status).toBe(201)
  await ann('POST /api/mcp/kit/introspect', {})
  expect(await call(ann)).toMatchObject(NOT_ACCEPTED)
  expect((await ann('POST /api/mcp/kit/accept', { all: true })).status).toBe(403)
  expect((await operator('POST /api/mcp/kit/accept', { all: true })).status).toBe(200)
  expect((await call(ann)).status).toBe(200)
})
