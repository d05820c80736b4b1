/** Threads over HTTP, as somebody sees them who knows the routes and nothing else. */
import { defineTool } from '@loadout/core'
import { nodeDrivers } from '@loadout/core/node'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { type RunningServer, startHttpServer } from '../../../../test/real-servers.ts'
import { type Ask, type Body, type MultiUserApp, multiUserApp } from '../support/multi-user-app.ts'

let app: MultiUserApp
let ann: Ask
let bob: Ask
const prompts: string[] = []

const say = (name: string) =>
  defineTool({
    name,
    description: `Says what it is told, as ${name}.`,
    inputSchema: z.object({ text: z.string() }),
    execute: ({ text }, { userId, threadId }) => {
      prompts.push(`${name} ${userId} ${threadId}`)
      return `${name}: ${text}`
    },
  })
const toolkit = (id: string, ...tools: string[]) => ({ id, name: id, tools: tools.map(say) })

beforeEach(async () => {
  prompts.length = 0
  app = multiUserApp({ drivers: nodeDrivers({ guard: { privateNetwork: true } }) })
  ann = app.as('ann')
  bob = app.as('bob')
  await app.host.toolkits.register(toolkit('github', 'list_issues', 'create_issue', 'delete_repo'), { tier: 'app' })
  await app.host.toolkits.register(toolkit('notes', 'read', 'write'), { tier: 'user', userId: 'ann' })
})
afterEach(() => app.host.close())

const paths = (body: Body) => body.errors.map((error: { path: string }) => error.path)
const available = async (ask: Ask, id = 't', query = '') =>
  (await ask(`GET /api/threads/${id}/loadout${query}`)).body.tools.map((tool: { ref: string }) => tool.ref)
const EVERYTHING = ['notes.read', 'notes.write', 'github.list_issues', 'github.create_issue', 'github.delete_repo']

