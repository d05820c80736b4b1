/** The call route, whole: waited for, asked about, streamed, left to go on, made once, and too large. */
import { defineTool, HostError, rule } from '@loadout/core'
import { createServices, type HostServices } from '@loadout/core/services'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { createApp } from '../../src/http/app.ts'

type Answer = ReturnType<typeof JSON.parse>
let host: HostServices
let made: number
let finish: () => void
let slowSignal: AbortSignal | undefined
let request: (
  route: string,
  body?: unknown,
  headers?: Record<string, string>,
) => Promise<{ status: number; body: Answer; text: string; headers: Headers }>
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
  const crash = defineTool({ name: 'crash', execute: () => Promise.reject(new HostError('server-crashed')) })
  const busy = defineTool({
    name: 'busy',
    annotations: { readOnlyHint: true },
    execute: () => Promise.reject(new HostError('rate-limited', { retryAfterMs: 90_000 })),
  })
  slowSignal = undefined
  const slow = defineTool({
    name: 'slow',
    execute: (_, { signal }) => {
      slowSignal = signal
      return pending
    },
  })
  const pending = new Promise<string>((resolve) => {
    finish = () => resolve('done')
  })
  const allowed = ['count', 'crash', 'slow'].map((name) => rule(`app.${name}`, 'allow'))
  host = createServices({ tools: [count, pay, large, fail, crash, slow, busy], policy: allowed })
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
    return { status: answer.status, headers: answer.headers, text, body: isJson ? JSON.parse(text) : undefined }
  }
})
afterEach(() => host.close())
const call = (tool: string, body: object = {}, headers = {}) =>
  request(`POST /api/tools/app/${tool}/call`, body, headers)

