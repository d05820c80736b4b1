/** Limits and large results over HTTP: what is limited says when to come back, what is null is gone, what is kept is read. */
import { defineTool, rule } from '@loadout/core'
import { createServices, type HostServices } from '@loadout/core/services'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { z } from 'zod'
import { createApp } from '../../src/http/app.ts'

let host: HostServices
let app: ReturnType<typeof createApp>
const tools = [
  defineTool({
    name: 'rows',
    description: 'Many rows.',
    inputSchema: z.object({ count: z.number() }),
    execute: ({ count }) => ({
      content: [{ type: 'text', text: `${count} rows` }],
      structuredContent: { rows: Array.from({ length: count }, (_, id) => ({ id, note: 'n'.repeat(50) })) },
    }),
  }),
]
beforeEach(() => {
  host = createServices({ policy: [rule('*', 'allow')], tools })
  app = createApp({ host, authenticate: () => ({ kind: 'session', userId: 'ann', role: 'operator' }) })
})
afterEach(() => host.close())

const ask = async (route: `${string} ${string}`, body?: object) => {
  const [method = '', path = ''] = route.split(' ')
  const sent = body && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }
  const answer = await app.request(path, { method, ...sent })
  return { status: answer.status, headers: answer.headers, body: await answer.json() }
}
const call = (count: number, threadId?: string) =>
  ask('POST /api/tools/app/rows/call', { arguments: { count }, ...(threadId ? { threadId } : {}) })

it('a 429 response has a retry-after header, and null removes a limit', async () => {
  await ask('PATCH /api/app/config', { limits: { maxCallsPerHour: 1 }, audit: { retentionDays: 7 } })
  expect((await call(1)).status).toBe(200)
  const limited = await call(1)
  expect([limited.status, limited.body.code]).toEqual([429, 'limit-reached'])
  const seconds = Number(limited.headers.get('retry-after'))
  expect(seconds).toBeGreaterThan(0)
  expect(seconds).toBeLessThanOrEqual(3600)
  const config = await ask('PATCH /api/app/config', {
    limits: { maxCallsPerHour: null },
    audit: { retentionDays: null },
  })
  expect([config.status, config.body.limits.maxCallsPerHour, config.body.audit]).toEqual([200, undefined, {}])
  expect((await call(1)).status).toBe(200)
  await ask('PATCH /api/preferences', { costLimits: { maxCallsPerHour: 1, maxTokensPerDay: 5 } })
  expect((await call(1)).status).toBe(429)
  const one = await ask('PATCH /api/preferences', { costLimits: { maxCallsPerHour: null } })
  expect([one.status, one.body.costLimits]).toEqual([200, { maxTokensPerDay: 5 }])
  expect((await ask('PATCH /api/preferences', { costLimits: null })).body.costLimits).toEqual({})
  expect((await call(1)).status).toBe(200)
})

it('a call timeout is reported as a limit with its name and value', async () => {
  const slow = { name: 'wait', inputSchema: { type: 'object' }, execute: () => new Promise(() => {}) }
  await host.toolkits.register({ name: 'slow', tools: [slow] }, { tier: 'user', userId: 'ann' })
  await ask('PATCH /api/app/config', { limits: { callMs: 50 } })
  const late = await ask('POST /api/tools/slow/wait/call', { arguments: {} })
  expect([late.status, late.body.code]).toEqual([429, 'limit-reached'])
  expect(late.body.detail).toContain('callMs is 50')
})

it('a large result adds read_result to the thread loadout and is read with a normal call', async () => {
  await ask('POST /api/threads', { id: 't' })
  const names = async () =>
    (await ask('GET /api/threads/t/loadout')).body.tools.map((tool: { modelName: string }) => tool.modelName)
  expect(await names()).toEqual(['mcp_app_rows'])
  const large = await call(5000, 't')
  const { resultHandle: handle } = large.body
  expect(large.body.content[0].text).toContain('5000 rows')
  expect(await names()).toEqual(['mcp_app_rows', 'read_result'])
  const read = (part: object) =>
    ask('POST /api/tools/loadout/read_result/call', { arguments: { handle, ...part }, threadId: 't' })
  expect((await read({ path: '$.rows[4999].id' })).body).toMatchObject({ status: 'ok', content: [{ text: '4999' }] })
  expect((await read({ fromLine: 1, lines: 1 })).body.content[0].text).toBe('5000 rows')
  const bad = await read({ path: '$["\\x"]' })
  expect([bad.status, bad.body.errors]).toEqual([422, [expect.objectContaining({ path: 'path' })]])
  const page = await ask(`GET /api/results/${handle}?path=${encodeURIComponent('$["\\x"]')}`)
  expect([page.status, page.body.code]).toEqual([422, 'invalid-input'])
})
