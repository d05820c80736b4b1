/** Source 003's eleven test steps as one story: over the API of a real server, with a look at its tables in PostgreSQL. */
import { randomBytes } from 'node:crypto'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { rule } from '@loadout/core'
import pg from 'pg'
import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import { type CountingServer, startCountingServer } from '../../../../test/counting-server.ts'
import { createDatabase } from '../../../../test/database.ts'
import { EVERYTHING, FILESYSTEM } from '../../../../test/real-servers.ts'
import { readConfig } from '../../src/config.ts'
import { createLog } from '../../src/ops/log.ts'
import { type RunningServer, startServer } from '../../src/serve.ts'
import type { Answer, Body } from '../support/multi-user-app.ts'

const BOOTSTRAP = `bootstrap-${randomBytes(24).toString('hex')}`
const node = process.execPath
let folder: string
let database: Awaited<ReturnType<typeof createDatabase>>
let tables: pg.Client
let server: RunningServer
let market: CountingServer
let ann: (route: `${string} ${string}`, body?: unknown) => Promise<Answer>

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'loadout-003-'))
  await mkdir(join(folder, 'files'))
  await writeFile(join(folder, 'files', 'hello.txt'), 'Hello from a file.')
  database = await createDatabase(inject('postgresUrl'))
  market = await startCountingServer('market', [{ name: 'search' }, { name: 'extract' }])
  const config = readConfig({
    LOADOUT_MODE: 'multi-user',
    HOST: '127.0.0.1',
    PORT: '0',
    DATABASE_URL: database.url,
    LOADOUT_STDIO: 'on',
    LOADOUT_MASTER_KEY: randomBytes(32).toString('base64'),
    LOADOUT_BOOTSTRAP_KEY: BOOTSTRAP,
    LOADOUT_DATA_DIR: join(folder, 'data'),
    LOADOUT_PRIVATE_NETWORK: '1',
    PATH: '/usr/bin:/bin',
  })
  server = await startServer(config, { log: createLog('silent') })
  tables = new pg.Client({ connectionString: database.url })
  await tables.connect()
  const operator = asking(BOOTSTRAP)
  await operator('PUT /api/policy', { rules: [rule('*', 'allow')] })
  ann = asking((await operator('POST /api/keys', { name: 'k', userId: 'ann' })).body.key)
})
afterAll(async () => {
  await tables.end()
  await server.close()
  await market.close()
  await database.drop()
  await rm(folder, { recursive: true, force: true })
})

const asking = (key: string) => async (route: `${string} ${string}`, body?: unknown) => {
  const [method = 'GET', path] = route.split(' ')
  const headers = {
    authorization: `Bearer ${key}`,
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
  }
  const sent = body === undefined ? {} : { body: JSON.stringify(body) }
  const answer = await fetch(`${server.url}${path}`, { method, headers, ...sent })
  const text = await answer.text()
  return { status: answer.status, body: text === '' ? undefined : (JSON.parse(text) as Body) }
}
const rows = async (sql: string, ...values: unknown[]): Promise<Body[]> => (await tables.query(sql, values)).rows
const toolRows = (uscoId: string) =>
  rows('select * from mcp.user_server_tools where usco_id = $1 and is_active order by name', uscoId)
const namesOf = (found: Body[]) => found.map(({ name }) => name as string)
const introspect = async (uscoId: string) => (await ann('POST /api/mcp/config/introspect', { uscoId })).body.tools

const filesystem = { command: node, args: [FILESYSTEM] as string[] }
const CUSTOM = {
  tools: ['shout', 'count'].map((name) => ({
    name,
    title: `Title of ${name}`,
    description: `Does ${name}`,
    inputSchema: { type: 'object', properties: { param1: { type: 'string' } }, required: ['param1'] },
    execute: name === 'shout' ? 'return input.param1.toUpperCase()' : 'return { length: input.param1.length }',
  })),
}
const tool = (id: string, ref: string, args: object) => ({ id, type: 'tool', ref, arguments: args })
const workflow = () => ({
  name: 'both kinds',
  nodes: [
    tool('read', 'filesystem.read_file', { path: join(folder, 'files', 'hello.txt') }),
    tool('shout', 'my-custom-toolkit.shout', { param1: '{{ nodes.read.output.content }}' }),
    tool('count', 'my-custom-toolkit.count', { param1: '{{ nodes.shout.output }}' }),
  ],
  output: ['{{ nodes.shout.output }}', '{{ nodes.count.output.length }}'],
})
const MISSING = (ref: string) =>
  `Tool '${ref}' not found in server '${ref.split('.')[0]}'. Re-introspect server or remove tool.`

