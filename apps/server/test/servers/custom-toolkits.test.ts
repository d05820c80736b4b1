/** Custom toolkits in source 003's format, over HTTP, beside a real stdio server in one thread. */
import { createRequire } from 'node:module'
import { rule } from '@loadout/core'
import { quickjs } from '@loadout/core/code-mode/quickjs'
import { nodeDrivers } from '@loadout/core/node'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type MultiUserApp, multiUserApp } from '../support/multi-user-app.ts'

let app: MultiUserApp
const ann = () => app.as('ann')
const everything = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-everything/dist/index.js')
const SECRET = 'planted-value-of-ann-91'

const text = (name: string, execute: string, more: object = {}) => ({
  name,
  title: `Title of ${name}`,
  description: `Does ${name} for words`,
  execute,
  inputSchema: { type: 'object', properties: { param1: { type: 'string' } }, required: ['param1'] },
  ...more,
})
const words = {
  secrets: { SALT: SECRET },
  tools: [
    text('my_custom_tool', 'return input.param1.toUpperCase()'),
    text('leak', 'console.log(secrets.SALT)\nthrow new Error(`with ${secrets.SALT}`)'),
  ],
}
const glue = {
  tools: [
    text(
      'sum_of',
      'return everything.get_sum({ a: input.param1.length, b: secretsCount() })\n' +
        'function secretsCount(): number { return Object.keys(secrets).length }',
      { tools: ['everything.get-sum'] },
    ),
    text('loud_sum', 'return words.my_custom_tool({ param1: String(await glue.sum_of(input)) })', {
      tools: ['words.*', 'glue.sum_of'],
    }),
    text('app_function', 'ref:reverse'),
    text('sneaks', 'return await call("everything.echo", { message: "x" })', { tools: ['everything.get-sum'] }),
  ],
}

beforeAll(async () => {
  app = multiUserApp({
    drivers: nodeDrivers({ stdio: 'on' }),
    executor: quickjs(),
    policy: [rule('asks.*', 'ask'), rule('*', 'allow')],
    functions: { reverse: ({ param1 }: { param1: string }) => [...param1].reverse().join('') },
  })
  await app.host.ready()
  await ann()('POST /api/mcp', { name: 'everything', command: process.execPath, args: [everything, 'stdio'] })
  for (const [name, config_json] of Object.entries({ words, glue })) {
    const saved = await ann()('POST /api/mcp/config', { name, config_type: 'custom', config_json })
    expect(saved.status, JSON.stringify(saved.body)).toBe(200)
    const { body } = await ann()('POST /api/mcp/config/introspect', { uscoId: saved.body.usco_id })
    expect(body.tools).toHaveLength(config_json.tools.length)
  }
  await ann()('POST /api/threads', { id: 't' })
})
afterAll(() => app.host.close())

const call = async (ref: string, args: object) => {
  const [toolkit, tool] = ref.split('.')
  const { body } = await ann()(`POST /api/tools/${toolkit}/${tool}/call`, { arguments: args, threadId: 't' })
  return body.content?.[0]?.text ?? body
}