describe('/api/threads', () => {
  it('creates a thread with the ID of the caller or a new ID', async () => {
    const created = await ann('POST /api/threads', { id: 'trip', title: ' A trip ' })
    expect(created.status).toBe(201)
    expect(created.body).toEqual({
      id: 'trip',
      title: 'A trip',
      settings: { limits: {} },
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
      updatedAt: expect.any(String),
    })
    const made = await ann('POST /api/threads', {})
    expect([made.status, made.body.title]).toEqual([201, ''])
    expect(made.body.id).toMatch(/^thrd_[0-9a-z]{26}$/)
    expect((await ann('POST /api/threads')).status).toBe(201)
    expect((await ann(`GET /api/threads/${made.body.id}`)).body).toEqual(made.body)
  })

  it('returns 409 for an existing ID of the caller, and accepts an ID of another user', async () => {
    await ann('POST /api/threads', { id: 't', title: 'first' })
    const again = await ann('POST /api/threads', { id: 't', title: 'second' })
    expect(again).toMatchObject({ status: 409, body: { code: 'conflict', errors: [{ path: 'id' }] } })
    expect((await ann('GET /api/threads/t')).body.title).toBe('first')
    expect((await bob('POST /api/threads', { id: 't', title: "Bob's" })).status).toBe(201)
    expect((await ann('GET /api/threads/t')).body.title).toBe('first')
  })

  it('lists the newest threads first, by page, each once', async () => {
    for (let i = 0; i < 7; i++) await ann('POST /api/threads', { title: `${i}` })
    await bob('POST /api/threads', { title: "Bob's" })
    const pages: string[][] = []
    let query = '?limit=3'
    for (let i = 0; i < 5 && query !== ''; i++) {
      const { body } = await ann(`GET /api/threads${query}`)
      pages.push(body.items.map((thread: { title: string }) => thread.title))
      query = body.nextCursor === undefined ? '' : `?limit=3&cursor=${encodeURIComponent(body.nextCursor)}`
    }
    expect(pages).toEqual([['6', '5', '4'], ['3', '2', '1'], ['0']])
    const whole = await ann('GET /api/threads')
    expect([whole.body.items.length, whole.body.nextCursor]).toEqual([7, undefined])
  })

  it('returns no cursor on a full last page', async () => {
    for (let i = 0; i < 4; i++) await ann('POST /api/threads', { title: `${i}` })
    const first = await ann('GET /api/threads?limit=2')
    const second = await ann(`GET /api/threads?limit=2&cursor=${first.body.nextCursor}`)
    expect([second.body.items.length, second.body.nextCursor]).toEqual([2, undefined])
    expect((await bob('GET /api/threads?limit=1')).body).toEqual({ items: [] })
  })

  it('changes the title and limits and keeps other fields', async () => {
    const { body: before } = await ann('POST /api/threads', { id: 't', title: 'old' })
    const limits = { maxTools: 2, maxCallsPerHour: 10 }
    expect((await ann('PATCH /api/threads/t', { settings: { limits } })).body).toMatchObject({
      title: 'old',
      settings: { limits },
    })
    const renamed = await ann('PATCH /api/threads/t', { title: 'new' })
    expect(renamed).toMatchObject({ status: 200, body: { id: 't', title: 'new', settings: { limits } } })
    expect(renamed.body.createdAt).toBe(before.createdAt)
    expect((await ann('GET /api/threads/t')).body).toEqual(renamed.body)
  })

  it('applies the thread limits to the loadout, and explain names them', async () => {
    await ann('POST /api/threads', { id: 't', settings: { limits: { maxTools: 2 } } })
    expect(await available(ann)).toEqual(['notes.read', 'notes.write'])
    const { items } = (await ann('GET /api/threads/t/explain')).body
    expect(items.find((item: { ref: string }) => item.ref === 'github.delete_repo')).toMatchObject({
      included: false,
      reasons: expect.arrayContaining([
        { kind: 'limit', speaks: 'against', tier: 'thread', detail: expect.stringContaining('maxTools') },
      ]),
    })
    const call = await ann('POST /api/tools/github/list_issues/call', { arguments: { text: 'x' }, threadId: 't' })
    expect([call.status, call.body.code]).toEqual([403, 'not-carried'])
    await ann('PATCH /api/threads/t', { settings: { limits: { maxToolkits: 1 } } })
    expect((await ann('GET /api/threads/t/loadout')).body).toMatchObject({
      droppedToolkits: ['github'],
      toolkits: [
        { id: 'notes', active: true, toolCount: 2 },
        { id: 'github', active: false, toolCount: 0 },
      ],
    })
    await ann('PATCH /api/threads/t', { settings: {} })
    expect(await available(ann)).toEqual(EVERYTHING)
  })

  it('warns when a cap drops servers from an exclusive list', async () => {
    await ann('POST /api/threads', { id: 't' })
    const use = () => ann('PUT /api/threads/t/activations', { toolkits: ['notes', 'github'] })
    expect((await use()).body).not.toHaveProperty('warnings')
    await ann('PATCH /api/preferences', { maxServersPerThread: 1 })
    const { status, body } = await use()
    expect(status).toBe(200)
    expect(body.warnings).toEqual([expect.stringContaining('1 server is left out: github.')])
    const resolved = await ann('POST /api/threads/t/resolve', { prompt: '' })
    expect(resolved.body).toMatchObject({ dropped: [{ ref: 'github' }], warnings: body.warnings })
    await ann('PATCH /api/preferences', { maxServersPerThread: null })
  })

  it('deletes a thread with its activations, and a new thread with that ID starts empty', async () => {
    await ann('POST /api/threads', { id: 't' })
    await ann('POST /api/threads/t/activations', { ref: 'github', on: false })
    expect((await ann('DELETE /api/threads/t')).status).toBe(204)
    for (const route of ['GET /api/threads/t', 'DELETE /api/threads/t'] as const)
      expect(await ann(route)).toMatchObject({ status: 404, body: { code: 'not-found' } })
    expect((await ann('GET /api/threads')).body).toEqual({ items: [] })
    await ann('POST /api/threads', { id: 't' })
    expect((await ann('GET /api/threads/t/activations')).body).toEqual({ items: [], exclusive: false })
    expect(await available(ann)).toEqual(EVERYTHING)
  })

  it('returns 404 for an unknown thread on every route and creates none', async () => {
    const routes: Array<[`${string} ${string}`, unknown?]> = [
      ['GET /api/threads/none'],
      ['PATCH /api/threads/none', { title: 'x' }],
      ['DELETE /api/threads/none'],
      ['GET /api/threads/none/activations'],
      ['PUT /api/threads/none/activations', { toolkits: ['notes'] }],
      ['POST /api/threads/none/activations', { ref: 'notes', on: false }],
      ['DELETE /api/threads/none/activations'],
      ['GET /api/threads/none/loadout'],
      ['GET /api/threads/none/explain'],
    ]
    for (const [route, body] of routes)
      expect({ route, ...(await ann(route, body)) }).toMatchObject({ route, status: 404, body: { code: 'not-found' } })
    expect((await ann('GET /api/threads')).body).toEqual({ items: [] })
  })

  const BAD: Record<string, [route: `${string} ${string}`, body: unknown, path: string]> = {
    'an empty id': ['POST /api/threads', { id: '' }, 'id'],
    'an id with a NUL': ['POST /api/threads', '{"id":"a\\u0000b"}', 'id'],
    'an id of 201 characters': ['POST /api/threads', { id: 'x'.repeat(201) }, 'id'],
    'an id that is a number': ['POST /api/threads', { id: 7 }, 'id'],
    'a title of 301 characters': ['POST /api/threads', { title: 'x'.repeat(301) }, 'title'],
    'a field that nobody knows': ['POST /api/threads', { colour: 'red' }, 'colour'],
    'a limit below zero': ['POST /api/threads', { settings: { limits: { maxTools: -1 } } }, 'settings.limits.maxTools'],
    'a limit that nobody knows': ['PATCH /api/threads/t', { settings: { limits: { x: 1 } } }, 'settings.limits.x'],
    'a title that is a list': ['PATCH /api/threads/t', { title: [] }, 'title'],
    'another id': ['PATCH /api/threads/t', { id: 'u' }, 'id'],
    'a page of nothing': ['GET /api/threads?limit=0', undefined, 'limit'],
    'a page of words': ['GET /api/threads?limit=ten', undefined, 'limit'],
    'a cursor with a NUL': ['GET /api/threads?cursor=a%00b', undefined, 'cursor'],
    'no list': ['PUT /api/threads/t/activations', {}, 'toolkits'],
    'a list of numbers': ['PUT /api/threads/t/activations', { toolkits: ['notes', 7] }, 'toolkits.1'],
    'a list with what is no ref': ['PUT /api/threads/t/activations', { toolkits: ['notes', 'No Ref'] }, 'toolkits.1'],
    'a list of 1001': ['PUT /api/threads/t/activations', { toolkits: Array(1001).fill('notes') }, 'toolkits'],
    'no ref': ['POST /api/threads/t/activations', { on: true }, 'ref'],
    'what is no ref': ['POST /api/threads/t/activations', { ref: 'No Ref', on: true }, 'ref'],
    'a glob of 128 alternatives': [
      'POST /api/threads/t/activations',
      { ref: `github.${'{a,b}'.repeat(7)}`, on: false },
      'ref',
    ],
    'no switch': ['POST /api/threads/t/activations', { ref: 'notes' }, 'on'],
    'a switch that is a word': ['POST /api/threads/t/activations', { ref: 'notes', on: 'yes' }, 'on'],
    'a narrowing to what is no ref': ['GET /api/threads/t/loadout?only=No%20Ref', undefined, 'only.0'],
    'a negative limit of a call': ['GET /api/threads/t/loadout?maxTools=-1', undefined, 'maxTools'],
    'a limit in words': ['GET /api/threads/t/explain?maxTokens=many', undefined, 'maxTokens'],
    'a thread that is a number': ['POST /api/tools/notes/read/call', { threadId: 7 }, 'threadId'],
    'a thread with a NUL': ['POST /api/tools/notes/read/call', '{"threadId":"a\\u0000b"}', 'threadId'],
  }
  for (const [name, [route, body, path]] of Object.entries(BAD))
    it(`returns 422 that names ${path} and changes nothing: ${name}`, async () => {
      await ann('POST /api/threads', { id: 't', title: 'as it was' })
      const answer = await ann(route, body)
      expect(answer).toMatchObject({ status: 422, body: { code: 'invalid-input' } })
      expect(paths(answer.body)).toContain(path)
      expect((await ann('GET /api/threads')).body.items).toMatchObject([{ id: 't', title: 'as it was' }])
      expect((await ann('GET /api/threads/t/activations')).body).toEqual({ items: [], exclusive: false })
      expect(prompts).toEqual([])
    })
})