describe('a call that needs approval', () => {
  it('returns 202 with the approval request, and its outcome appears at /api/calls/:id', async () => {
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

  it('returns 403 after it is denied', async () => {
    const { body } = await call('pay')
    await request(`POST /api/approvals/${body.approval.id}/answer`, { decision: 'deny' })
    await expect.poll(async () => (await request(`GET /api/calls/${body.callId}`)).status).toBe(403)
  })
})

describe('a call with edited arguments', () => {
  it('returns 422 for invalid arguments and keeps the approval request open', async () => {
    await host.rules.set({ userId: 'ann' }, [rule('app.count', { allowEdits: true }, 'ask')])
    const { body } = await call('count')
    const answer = `POST /api/approvals/${body.approval.id}/answer`
    const bad = await request(answer, { decision: 'allow', arguments: { by: 'x' } })
    expect(bad).toMatchObject({ status: 422, body: { errors: [{ path: 'arguments.by' }] } })
    expect((await request(`GET /api/approvals/${body.approval.id}`)).body.status).toBe('pending')
    expect((await request(answer, { decision: 'allow', arguments: { by: 3 } })).status).toBe(200)
    await expect.poll(() => made).toBe(3)
  })
})

it('approvals are paged and the policy shows the rules from code beside the stored rules', async () => {
  for (let count = 0; count < 3; count++) await call('pay')
  const first = await request('GET /api/approvals?status=pending&limit=2')
  const second = await request(`GET /api/approvals?status=pending&limit=2&cursor=${first.body.nextCursor}`)
  expect([first.body.items.length, second.body.items.length, second.body.nextCursor]).toEqual([2, 1, undefined])
  const operator = createApp({ host, authenticate: () => ({ kind: 'session', userId: 'olga', role: 'operator' }) })
  const shown = await (await operator.request('/api/policy')).json()
  expect(shown).toMatchObject({ rules: [], given: [{ pattern: 'app.count', decision: 'allow' }, {}, {}] })
})

describe('the idempotency key of a call', () => {
  const key = { 'idempotency-key': 'k1' }
  it('identifies the same call, also for a call that needs approval later', async () => {
    const [one, two] = await Promise.all([call('count', {}, key), call('count', {}, key)])
    const again = await call('count', {}, key)
    expect(made).toBe(1)
    expect(again).toMatchObject({ status: 200, body: { status: 'ok', callId: one.body.callId } })
    expect(two.body.callId).toBe(one.body.callId)
  })
  it('returns 409 for other arguments and is separate for each user', async () => {
    await call('count', {}, key)
    expect(await call('count', { arguments: { by: 5 } }, key)).toMatchObject({
      status: 409,
      body: { code: 'conflict' },
    })
    expect((await call('count', {}, { ...key, 'x-user': 'bob' })).status).toBe(200)
    expect(made).toBe(2)
  })
  it('stays free if the call never reached a server: invalid arguments or a reached limit', async () => {
    const bad = { arguments: { by: 'x' } }
    const problem = {
      code: 'invalid-input',
      errors: [{ path: 'arguments.by' }],
      callId: expect.stringMatching(/^call_/),
    }
    expect(await call('count', bad, key)).toMatchObject({ status: 422, body: problem })
    await host.app.update({ limits: { maxCallsPerHour: 0 } })
    expect(await call('count', {}, key)).toMatchObject({ status: 429, body: { code: 'limit-reached' } })
    await host.app.update({ limits: { maxCallsPerHour: 5 } })
    expect(await call('count', {}, key)).toMatchObject({ status: 200 })
    expect(made).toBe(1)
  })

  it('replays the same response: pending with its approval request, a result, an error', async () => {
    const first = await call('pay', {}, key)
    const again = await call('pay', {}, key)
    expect(again).toMatchObject({ status: 202, body: first.body })
    const later = await request(`GET /api/calls/${first.body.callId}`)
    expect(later.body.approval).toEqual(first.body.approval)
    await request(`POST /api/approvals/${first.body.approval.id}/answer`, { decision: 'allow' })
    await expect.poll(async () => (await call('pay', {}, key)).status).toBe(200)
    expect(made).toBe(1)
    const error = await call('crash', {}, { 'idempotency-key': 'k2' })
    const { requestId: _, ...problem } = error.body
    expect(await call('crash', {}, { 'idempotency-key': 'k2' })).toMatchObject({ status: error.status, body: problem })
    expect(await request(`GET /api/calls/${problem.callId}`)).toMatchObject({ status: error.status, body: problem })
  })

  it('replays a 429 with a retry-after header that counts down', async () => {
    const asked = () => call('busy', {}, key)
    expect((await asked()).headers.get('retry-after')).toBe('90')
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 60_000 })
    const later = await asked()
    expect([later.status, Number(later.headers.get('retry-after'))]).toEqual([429, expect.closeTo(30, -1)])
    vi.setSystemTime(Date.now() + 60_000)
    expect((await asked()).headers.get('retry-after')).toBe('0')
    vi.useRealTimers()
  })

  it('waits for the running call with the same key', async () => {
    const first = call('slow', {}, key)
    await expect.poll(() => slowSignal).toBeDefined()
    const second = call('slow', {}, key)
    expect(await Promise.race([second, new Promise((resolve) => setTimeout(resolve, 50, 'waits'))])).toBe('waits')
    finish()
    const [one, two] = await Promise.all([first, second])
    expect(two).toMatchObject({ status: 200, body: one.body })
  })
})

it('a call with wait: false continues in the background', async () => {
  const { status, body } = await call('count', { wait: false })
  expect([status, body.status]).toEqual([202, 'running'])
  await expect.poll(async () => (await request(`GET /api/calls/${body.callId}`)).status).toBe(200)
  expect(await request(`GET /api/calls/${body.callId}`, undefined, { 'x-user': 'bob' })).toMatchObject({ status: 404 })
})

