/** What belongs to the app, over HTTP: operators change it, users see it at once, and have a switch and a shadow of their own. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { defineTool } from '@loadout/core'
import { fileSource, nodeDrivers } from '@loadout/core/node'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type RunningServer, startHttpServer } from '../../../../test/real-servers.ts'
import { type Ask, type Body, type MultiUserApp, multiUserApp } from '../support/multi-user-app.ts'

let app: MultiUserApp
let server: RunningServer
const operator = () => app.as('olga', 'operator')
const ann = () => app.as('ann')
const bob = () => app.as('bob')

beforeAll(async () => {
  server = await startHttpServer('modern')
})
afterAll(() => server.close())
beforeEach(() => {
  app = multiUserApp({ drivers: nodeDrivers({ guard: { privateNetwork: true } }) })
})
afterEach(() => app.host.close())

const manifest = (name: string) => ({ name, inputSchema: { type: 'object' }, execute: 'return 1' })
const custom = (name: string, ...tools: string[]) => ({ name, tools: tools.map(manifest) })
const toolkitsOf = async (ask: Ask) => (await ask('GET /api/mcp')).body.toolkits as Body[]
const toolkitOf = async (ask: Ask, id: string) => (await ask(`GET /api/mcp/${id}`)).body
const explainedIn = async (ask: Ask, threadId: string, ref: string) =>
  (await ask(`GET /api/threads/${threadId}/explain`)).body.items.filter((item: { ref: string }) => item.ref === ref)

describe('operator-only access to /api/app', () => {
  const ROUTES: Array<[`${string} ${string}`, unknown?]> = [
    ['GET /api/app/toolkits'],
    ['POST /api/app/toolkits', custom('wiki', 'search')],
    ['GET /api/app/toolkits/global'],
    ['GET /api/app/toolkits/none'],
    ['PATCH /api/app/toolkits/global', { enabled: false }],
    ['PATCH /api/app/toolkits/none', { enabled: false }],
    ['DELETE /api/app/toolkits/global'],
    ['DELETE /api/app/toolkits/none'],
    ['GET /api/app/config'],
    ['GET /api/app/settings'],
    ['PATCH /api/app/config', { defaults: { deferLoading: false } }],
    ['GET /api/app/backup'],
    ['POST /api/app/keys/rotate'],
  ]
  for (const [route, body] of ROUTES)
    it(`returns 403 to a user on ${route}, whether it exists or not, and changes nothing`, async () => {
      await operator()('POST /api/app/toolkits', custom('global', 'look'))
      const before = [(await operator()('GET /api/app/toolkits')).body, (await operator()('GET /api/app/config')).body]
      expect(await ann()(route, body)).toMatchObject({ status: 403, body: { code: 'forbidden' } })
      const after = [(await operator()('GET /api/app/toolkits')).body, (await operator()('GET /api/app/config')).body]
      expect(after).toEqual(before)
    })

  it('rejects a user who registers a toolkit with scope app', async () => {
    const answer = await ann()('POST /api/mcp', { ...custom('wiki', 'search'), scope: 'app' })
    expect([answer.status, answer.body.errors?.[0].path]).toEqual([422, 'scope'])
    expect(await toolkitsOf(bob())).toEqual([])
  })

  it('keeps a toolkit writable for a user who names a source', async () => {
    const saved = await ann()('POST /api/mcp', { ...custom('mine', 'a'), source: 'mcp-servers.json' })
    expect([saved.status, saved.body.readOnly, saved.body.options.source]).toEqual([201, false, undefined])
    await ann()('POST /api/mcp', custom('mine', 'a'))
    expect((await ann()('DELETE /api/mcp/mine')).status).toBe(204)
  })
})

describe('an app toolkit', () => {
  it('is available at once to every user, read-only and without its configuration', async () => {
    expect(await toolkitsOf(ann())).toEqual([])
    const record = { name: 'Live', url: server.url, headers: { 'X-Key': 's3cret-of-the-app' } }
    const added = await operator()('POST /api/app/toolkits', record)
    expect(added).toMatchObject({
      status: 201,
      body: { id: 'live', tier: 'app', readOnly: false, enabled: true, toolCount: 1, state: { status: 'connected' } },
    })
    expect(added.body.server).toMatchObject({ url: server.url, headers: { 'X-Key': '${secret:headers.X-Key}' } })
    for (const ask of [ann(), bob()]) {
      const [kit, ...more] = await toolkitsOf(ask)
      expect(more).toEqual([])
      expect(kit).toMatchObject({ id: 'live', tier: 'app', readOnly: true, enabled: true, toolCount: 1 })
      expect(kit.server).toEqual({ type: 'http' })
      const call = await ask('POST /api/tools/live/echo/call', { arguments: { text: 'hi' } })
      expect(call.body).toMatchObject({ status: 'ok', content: [{ text: 'hi' }] })
    }
    const all = JSON.stringify([added.body, await toolkitsOf(ann()), (await operator()('GET /api/app/toolkits')).body])
    expect(all).not.toContain('s3cret')
  })

  it('shows a change and a removal to every user at once', async () => {
    await operator()('POST /api/app/toolkits', custom('Wiki', 'search'))
    await toolkitsOf(ann())
    const again = await operator()('POST /api/app/toolkits', custom('Wiki', 'search', 'edit'))
    expect([again.status, again.body.toolCount]).toEqual([200, 2])
    expect((await toolkitOf(ann(), 'wiki')).tools.map((tool: { name: string }) => tool.name)).toEqual([
      'search',
      'edit',
    ])
    await operator()('PATCH /api/app/toolkits/wiki', { name: 'The wiki' })
    expect((await toolkitOf(ann(), 'wiki')).name).toBe('The wiki')
    await operator()('PATCH /api/app/toolkits/wiki', { enabled: false })
    expect(await toolkitOf(ann(), 'wiki')).toMatchObject({ enabled: false, state: { status: 'disabled' } })
    expect((await ann()('POST /api/tools/wiki/search/call', {})).status).toBe(403)
    expect((await operator()('DELETE /api/app/toolkits/wiki')).status).toBe(204)
    expect(await toolkitsOf(ann())).toEqual([])
    expect((await operator()('DELETE /api/app/toolkits/wiki')).status).toBe(404)
    expect((await operator()('PATCH /api/app/toolkits/wiki', { enabled: true })).status).toBe(404)
  })

  it('cannot be changed or deleted by users, and each user turns it on or off separately', async () => {
    await operator()('POST /api/app/toolkits', custom('wiki', 'search'))
    const { uscoId } = await toolkitOf(ann(), 'wiki')
    for (const id of ['wiki', uscoId]) {
      expect(await ann()(`DELETE /api/mcp/${id}`)).toMatchObject({ status: 409, body: { code: 'read-only' } })
      expect(await ann()(`PATCH /api/mcp/${id}`, { name: 'Mine', enabled: false })).toMatchObject({
        status: 409,
        body: { code: 'read-only', errors: [{ path: 'name' }] },
      })
      expect((await ann()(`PATCH /api/mcp/${id}`, {})).body.errors[0].path).toBe('enabled')
      expect((await ann()(`PATCH /api/mcp/${id}`, { enabled: false })).body).toMatchObject({ enabled: false })
      expect((await toolkitOf(bob(), 'wiki')).enabled).toBe(true)
      const { body } = await operator()('GET /api/app/toolkits')
      expect(body.toolkits[0].enabled).toBe(true)
      expect(body.items).toEqual(body.toolkits)
      expect((await ann()('POST /api/tools/wiki/search/call', {})).status).toBe(403)
      expect((await ann()(`PATCH /api/mcp/${id}`, { enabled: true })).body).toMatchObject({ enabled: true })
    }
  })

  it('cannot be turned on by a user after the operator turned it off', async () => {
    await operator()('POST /api/app/toolkits', custom('wiki', 'search'))
    await operator()('PATCH /api/app/toolkits/wiki', { enabled: false })
    await ann()('PATCH /api/mcp/wiki', { enabled: true })
    expect((await toolkitOf(ann(), 'wiki')).enabled).toBe(false)
    await ann()('POST /api/threads', { id: 't' })
    const [item] = await explainedIn(ann(), 't', 'wiki.search')
    expect(item).toMatchObject({ included: false })
    expect(item.reasons).toContainEqual(expect.objectContaining({ kind: 'disabled', tier: 'app', speaks: 'against' }))
  })

  it("is visibly hidden by a user's own toolkit with the same ID, and explain reports it", async () => {
    await operator()('POST /api/app/toolkits', custom('wiki', 'search', 'edit'))
    const own = await ann()('POST /api/mcp', custom('wiki', 'search'))
    expect([own.status, own.body]).toMatchObject([201, { id: 'wiki', tier: 'user', readOnly: false, shadows: 'app' }])
    expect(await toolkitsOf(ann())).toMatchObject([{ id: 'wiki', tier: 'user', shadows: 'app', toolCount: 1 }])
    const [bobs] = await toolkitsOf(bob())
    expect(bobs).toMatchObject({ id: 'wiki', tier: 'app', toolCount: 2 })
    expect(bobs).not.toHaveProperty('shadows')

    await ann()('POST /api/threads', { id: 't' })
    const found = await explainedIn(ann(), 't', 'wiki.search')
    expect(found.map(({ tier, included }: Body) => [tier, included])).toEqual([
      ['user', true],
      ['app', false],
    ])
    expect(found[1].reasons).toContainEqual({
      kind: 'shadowed',
      speaks: 'against',
      tier: 'user',
      detail: 'A toolkit of the same id at the user tier hides it.',
    })
    const [hidden] = await explainedIn(ann(), 't', 'wiki.edit')
    expect(hidden).toMatchObject({ tier: 'app', included: false })
    expect((await ann()('GET /api/threads/t/loadout')).body.tools).toMatchObject([{ ref: 'wiki.search', tier: 'user' }])
    expect((await ann()('POST /api/tools/wiki/edit/call', {})).status).toBe(404)

    expect((await ann()('DELETE /api/mcp/wiki')).status).toBe(204)
    expect(await toolkitsOf(ann())).toMatchObject([{ id: 'wiki', tier: 'app', toolCount: 2 }])
  })

  it('keeps its on/off setting separate from the toolkit that hides it', async () => {
    await operator()('POST /api/app/toolkits', custom('wiki', 'search'))
    await ann()('PATCH /api/mcp/wiki', { enabled: false })
    await ann()('POST /api/mcp', custom('wiki', 'search'))
    expect(await toolkitOf(ann(), 'wiki')).toMatchObject({ tier: 'user', enabled: true, tools: [{ enabled: true }] })
    await ann()('POST /api/threads', { id: 't' })
    expect((await ann()('GET /api/threads/t/loadout')).body.tools).toMatchObject([{ ref: 'wiki.search', tier: 'user' }])
  })

  it('is rejected with the path of each invalid field and is not stored', async () => {
    const bad: Array<[body: unknown, path: string]> = [
      [{ name: 'x', transport: 'pigeon' }, 'transport'],
      [{ name: 'x', url: 'ftp://a.example' }, 'url'],
      [{ ...custom('x', 'a'), id: 'No Id' }, 'id'],
      [{ url: 'https://a.example' }, 'name'],
    ]
    for (const [body, path] of bad) {
      const answer = await operator()('POST /api/app/toolkits', body)
      expect([path, answer.status]).toEqual([path, 422])
      expect(answer.body.errors.map((error: { path: string }) => error.path)).toContain(path)
    }
    expect((await operator()('GET /api/app/toolkits')).body).toEqual({ items: [], toolkits: [], problems: [] })
  })
})

describe('an app toolkit defined outside the database', () => {
  let folder: string
  let file: string
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'loadout-app-toolkits-'))
    file = join(folder, 'mcp-servers.json')
    await app.host.close()
  })
  afterEach(() => rm(folder, { recursive: true, force: true }))

  it("is read-only for operators too if a file's entry defines it: 409 on PATCH, DELETE and POST", async () => {
    await writeFile(file, JSON.stringify({ mcpServers: { docs: { url: server.url }, odd: { type: 'pigeon' } } }))
    app = multiUserApp({ sources: [fileSource({ paths: [file], pollMs: 20 })] })
    const { toolkits, problems } = (await operator()('GET /api/app/toolkits')).body
    expect(toolkits).toMatchObject([{ id: 'docs', readOnly: true, source: file, tier: 'app' }])
    expect(problems).toMatchObject([{ source: file, entry: 'odd', line: 1 }])
    const refusals: Array<[`${string} ${string}`, unknown?]> = [
      ['PATCH /api/app/toolkits/docs', { name: 'Mine' }],
      ['PATCH /api/app/toolkits/docs', { enabled: false }],
      [`PATCH /api/app/toolkits/${toolkits[0].uscoId}`, { enabled: false }],
      ['DELETE /api/app/toolkits/docs'],
      ['POST /api/app/toolkits', { name: 'docs', url: 'https://else.example/mcp' }],
    ]
    for (const [route, body] of refusals) {
      const answer = await operator()(route, body)
      expect({ route, ...answer }).toMatchObject({ route, status: 409, body: { code: 'read-only' } })
      expect(answer.body.detail).toContain('mcp-servers.json')
    }
    expect((await operator()('GET /api/app/toolkits')).body.toolkits).toMatchObject([{ id: 'docs', enabled: true }])
    // A user's switch for it is theirs all the same.
    expect((await ann()('PATCH /api/mcp/docs', { enabled: false })).body.enabled).toBe(false)
    await writeFile(file, JSON.stringify({ mcpServers: { wiki: { url: server.url } } }))
    await expect.poll(async () => (await toolkitsOf(ann())).map((kit) => kit.id)).toEqual(['wiki'])
  })

  it("contains the app's own functions like any other toolkit and is read-only", async () => {
    const hello = defineTool({ name: 'hello', description: 'Greets.', execute: (_, { userId }) => `hello ${userId}` })
    app = multiUserApp({ tools: [hello] })
    expect(await toolkitsOf(ann())).toMatchObject([{ id: 'app', tier: 'app', readOnly: true, toolCount: 1 }])
    for (const [ask, user] of [
      [ann(), 'ann'],
      [bob(), 'bob'],
    ] as const)
      expect((await ask('POST /api/tools/app/hello/call', {})).body.content).toEqual([
        { type: 'text', text: `hello ${user}` },
      ])
    expect((await operator()('DELETE /api/app/toolkits/app')).body.code).toBe('read-only')
    // A record of a user that claims the function by its id and name does not get it.
    await ann()('POST /api/mcp', { id: 'app', name: 'app', tools: [{ ...manifest('hello'), execute: 'ref:host' }] })
    expect(await ann()('POST /api/tools/app/hello/call', {})).toMatchObject({
      status: 502,
      body: { code: 'function-missing' },
    })
    expect((await bob()('POST /api/tools/app/hello/call', {})).status).toBe(200)
  })
})

describe('/api/app/config', () => {
  it('has defaults, changes by field, and applies to toolkits registered afterwards', async () => {
    const before = await operator()('GET /api/app/config')
    expect(before).toMatchObject({
      status: 200,
      body: {
        discovery: { enabled: false, autoDiscover: false },
        defaults: { deferLoading: true, deferAboveTokens: 10_000, enableProgrammaticCalling: true },
      },
    })
    await ann()('POST /api/mcp', custom('early', 'a'))
    const patch = { defaults: { enableProgrammaticCalling: false } }
    expect((await operator()('PATCH /api/app/config', patch)).body.defaults).toEqual({
      deferLoading: true,
      deferAboveTokens: 10_000,
      enableProgrammaticCalling: false,
    })
    await operator()('PATCH /api/app/config', { defaults: { deferLoading: false } })
    expect((await operator()('GET /api/app/config')).body.defaults).toEqual({
      deferLoading: false,
      deferAboveTokens: 10_000,
      enableProgrammaticCalling: false,
    })
    await ann()('POST /api/mcp', custom('late', 'a'))
    await ann()('POST /api/mcp', { ...custom('said', 'a'), deferLoading: true, allowedCallers: ['code'] })
    const options = Object.fromEntries(
      (await toolkitsOf(ann())).map((kit) => [kit.id, [kit.options.deferLoading, kit.options.allowedCallers]]),
    )
    expect(options).toEqual({
      early: [true, ['direct', 'code']],
      late: [false, ['direct']],
      said: [true, ['code']],
    })
  })

  it('rejects inconsistent settings with the field and does not store them', async () => {
    const bad: Array<[body: unknown, path: string]> = [
      [{ discovery: { enabled: true } }, 'discovery.endpoint'],
      [{ discovery: { endpoint: 'ftp://a.example' } }, 'discovery.endpoint'],
      [{ defaults: { deferLoading: 'yes' } }, 'defaults.deferLoading'],
      [{ colour: 'red' }, 'colour'],
    ]
    const before = (await operator()('GET /api/app/config')).body
    for (const [body, path] of bad) {
      const answer = await operator()('PATCH /api/app/config', body)
      expect([path, answer.status]).toEqual([path, 422])
      expect(answer.body.errors.map((error: { path: string }) => error.path)).toContain(path)
    }
    expect((await operator()('GET /api/app/config')).body).toEqual(before)
    const discovery = { enabled: true, endpoint: 'https://registry.example/v0.1' }
    expect((await operator()('PATCH /api/app/config', { discovery })).body.discovery).toMatchObject(discovery)
  })
})