describe('/api/threads/:id/activations', () => {
  beforeEach(async () => void (await ann('POST /api/threads', { id: 't' })))

  it('give a thread without changes all tools of its user', async () => {
    expect((await ann('GET /api/threads/t/activations')).body).toEqual({ items: [], exclusive: false })
    expect(await available(ann)).toEqual(EVERYTHING)
  })

  it('are replaced by an exclusive list on PUT', async () => {
    await ann('POST /api/threads/t/activations', { ref: 'notes', on: false })
    const put = await ann('PUT /api/threads/t/activations', { toolkits: ['github.list_issues', 'notes'] })
    expect(put.status).toBe(200)
    expect(await available(ann)).toEqual(['notes.read', 'notes.write', 'github.list_issues'])
    expect((await ann('GET /api/threads/t/activations')).body).toEqual(put.body)
    await ann('PUT /api/threads/t/activations', { toolkits: ['github'] })
    expect(await available(ann)).toEqual(['github.list_issues', 'github.create_issue', 'github.delete_repo'])
    await ann('PUT /api/threads/t/activations', { toolkits: [] })
    expect(await available(ann)).toEqual([])
  })

  it('exclude toolkits added after an exclusive list', async () => {
    await ann('PUT /api/threads/t/activations', { toolkits: ['notes'] })
    await app.host.toolkits.register(toolkit('later', 'x'), { tier: 'user', userId: 'ann' })
    expect(await available(ann)).toEqual(['notes.read', 'notes.write'])
    expect((await ann('GET /api/threads/t/explain')).body.items).toContainEqual({
      ref: 'later.x',
      modelName: 'mcp_later_x',
      tier: 'user',
      included: false,
      reasons: [
        expect.objectContaining({ kind: 'tier', speaks: 'for', tier: 'user' }),
        expect.objectContaining({ kind: 'activation', speaks: 'against', tier: 'thread' }),
      ],
    })
  })

  it('change on POST for one toolkit, tool or glob, off and on again', async () => {
    const change = (ref: string, on: boolean) => ann('POST /api/threads/t/activations', { ref, on })
    expect(await change('github', false)).toEqual({
      status: 200,
      body: { items: [{ ref: 'github', on: false }], exclusive: false },
    })
    expect(await available(ann)).toEqual(['notes.read', 'notes.write'])
    expect((await change('github', true)).body).toEqual({ items: [{ ref: 'github', on: true }], exclusive: false })
    await change('github.delete_repo', false)
    await change('notes.w*', false)
    expect(await available(ann)).toEqual(['notes.read', 'github.list_issues', 'github.create_issue'])
    await change('*.*_issue{,s}', false)
    expect(await available(ann)).toEqual(['notes.read'])
  })

  it('are removed on DELETE, one or all', async () => {
    const change = (ref: string) => ann('POST /api/threads/t/activations', { ref, on: false })
    await change('github.delete_repo')
    await change('notes.w*')
    await change('github.create_*')
    const one = await ann(`DELETE /api/threads/t/activations?ref=${encodeURIComponent('notes.w*')}`)
    expect(one.body.items).toEqual([
      { ref: 'github.delete_repo', on: false },
      { ref: 'github.create_*', on: false },
    ])
    expect(await available(ann)).toEqual(['notes.read', 'notes.write', 'github.list_issues'])
    expect((await ann('DELETE /api/threads/t/activations')).body).toEqual({ items: [], exclusive: false })
    expect(await available(ann)).toEqual(EVERYTHING)
  })

  it('reject an unknown ref with the available ones and write nothing', async () => {
    for (const body of [
      { ref: 'gihub', on: true },
      { ref: 'gihub', on: false },
    ]) {
      const answer = await ann('POST /api/threads/t/activations', body)
      expect(answer).toMatchObject({ status: 422, body: { code: 'invalid-input', errors: [{ path: 'ref' }] } })
      expect(answer.body.detail).toMatch(/"gihub" .*notes, github/)
    }
    const tool = await ann('POST /api/threads/t/activations', { ref: 'notes.erase', on: true })
    expect([tool.status, tool.body.errors[0].message]).toEqual([
      422,
      expect.stringMatching(/notes\.read, notes\.write/),
    ])
    const glob = await ann('POST /api/threads/t/activations', { ref: 'jira*', on: true })
    expect(glob.status).toBe(422)
    const list = await ann('PUT /api/threads/t/activations', { toolkits: ['notes', 'jira', 'github.fork'] })
    expect([list.status, paths(list.body)]).toEqual([422, ['toolkits.1', 'toolkits.2']])
    expect((await ann('GET /api/threads/t/activations')).body).toEqual({ items: [], exclusive: false })
  })

  it("do not list another's toolkit as available", async () => {
    await bob('POST /api/threads', { id: 't' })
    const answer = await bob('POST /api/threads/t/activations', { ref: 'notes', on: true })
    expect(answer.status).toBe(422)
    expect(answer.body.detail).toMatch(/there is github$/)
  })

  it('accept a glob that matches nothing yet and apply it to later tools', async () => {
    expect((await ann('POST /api/threads/t/activations', { ref: '*.delete_*', on: false })).status).toBe(200)
    await app.host.toolkits.register(toolkit('disk', 'delete_file', 'list'), { tier: 'user', userId: 'ann' })
    expect(await available(ann)).toEqual([
      'notes.read',
      'notes.write',
      'disk.list',
      'github.list_issues',
      'github.create_issue',
    ])
  })

  it('cannot turn on a toolkit that the user turned off, and explain the reason', async () => {
    await ann('GET /api/mcp')
    await ann('PATCH /api/mcp/github', { enabled: false })
    expect((await ann('POST /api/threads/t/activations', { ref: 'github.list_issues', on: true })).status).toBe(200)
    expect(await available(ann)).toEqual(['notes.read', 'notes.write'])
    const { items } = (await ann('GET /api/threads/t/explain')).body
    const { included, reasons } = items.find((item: { ref: string }) => item.ref === 'github.list_issues')
    expect(included).toBe(false)
    expect(reasons).toContainEqual(expect.objectContaining({ kind: 'disabled', speaks: 'against', tier: 'user' }))
    expect(reasons).toContainEqual(expect.objectContaining({ kind: 'activation', speaks: 'for', tier: 'thread' }))
  })

  it('are separate between two threads, and between two users with the same thread ID', async () => {
    await ann('POST /api/threads', { id: 'u' })
    await bob('POST /api/threads', { id: 't' })
    await ann('PUT /api/threads/t/activations', { toolkits: ['notes'] })
    expect(await available(ann, 'u')).toEqual(EVERYTHING)
    expect(await available(bob)).toEqual(['github.list_issues', 'github.create_issue', 'github.delete_repo'])
    expect((await bob('GET /api/threads/t/activations')).body).toEqual({ items: [], exclusive: false })
  })
})