describe('two custom toolkits beside a stdio toolkit', () => {
  it('are all called directly', async () => {
    expect(await call('words.my_custom_tool', { param1: 'abc' })).toBe('ABC')
    expect(await call('everything.get-sum', { a: 1, b: 2 })).toContain('3')
    expect(await call('glue.sum_of', { param1: 'four' })).toContain('4')
    expect(await call('glue.loud_sum', { param1: 'seven77' })).toContain('THE SUM OF 7 AND 0 IS 7')
    expect(await call('glue.app_function', { param1: 'abc' })).toBe('cba')
    expect(await call('glue.sneaks', { param1: '' })).toContain('not among the `tools`')
    expect(await call('words.my_custom_tool', {})).toMatchObject({ code: 'invalid-input', status: 422 })
  })

  it('are all called from a program', async () => {
    const program = `
      const [upper, sum, both, app] = await Promise.all([
        words.my_custom_tool({ param1: 'abc' }), everything.get_sum({ a: 1, b: 2 }),
        glue.loud_sum({ param1: 'x' }), glue.app_function({ param1: 'xy' }),
      ])
      return { upper, sum, both, app }`
    const { status, body } = await ann()('POST /api/threads/t/run', { program })
    expect([status, body.error]).toEqual([200, undefined])
    expect(body.output).toEqual({
      upper: 'ABC',
      app: 'yx',
      sum: expect.stringContaining('3'),
      both: 'THE SUM OF 1 AND 0 IS 1.',
    })
    expect(body.steps).toHaveLength(4)
  })

  it('are listed, searched and audited like any other toolkit and never show a secret', async () => {
    const { body: found } = await ann()('GET /api/tools?q=my_custom_tool')
    expect(JSON.stringify(found)).toContain('words.my_custom_tool')
    expect(await call('words.leak', { param1: SECRET })).toContain('Error: with •••')
    const shown = []
    for (const path of [
      '/api/mcp',
      '/api/mcp/config',
      '/api/mcp/config/tools',
      '/api/audit',
      '/api/mcp/export',
      '/api/runs',
    ])
      shown.push((await ann()(`GET ${path}`)).body)
    const all = JSON.stringify(shown)
    expect(all).toContain('${secret:secrets.SALT}')
    expect(all).toContain('mcp:glue')
    expect(all).not.toContain(SECRET)
    const inner = app.host.audit
      .list({ userId: 'ann' })
      .then(({ items }) => items.filter(({ source }) => source === 'mcp:words'))
    expect((await inner).map(({ detail }) => detail.caller)).toContain('code')
  })

  it('report all their validation errors at once with their paths', async () => {
    const tools = [
      text('a', 'return 1'),
      text('a', 'const x = ;', { hosts: ['api.example.com'], tools: ['everything.nothing', 'nobody', 'words'] }),
      { ...text('c', 'ref:missing'), inputSchema: { type: 'object', properties: { x: { type: 'nothing' } } } },
      { ...text('bad name', 'return 1'), title: 7 },
      { name: 'd', execute: '' },
    ]
    const { status, body } = await ann()('POST /api/mcp/config', { name: 'wrong', config_json: { tools } })
    expect(status).toBe(422)
    const answers = Object.fromEntries(
      body.errors.map((one: { path: string; message: string }) => [one.path, one.message]),
    )
    expect(answers).toMatchObject({
      'tools.1.name': '"a" is there twice',
      'tools.1.execute': expect.stringContaining('(line 1, column 11)'),
      'tools.1.hosts.0': expect.stringContaining('the operator allows none'),
      'tools.1.tools.0': expect.stringContaining('names no tool; there are everything.'),
      'tools.1.tools.1': expect.stringContaining('names no toolkit of yours'),
      'tools.2.execute': '"missing" is no function of this app; there are reverse',
      'tools.2.inputSchema.properties.x.type': expect.any(String),
      'tools.3.name': expect.any(String),
      'tools.3.title': expect.any(String),
      'tools.4.inputSchema': expect.any(String),
      'tools.4.execute': expect.any(String),
    })
    expect(Object.keys(answers)).toHaveLength(11)
    expect((await ann()('GET /api/mcp')).body.toolkits.map((one: { id: string }) => one.id)).not.toContain('wrong')
  })

  it('report validation errors on every route that saves a toolkit', async () => {
    const bad = { tools: [text('a', 'return (')] }
    for (const [route, body] of [
      ['POST /api/mcp', { name: 'wrong', ...bad }],
      ['POST /api/mcp', { name: 'wrong', server: { type: 'custom', ...bad } }],
      ['POST /api/mcp/config', { name: 'wrong', config_json: bad }],
    ] as const) {
      const { status, body: problem } = await ann()(route, body)
      const at = 'server' in body ? 'server.tools.0.execute' : 'tools.0.execute'
      expect([status, problem.errors?.map((one: { path: string }) => one.path)]).toEqual([422, [at]])
    }
    const { body } = await ann()('POST /api/mcp/import', { config: { mcpServers: { wrong: bad } } })
    expect(body.entries).toMatchObject([{ status: 'rejected', errors: [{ path: 'tools.0.execute' }] }])
  })

  it('are validated in the same way on a change', async () => {
    const { status, body } = await ann()('PATCH /api/mcp/words', { tools: [text('a', 'return )')] })
    expect([status, body.errors[0].path]).toEqual([422, 'tools.0.execute'])
    expect((await ann()('PATCH /api/mcp/words', { enabled: true })).status).toBe(200)
  })
})

