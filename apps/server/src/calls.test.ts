/** The call route, whole: waited for, asked about, streamed, left to go on, made once, and too large. */
import { createHost, defineTool, type Host, rule } from 'loadout'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { createApp } from './app.ts'

type Answer = ReturnType<typeof JSON.parse>
let host: Host
let made: number
let request: (
  route: string,
  body?: unknown,
  headers?: Record<string, string>,
) => Promise<{ status: number; body: Answer; text: string }>
beforeEach(() => {
  made = 0
  const count = defineTool({
    name: 'count',
    inputSchema: z.object({ by: z.number().default(1) }),
    annotations: { readOnlyHint: true },
    execute: ({ by }) => {
      made += by
      return String(made)
    },
  })
  const pay = defineTool({ name: 'pay', execute: () => `paid ${++made}` })
  const large = defineTool({
    name: 'large',
    annotations: { readOnlyHint: true },
    execute: () => 'word\n'.repeat(50_000),
  })
  const fail = defineTool({
    name: 'fail',
    annotations: { readOnlyHint: true },
    execute: () => Promise.reject(new Error('no')),
  })
  host = createHost({ tools: [count, pay, large, fail], policy: [rule('app.count', 'allow')] })
  const app = createApp({
    host,
    authenticate: (got) => ({ kind: 'session', userId: got.headers.get('x-user') ?? 'ann' }),
  })
  request = async (route, body, headers = {}) => {
    const [method = 'GET', path = ''] = route.split(' ')
    const json = body === undefined ? {} : { body: JSON.stringify(body) }
    const answer = await app.request(path, {
      method,
      ...json,
      headers: { 'content-type': 'application/json', ...headers },
    })
    const text = await answer.text()
    const isJson = answer.headers.get('content-type')?.includes('json')
    return { status: answer.status, text, body: isJson ? JSON.parse(text) : undefined }
  }
})
afterEach(() => host.close())
const call = (tool: string, body: object = {}, headers = {}) =>
  request(`POST /api/tools/app/${tool}/call`, body, headers)

describe('asked about', () => {
  it('202 with the approval; answered, the outcome is at /api/calls/:id', async () => {
    const { status, body } = await call('pay', {})
    expect([status, body.status]).toEqual([202, 'pending'])
    expect(body.approval).toMatchObject({ status: 'pending', ref: 'app.pay', arguments: {} })
    expect(await request(`GET /api/calls/${body.callId}`)).toMatchObject({ status: 202, body: { status: 'pending' } })
    expect((await request('GET /api/approvals?status=pending')).body.items).toHaveLength(1)
    const answer = `POST /api/approvals/${body.approval.id}/answer`
    expect(await request(answer, { decision: 'allow', remember: 'tool' })).toMatchObject({
      status: 200,
      body: { status: 'allowed' },
    })
    expect(await request(answer, { decision: 'deny' })).toMatchObject({ status: 409, body: { code: 'conflict' } })
    await expect.poll(async () => (await request(`GET /api/calls/${body.callId}`)).status).toBe(200)
    expect((await call('pay')).status).toBe(200)
    const [grant] = (await request('GET /api/grants')).body.items
    expect(grant).toMatchObject({ ref: 'app.pay', decision: 'allow' })
    expect((await request(`DELETE /api/grants/${grant.id}`)).status).toBe(204)
    expect((await call('pay')).status).toBe(202)
  })

  it('denied is 403', async () => {
    const { body } = await call('pay')
    await request(`POST /api/approvals/${body.approval.id}/answer`, { decision: 'deny' })
    await expect.poll(async () => (await request(`GET /api/calls/${body.callId}`)).status).toBe(403)
  })
})

describe('made once', () => {
  const key = { 'idempotency-key': 'k1' }
  it('the same key is the same call, also for one that is asked later', async () => {
    const [one, two] = await Promise.all([call('count', {}, key), call('count', {}, key)])
    const again = await call('count', {}, key)
    expect(made).toBe(1)
    expect(again).toMatchObject({ status: 200, body: { status: 'ok', callId: one.body.callId } })
    expect(two.body.callId).toBe(one.body.callId)
  })
  it('another question with the same key is 409, and another user has keys of their own', async () => {
    await call('count', {}, key)
    expect(await call('count', { arguments: { by: 5 } }, key)).toMatchObject({
      status: 409,
      body: { code: 'conflict' },
    })
    expect((await call('count', {}, { ...key, 'x-user': 'bob' })).status).toBe(200)
    expect(made).toBe(2)
  })
  it('an error is kept as it was', async () => {
    const bad = { arguments: { by: 'x' } }
    expect(await call('count', bad, key)).toMatchObject({ status: 422, body: { code: 'invalid-input' } })
    expect(await call('count', bad, key)).toMatchObject({ status: 422, body: { code: 'invalid-input' } })
  })
})

it('wait: false goes on behind', async () => {
  const { status, body } = await call('count', { wait: false })
  expect([status, body.status]).toEqual([202, 'running'])
  await expect.poll(async () => (await request(`GET /api/calls/${body.callId}`)).status).toBe(200)
  expect(await request(`GET /api/calls/${body.callId}`, undefined, { 'x-user': 'bob' })).toMatchObject({ status: 404 })
})

it('streamed: what happens, one event each, and the end', async () => {
  const { text } = await call('count', {}, { accept: 'text/event-stream' })
  expect(text.match(/^event: .*$/gm)).toEqual(['event: started', 'event: result'])
  const failed = await call('count', { arguments: { by: 'x' } }, { accept: 'text/event-stream' })
  expect(failed.text).toContain('"code":"invalid-input"')
})

it('too large: a preview and a handle, read on by page, line and path', async () => {
  const { body } = await call('large')
  expect(body.content[0].text.length).toBeLessThan(2048)
  const part = (query: string, user = 'ann') =>
    request(`GET /api/results/${body.resultHandle}?${query}`, undefined, { 'x-user': user })
  expect((await part('offset=5&limit=4')).body).toMatchObject({ text: 'word', nextOffset: 9 })
  expect((await part('fromLine=49999&lines=1')).body.text).toBe('word')
  expect(await part('path=$.x')).toMatchObject({ status: 422 })
  expect(await part('', 'bob')).toMatchObject({ status: 404 })
})

it('usage and rules', async () => {
  await call('count')
  expect((await request('GET /api/usage')).body.callsThisHour.used).toBe(1)
  expect(await request('GET /api/policy')).toMatchObject({ status: 403 })
  expect(await request('PUT /api/policy/own', { rules: [{ pattern: 'A b', decision: 'deny' }] })).toMatchObject({
    status: 422,
    body: { errors: [{ path: 'rules.0.pattern' }] },
  })
  await request('PUT /api/policy/own', { rules: [{ pattern: 'app.count', decision: 'deny', reason: 'Not now.' }] })
  expect(await call('count')).toMatchObject({
    status: 403,
    body: { code: 'denied', detail: expect.stringContaining('Not now.') },
  })
  expect(await call('fail')).toMatchObject({ status: 200, body: { status: 'tool-error' } })
})