describe('/loadout and /explain', () => {
  beforeEach(async () => void (await ann('POST /api/threads', { id: 't' })))

  it('return a tool with its model name, tier, schema, cost and reasons', async () => {
    const { body } = await ann('GET /api/threads/t/loadout')
    const [tool] = body.tools
    expect(tool).toMatchObject({
      ref: 'notes.read',
      modelName: 'mcp_notes_read',
      tier: 'user',
      toolkit: 'notes',
      tool: 'read',
      manifest: { name: 'read', inputSchema: { type: 'object', required: ['text'] } },
      included: true,
      reasons: [{ kind: 'tier', speaks: 'for', tier: 'user' }],
    })
    const sum = body.tools.reduce((total: number, one: { tokens: number }) => total + one.tokens, 0)
    expect([body.tokens, sum > 0]).toEqual([sum, true])
    expect(body).not.toHaveProperty('entries')
  })

  it('apply the filters only, except, maxTools and maxTokens', async () => {
    expect(await available(ann, 't', '?only=notes,github.list_issues')).toEqual([
      'notes.read',
      'notes.write',
      'github.list_issues',
    ])
    expect(await available(ann, 't', '?except=github.*_issue*,notes.write')).toEqual([
      'notes.read',
      'github.delete_repo',
    ])
    expect(await available(ann, 't', '?only=github&except=github.delete_repo')).toEqual([
      'github.list_issues',
      'github.create_issue',
    ])
    const braces = encodeURIComponent('github.{list,create}_*, notes.read')
    expect(await available(ann, 't', `?only=${braces}`)).toEqual([
      'notes.read',
      'github.list_issues',
      'github.create_issue',
    ])
    expect(await available(ann, 't', '?maxTools=3')).toEqual(EVERYTHING.slice(0, 3))
    expect(await available(ann, 't', '?maxTools=0')).toEqual([])
    const [first, second] = (await ann('GET /api/threads/t/loadout')).body.tools
    const both = first.tokens + second.tokens
    expect(await available(ann, 't', `?maxTokens=${both}`)).toEqual(EVERYTHING.slice(0, 2))
    expect((await ann(`GET /api/threads/t/loadout?maxTokens=${both}`)).body.tokens).toBe(both)
  })

  it('apply a filter to one request only and never restore a disabled tool', async () => {
    await ann('POST /api/threads/t/activations', { ref: 'github.delete_repo', on: false })
    expect(await available(ann, 't', '?only=github.delete_repo')).toEqual([])
    expect(await available(ann)).toEqual(EVERYTHING.filter((ref) => ref !== 'github.delete_repo'))
  })

  it('list every tool once, with the reason of each tier and of the request', async () => {
    await ann('POST /api/threads/t/activations', { ref: 'github.delete_repo', on: false })
    const { items } = (await ann('GET /api/threads/t/explain?only=github&maxTools=1')).body
    expect(items.map((item: { ref: string }) => item.ref)).toEqual(EVERYTHING)
    const of = (ref: string) => items.find((item: { ref: string }) => item.ref === ref)
    expect(of('github.list_issues').included).toBe(true)
    expect(of('notes.read').reasons.at(-1)).toMatchObject({ kind: 'activation', speaks: 'against', tier: 'call' })
    expect(of('github.create_issue').reasons.at(-1)).toMatchObject({ kind: 'limit', speaks: 'against', tier: 'call' })
    expect(of('github.delete_repo').reasons).toContainEqual({
      kind: 'activation',
      speaks: 'against',
      tier: 'thread',
      detail: 'Switched off at the thread tier by "github.delete_repo".',
    })
    for (const item of items) expect(item.reasons[0]).toMatchObject({ kind: 'tier', speaks: 'for' })
  })
})