/** 1–3: a stdio server is configured, introspected, and its tools are rows. */
async function configureFilesystem(): Promise<string> {
  const { status, body } = await ann('POST /api/mcp/config', {
    name: 'filesystem',
    config_type: 'mcp_stdio',
    config_json: { ...filesystem, args: [...filesystem.args, join(folder, 'files')] },
  })
  expect([status, body]).toEqual([200, { usco_id: expect.stringMatching(/^usco_/) }])
  const uscoId = body.usco_id as string
  const [row] = await rows('select * from mcp.user_server_configs where usco_id = $1', uscoId)
  expect(row).toMatchObject({ user_id: 'ann', name: 'filesystem', config_type: 'mcp_stdio', server_id: null })

  const tools = await introspect(uscoId)
  expect(namesOf(tools)).toEqual(expect.arrayContaining(['read_file', 'write_file', 'list_directory']))
  const saved = await toolRows(uscoId)
  expect(namesOf(saved).sort()).toEqual(namesOf(tools).sort())
  for (const one of saved)
    expect(one).toMatchObject({
      utool_id: expect.stringMatching(/^utool_/),
      input_schema_json: expect.objectContaining({ type: 'object' }),
      discovered_at: expect.any(Date),
    })
  return uscoId
}

/** 6–7: a custom toolkit of two tools. */
async function configureCustom(): Promise<string> {
  const { body } = await ann('POST /api/mcp/config', {
    name: 'my-custom-toolkit',
    config_type: 'custom',
    config_json: CUSTOM,
  })
  await introspect(body.usco_id)
  expect(await toolRows(body.usco_id)).toMatchObject([
    { name: 'count', title: 'Title of count', description: 'Does count' },
    { name: 'shout', input_schema_json: CUSTOM.tools[0]?.inputSchema },
  ])
  const [row] = await rows('select * from mcp.user_server_configs where usco_id = $1', body.usco_id)
  expect(row).toMatchObject({ config_type: 'custom', server_id: null })
  return body.usco_id
}

/** 10: nobody asks for the look; the save does. */
async function changeFilesystem(uscoId: string, workflowId: string): Promise<void> {
  const [before] = await toolRows(uscoId)
  const config_json = { command: node, args: [EVERYTHING] }
  const changed = await ann('POST /api/mcp/config', { uscoId, name: 'filesystem', config_json })
  expect(changed.body.usco_id).toBe(uscoId)
  await expect.poll(async () => namesOf(await toolRows(uscoId))).toContain('echo')
  const now = await toolRows(uscoId)
  expect(namesOf(now)).not.toContain('read_file')
  expect(now[0]?.discovered_at.getTime()).toBeGreaterThan(before?.discovered_at.getTime())
  const { body } = await ann(`GET /api/mcp/config/tools?uscoId=${uscoId}`)
  const active = body.tools.filesystem.filter(({ is_active }: Body) => is_active)
  expect([body.cached, namesOf(active).sort()]).toEqual([true, namesOf(now).sort()])

  // Fail fast, in the words of the source: at the run, and where somebody saves it again.
  const refused = await ann('POST /api/workflow/invoke', { workflowId })
  expect([refused.status, refused.body.code]).toEqual([422, 'preflight-failed'])
  expect(refused.body.errors).toEqual([{ path: 'nodes.0.ref', message: MISSING('filesystem.read_file') }])
  const saved = await ann(`PUT /api/workflows/${workflowId}`, { ...workflow(), description: 'again' })
  expect(saved.body.errors[0].message).toContain(MISSING('filesystem.read_file'))
}

