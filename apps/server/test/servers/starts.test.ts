/** Starts of servers over the API: their phase, and cancelling them. */
import { nodeDrivers } from '@loadout/core/node'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { type MultiUserApp, multiUserApp } from '../support/multi-user-app.ts'

const MUTE = "process.stderr.write('Downloading the server\\n'); setInterval(() => {}, 1000)"
const record = { name: 'mute', command: process.execPath, args: ['-e', MUTE] }

let app: MultiUserApp
beforeEach(() => {
  app = multiUserApp({ drivers: nodeDrivers({ baseEnv: { PATH: '/usr/bin:/bin' } }) })
})
afterEach(() => app.host.close())

it('a start shows its phase and can be cancelled by its owner only', async () => {
  const [ann, bob] = [app.as('ann'), app.as('bob')]
  const saving = ann('POST /api/mcp', record)
  const state = async () => (await ann('GET /api/mcp')).body.toolkits[0]?.state
  await expect.poll(state).toEqual({ status: 'connecting', phase: 'installing', lastLine: 'Downloading the server' })
  expect((await bob('POST /api/mcp/mute/cancel')).status).toBe(404)
  const cancelled = await ann('POST /api/mcp/mute/cancel')
  expect(cancelled).toMatchObject({
    status: 200,
    body: { state: { status: 'disconnected', reason: 'The start was cancelled.' } },
  })
  expect(app.host.connections.counts().processes).toBe(0)
  expect((await saving).body.state.status).toBe('disconnected')
})

it('a shared start can be cancelled by operators only', async () => {
  const operator = app.as('olga', 'operator')
  const saving = operator('POST /api/app/toolkits', { ...record, shared: true })
  await expect.poll(() => app.host.connections.counts().processes).toBe(1)
  expect((await app.as('ann')('POST /api/mcp/mute/cancel')).status).toBe(403)
  expect((await operator('POST /api/mcp/mute/cancel')).status).toBe(200)
  await saving
  expect(app.host.connections.counts().processes).toBe(0)
})
