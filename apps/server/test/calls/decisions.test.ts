/** What the pages of servers ask: what would be decided about a tool, an answer ahead, a record checked, the words of a process. */
import { rule } from '@loadout/core'
import { quickjs } from '@loadout/core/code-mode/quickjs'
import { nodeDrivers } from '@loadout/core/node'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type MultiUserApp, multiUserApp } from '../support/multi-user-app.ts'

let app: MultiUserApp
const ann = () => app.as('ann')
const inputSchema = { type: 'object', properties: {} }
const kit = {
  name: 'Kit',
  tools: [
    { name: 'read', inputSchema, annotations: { readOnlyHint: true }, execute: 'return 1' },
    { name: 'write', inputSchema, execute: 'return 2' },
    { name: 'always_asked', inputSchema, execute: 'return 3' },
    { name: 'never', inputSchema, execute: 'return 4' },
  ],
}

beforeAll(async () => {
  app = multiUserApp({
    drivers: nodeDrivers({ stdio: 'on' }),
    executor: quickjs(),
    policy: [rule('kit.always_asked', { allowRemember: false }, 'ask'), rule('kit.never', 'deny')],
  })
  await app.host.ready()
  expect((await ann()('POST /api/mcp', kit)).status).toBe(201)
})
afterAll(() => app.host.close())

const decisions = async () => {
  const { body } = await ann()('GET /api/policy/decisions?toolkit=kit')
  const items: Array<{ ref: string; decision: string; inherited: { decision: string } }> = body.items
  return Object.fromEntries(items.map(({ ref, decision, inherited }) => [ref, [decision, inherited.decision]]))
}

it('the policy decisions show the result with and without own rules, and a grant can be saved in advance', async () => {
  expect(await decisions()).toEqual({
    'kit.read': ['allow', 'allow'],
    'kit.write': ['ask', 'ask'],
    'kit.always_asked': ['ask', 'ask'],
    'kit.never': ['deny', 'deny'],
  })
  await ann()('PUT /api/policy/own', { rules: [{ pattern: 'kit.read', decision: 'deny' }] })
  const grant = await ann()('POST /api/grants', { ref: 'kit.write', decision: 'allow' })
  expect(grant).toMatchObject({ status: 201, body: { ref: 'kit.write', target: 'tool', decision: 'allow' } })
  expect(await decisions()).toMatchObject({ 'kit.read': ['deny', 'allow'], 'kit.write': ['allow', 'ask'] })
  expect((await ann()('POST /api/tools/kit/write/call', { arguments: {} })).body).toMatchObject({ status: 'ok' })
  // What it was given for is another now.
  const [read, write, ...rest] = kit.tools
  await ann()('POST /api/mcp', { ...kit, tools: [read, { ...write, description: 'Writes more.' }, ...rest] })
  await ann()('POST /api/mcp/kit/accept', { all: true })
  expect(await decisions()).toMatchObject({ 'kit.write': ['ask', 'ask'] })
})

it('a grant in advance is rejected if a rule forbids it or the tool belongs to another user', async () => {
  for (const ref of ['kit.always_asked', 'kit.never', 'no ref'])
    expect(await ann()('POST /api/grants', { ref, decision: 'allow' })).toMatchObject({
      status: 422,
      body: { errors: [{ path: 'ref' }] },
    })
  expect((await ann()('POST /api/grants', { ref: 'kit.missing', decision: 'allow' })).status).toBe(404)
  expect((await app.as('bob')('POST /api/grants', { ref: 'kit.write', decision: 'allow' })).status).toBe(404)
  expect((await app.as('bob')('GET /api/policy/decisions?toolkit=kit')).status).toBe(404)
})

it('validating a record returns the path of every error and stores nothing', async () => {
  const check = (config_json: object, more: object = {}) =>
    ann()('POST /api/mcp/config/check', { name: 'New', config_json, ...more })
  expect((await check({ tools: kit.tools })).body).toEqual({ valid: true, errors: [], warnings: [] })
  const broken = { tools: [{ name: 'a b', inputSchema: { type: 'objekt' }, execute: 'return (' }] }
  const { body } = await check(broken)
  expect(body.valid).toBe(false)
  expect(body.errors.map(({ path }: { path: string }) => path)).toEqual(
    expect.arrayContaining(['tools.0.name', 'tools.0.inputSchema', 'tools.0.execute']),
  )
  expect((await check({ tools: kit.tools, colour: 'red' })).body.warnings).toEqual([
    expect.stringContaining('"colour"'),
  ])
  expect((await check({ tools: kit.tools }, { uscoId: 'usco_nobody' })).status).toBe(404)
  expect((await ann()('GET /api/mcp')).body.toolkits).toHaveLength(1)
})

it('a failed process shows its output line by line without its secrets', async () => {
  const script = `process.stderr.write('\\u001b[31mfirst\\u001b[0m\\nkey ' + process.env.KEY + '\\n', () => process.exit(3))`
  const { body } = await ann()('POST /api/mcp', {
    name: 'Broken',
    command: process.execPath,
    args: ['-e', script],
    env: { KEY: 'planted-8d1e77' },
  })
  expect(body.state).toMatchObject({ status: 'error', reason: expect.stringContaining('code 3') })
  expect(body.state.output).toBe('first\nkey •••')
})