/** 11: tools of the marketplace are known by `mcp.tools`, before anybody could look at the server. */
async function useMarketplace(): Promise<void> {
  const schema = { type: 'object', properties: { query: { type: 'string' } }, required: ['query'] }
  await rows(`insert into mcp.servers (server_id, name, status) values ('serv_1', 'io.test/market', 'active')`)
  await rows(
    `insert into mcp.server_versions (sver_id, server_id, version, is_latest, server_json) values ('sver_1', 'serv_1', '1.0.0', true, '{}')`,
  )
  const insert = 'insert into mcp.tools (tool_id, sver_id, name, input_schema_json) values ($1, $2, $3, $4)'
  for (const name of ['search', 'extract']) await rows(insert, `tool_${name}`, 'sver_1', name, JSON.stringify(schema))
  const listed = await rows('select * from mcp.tools order by name')

  const { promise: gate, resolve: open } = Promise.withResolvers<void>()
  market.gate = gate
  const config_json = { url: market.url }
  const { body } = await ann('POST /api/mcp/config', { name: 'market', server_id: 'serv_1', config_json })
  const [row] = await rows('select * from mcp.user_server_configs where usco_id = $1', body.usco_id)
  expect(row).toMatchObject({ config_type: 'mcp_marketplace', server_id: 'serv_1' })
  await keepsItsTie(config_json, body.usco_id)
  const nodes = [tool('find', 'market.search', { query: 'x' }), tool('gone', 'market.crawl', {})]
  const validated = await ann('POST /api/workflows/validate', { name: 'market', nodes })
  expect(validated.body).toMatchObject({ valid: false, errors: [{ path: 'nodes.1.ref' }] })
  expect(validated.body.errors[0].message).toContain(MISSING('market.crawl'))
  const { body: stored } = await ann('POST /api/workflows', { name: 'market', nodes: nodes.slice(0, 1) })
  expect((await ann(`POST /api/workflows/${stored.id}/check`)).body).toMatchObject({ ok: true, unseen: [] })
  expect(await toolRows(body.usco_id)).toEqual([])

  open()
  const done = await ann('POST /api/workflow/invoke', { workflowId: stored.id })
  expect(done.body).toMatchObject({ status: 'completed', output: { server: 'market', name: 'search' } })
  expect(market.calls).toEqual([{ name: 'search', arguments: { query: 'x' } }])
  expect(await rows('select * from mcp.tools order by name')).toEqual(listed)
}

/** A save that says nothing of the marketplace changes nothing of it; one that says otherwise does. */
async function keepsItsTie(config_json: object, uscoId: string): Promise<void> {
  const record = { name: 'market', config_json }
  const tie = async (body: object) => {
    const { status } = await ann('POST /api/mcp/config', { ...record, ...body })
    const [row] = await rows('select server_id, config_type from mcp.user_server_configs where usco_id = $1', uscoId)
    return [status, row?.server_id, row?.config_type]
  }
  expect(await tie({})).toEqual([200, 'serv_1', 'mcp_marketplace'])
  expect(await tie({ uscoId, config_type: 'mcp_marketplace' })).toEqual([200, 'serv_1', 'mcp_marketplace'])
  expect(await tie({ server_id: 'serv_2' })).toEqual([422, 'serv_1', 'mcp_marketplace'])
  expect(await tie({ server_id: null })).toEqual([200, null, 'mcp_http'])
  expect(await tie({ server_id: 'serv_1' })).toEqual([200, 'serv_1', 'mcp_marketplace'])
  expect(await tie({ config_type: 'mcp_http' })).toEqual([200, null, 'mcp_http'])
  expect(await tie({ server_id: 'serv_1' })).toEqual([200, 'serv_1', 'mcp_marketplace'])
}

it("source 003's eleven test steps pass", async () => {
  const uscoId = await configureFilesystem()

  // 4–5: what the tool selector of the workflow builder shows.
  const { body: shown } = await ann('GET /api/mcp/config/tools')
  expect([Object.keys(shown.tools), shown.cached]).toEqual([['filesystem'], true])
  expect(shown.tools.filesystem).toContainEqual(
    expect.objectContaining({ name: 'read_file', description: expect.any(String), is_active: true }),
  )

  const customId = await configureCustom()
  const { body: both } = await ann('GET /api/mcp/config/tools')
  expect(Object.keys(both.tools).sort()).toEqual(['filesystem', 'my-custom-toolkit'])
  expect(namesOf(both.tools['my-custom-toolkit']).sort()).toEqual(['count', 'shout'])

  // 8–9: tools of both kinds in one workflow.
  const { status, body: stored } = await ann('POST /api/workflows', workflow())
  expect(status, JSON.stringify(stored)).toBe(201)
  const { body: run } = await ann('POST /api/workflow/invoke', { workflowId: stored.id })
  expect([run.status, run.output, run.usage.calls]).toEqual(['completed', ['HELLO FROM A FILE.', 18], 3])

  await changeFilesystem(uscoId, stored.id)
  await useMarketplace()
  // And what was not touched is as it was.
  expect(namesOf(await toolRows(customId))).toEqual(['count', 'shout'])
})