describe('POST /api/mcp/config/try', () => {
  const attempt = (body: object) => ann()('POST /api/mcp/config/try', body)
  const counts = async () => {
    const rows = []
    for (const table of [
      'userServerConfigs',
      'userServerTools',
      'approvals',
      'calls',
      'credentials',
      'pins',
      'toolUses',
    ] as const)
      rows.push((await app.host.storage.transaction({ userId: 'ann' }, (tx) => tx.list(table, { limit: 1000 }))).length)
    return rows
  }

  it('runs one tool, returns its log and duration, and stores nothing', async () => {
    const before = await counts()
    const config_json = {
      secrets: { KEY: SECRET },
      tools: [text('one', 'console.log("saw", secrets.KEY)\nreturn input')],
    }
    const { status, body } = await attempt({ config_json, tool: 'one', input: { param1: 'x' } })
    expect(status, JSON.stringify(body)).toBe(200)
    expect(body).toMatchObject({
      status: 'ok',
      structuredContent: { param1: 'x' },
      logs: [{ level: 'log', text: 'saw •••' }],
      warnings: [],
      durationMs: expect.any(Number),
    })
    expect(await counts()).toEqual(before)
    const { body: log } = await ann()('GET /api/audit')
    expect(JSON.stringify(log)).toContain('mcp:tried')
  })

  it('calls the declared tools and reports errors and limits unchanged', async () => {
    const tools = [
      text('inner', 'return await everything.get_sum({ a: 2, b: 3 })', { tools: ['everything.*'] }),
      text('throws', 'console.log(1)\nthrow new Error("no")'),
    ]
    const config_json = { tools }
    const input = { param1: '' }
    expect((await attempt({ config_json, tool: 'inner', input })).body.content[0].text).toContain('5')
    const thrown = (await attempt({ config_json, tool: 'throws', input })).body
    expect(thrown).toMatchObject({ status: 'tool-error', logs: [{ text: '1' }] })
    expect((await attempt({ config_json, tool: 'gone', input })).body).toMatchObject({
      status: 'failed',
      error: { code: 'tool-not-found' },
    })
    expect((await attempt({ config_json, tool: 'inner' })).body.error.code).toBe('invalid-input')
    expect((await attempt({ config_json: { tools: [text('x', 'return (')] }, tool: 'x' })).body.errors[0].path).toBe(
      'tools.0.execute',
    )
    expect((await attempt({ config_json: { command: 'true' }, tool: 'x' })).status).toBe(422)
  })

  it('reports when approval is needed, and the caller can allow the test run', async () => {
    const before = await counts()
    const config_json = {
      id: 'asks',
      tools: [text('one', 'return 1'), text('two', 'return await asks.one(input)', { tools: ['asks.one'] })],
    }
    const request = { config_json, tool: 'one', input: { param1: '' } }
    expect((await attempt(request)).body).toMatchObject({
      status: 'approval-needed',
      error: { code: 'approval-pending' },
    })
    expect((await attempt({ ...request, allow: true })).body).toMatchObject({ status: 'ok' })
    const inner = (await attempt({ ...request, tool: 'two', allow: true })).body
    expect(inner).toMatchObject({ status: 'tool-error' })
    expect(inner.content[0].text).toContain('would be asked first')
    expect(await counts()).toEqual(before)
  })

  it('reads the secrets of the edited config, and of no other config or user', async () => {
    const { body } = await ann()('GET /api/mcp')
    const { uscoId, server } = body.toolkits.find((one: { id: string }) => one.id === 'words')
    const config_json = { secrets: server.secrets, tools: [text('has', 'return secrets.SALT.length')] }
    const request = { config_json, tool: 'has', input: { param1: '' } }
    expect((await attempt({ ...request, uscoId })).body.content[0].text).toBe(String(SECRET.length))
    expect((await attempt(request)).body.code).toBe('secret-missing')
    expect((await app.as('bob')('POST /api/mcp/config/try', { ...request, uscoId })).status).toBe(404)
  })
})