describe('a call with a thread', () => {
  const call = (ask: Ask, ref: string, threadId?: string) =>
    ask(`POST /api/tools/${ref.replace('.', '/')}/call`, {
      arguments: { text: 'hi' },
      ...(threadId === undefined ? {} : { threadId }),
    })
  beforeEach(async () => void (await ann('POST /api/threads', { id: 't' })))

  it('reaches an available tool, and the tool receives the thread ID', async () => {
    expect(await call(ann, 'github.list_issues', 't')).toMatchObject({
      status: 200,
      body: { status: 'ok', content: [{ type: 'text', text: 'list_issues: hi' }] },
    })
    expect(prompts).toEqual(['list_issues ann t'])
  })

  it('returns 403 not-carried for a tool that the thread turned off, and runs it without the thread', async () => {
    await ann('POST /api/threads/t/activations', { ref: 'github.delete_repo', on: false })
    const refused = await call(ann, 'github.delete_repo', 't')
    expect(refused).toMatchObject({ status: 403, body: { code: 'not-carried', action: expect.any(String) } })
    expect(refused.body.detail).toContain('Switched off at the thread tier')
    expect(prompts).toEqual([])
    expect((await call(ann, 'github.delete_repo')).status).toBe(200)
    await ann('PUT /api/threads/t/activations', { toolkits: ['notes'] })
    expect((await call(ann, 'github.list_issues', 't')).status).toBe(403)
    expect((await call(ann, 'notes.read', 't')).status).toBe(200)
  })

  it('returns 404 and runs nothing for an unknown thread or a thread of another user', async () => {
    await bob('POST /api/threads', { id: 'of-bob' })
    for (const threadId of ['none', 'of-bob'])
      expect(await call(ann, 'notes.read', threadId)).toMatchObject({ status: 404, body: { code: 'not-found' } })
    expect(prompts).toEqual([])
    expect((await ann('GET /api/threads/none')).status).toBe(404)
  })
})