describe('a cancelled call', () => {
  const cancel = (id: string, headers = {}) => request(`POST /api/calls/${id}/cancel`, undefined, headers)
  const show = (id: string) => request(`GET /api/calls/${id}`)

  it('is aborted down to the running tool, and only by its owner', async () => {
    const { body } = await call('slow', { wait: false })
    await expect.poll(() => slowSignal).toBeDefined()
    expect(await cancel(body.callId, { 'x-user': 'bob' })).toMatchObject({ status: 404, body: { code: 'not-found' } })
    expect([await cancel('call_none'), slowSignal?.aborted]).toMatchObject([{ status: 404 }, false])
    expect((await cancel(body.callId)).status).toBe(204)
    expect(slowSignal?.aborted).toBe(true)
    expect(await show(body.callId)).toMatchObject({ status: 499, body: { code: 'cancelled', callId: body.callId } })
    expect(await cancel(body.callId)).toMatchObject({ status: 409, body: { code: 'conflict' } })
  })

  it('is not executed while it waits for approval, and its approval request is closed', async () => {
    const { body } = await call('pay', { wait: false })
    await expect.poll(async () => (await show(body.callId)).body.status).toBe('pending')
    expect((await cancel(body.callId)).status).toBe(204)
    expect((await show(body.callId)).body.code).toBe('cancelled')
    expect((await request('GET /api/approvals?status=pending')).body.items).toEqual([])
    expect(made).toBe(0)
  })

  it('is refused with 409 after it ended or while its request is still open', async () => {
    const { body } = await call('count', { wait: false })
    await expect.poll(async () => (await show(body.callId)).status).toBe(200)
    expect((await cancel(body.callId)).status).toBe(409)
    expect((await show(body.callId)).status).toBe(200)
    const waited = await call('pay')
    expect(await cancel(waited.body.callId)).toMatchObject({
      status: 409,
      body: { action: expect.stringContaining('end the request') },
    })
  })
})

it('a streamed call sends one event per step and the final result', async () => {
  const { text } = await call('count', {}, { accept: 'text/event-stream' })
  expect(text.match(/^event: .*$/gm)).toEqual(['event: started', 'event: result'])
  const failed = await call('count', { arguments: { by: 'x' } }, { accept: 'text/event-stream' })
  expect(failed.text).toContain('"code":"invalid-input"')
  expect(failed.text).toContain('"errors":[{"path":"arguments.by"')
})

it('a streamed call with a key or wait: false sends the same events and is stored', async () => {
  const sse = { accept: 'text/event-stream' }
  const key = { ...sse, 'idempotency-key': 'k' }
  const names = (text: string) => text.match(/^event: .*$/gm)
  const [one, two] = [await call('count', {}, key), await call('count', {}, key)]
  for (const { text } of [one, two]) expect(names(text)).toEqual(['event: started', 'event: result'])
  expect(made).toBe(1)
  const { callId } = JSON.parse(one.text.match(/^data: (.*)$/m)?.[1] ?? '')
  expect(two.text).toContain(callId)
  expect(await request(`GET /api/calls/${callId}`)).toMatchObject({ status: 200 })
  expect(names((await call('count', { wait: false }, sse)).text)).toEqual(['event: started', 'event: result'])
  expect(await call('count', { arguments: { by: 2 } }, key)).toMatchObject({ status: 409, body: { code: 'conflict' } })
})

it('a call can add rules that only tighten the policy', async () => {
  const deny = { rules: [{ pattern: 'app.count', decision: 'deny' }] }
  expect(await call('count', deny)).toMatchObject({ status: 403, body: { code: 'denied' } })
  expect((await call('pay', { rules: [{ pattern: '*', decision: 'allow' }] })).status).toBe(202)
  expect(await call('count', { rules: [{ pattern: 'A b', decision: 'deny' }] })).toMatchObject({ status: 422 })
})

it('a large result returns a preview and a handle that is read by page, line and path', async () => {
  const { body } = await call('large')
  expect(body.content[0].text.length).toBeLessThan(2048)
  const part = (query: string, user = 'ann') =>
    request(`GET /api/results/${body.resultHandle}?${query}`, undefined, { 'x-user': user })
  expect((await part('offset=5&limit=4')).body).toMatchObject({ text: 'word', nextOffset: 9 })
  expect((await part('fromLine=49999&lines=1')).body.text).toBe('word')
  expect(await part('path=$.x')).toMatchObject({ status: 422 })
  expect(await part('', 'bob')).toMatchObject({ status: 404 })
})

it('usage counts calls, and own rules are validated and applied', async () => {
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