describe('explain with a prompt', () => {
  it('reports the decision and the search score of each tool', async () => {
    await ann('POST /api/threads', { id: 't' })
    expect(
      (await ann('PUT /api/threads/t/policy', { rules: [{ pattern: 'github.delete_repo', decision: 'deny' }] })).status,
    ).toBe(200)
    const { items } = (await ann('GET /api/threads/t/explain?prompt=create%20an%20issue')).body
    const reasonsOf = (ref: string) => items.find((item: Body) => item.ref === ref)
    expect(reasonsOf('github.create_issue')).toMatchObject({
      included: true,
      reasons: expect.arrayContaining([
        expect.objectContaining({ kind: 'policy', speaks: 'for' }),
        expect.objectContaining({ kind: 'search', detail: expect.stringContaining('1') }),
      ]),
    })
    expect(reasonsOf('github.delete_repo')).toMatchObject({
      included: false,
      reasons: expect.arrayContaining([expect.objectContaining({ kind: 'policy', speaks: 'against', tier: 'thread' })]),
    })
  })
})

describe('a thread with a real server', () => {
  let server: RunningServer
  beforeAll(async () => {
    server = await startHttpServer('modern')
  })
  afterAll(() => server.close())

  it('sends no call of a disabled tool to the server', async () => {
    expect((await ann('POST /api/mcp', { name: 'live', url: server.url })).body.state.status).toBe('connected')
    await ann('POST /api/threads', { id: 't' })
    const call = () => ann('POST /api/tools/live/echo/call', { arguments: { text: 'hi' }, threadId: 't' })
    expect((await call()).body).toMatchObject({ status: 'ok', content: [{ text: 'hi' }] })
    await ann('POST /api/threads/t/activations', { ref: 'live.echo', on: false })
    const before = server.calls
    expect((await call()).status).toBe(403)
    expect(server.calls).toBe(before)
    await ann('DELETE /api/threads/t/activations?ref=live.echo')
    expect((await call()).status).toBe(200)
  })
})
