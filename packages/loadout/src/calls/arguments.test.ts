/** Arguments and results that are looser than the schema. */
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { nodeDrivers } from '../connections/node-drivers.ts'
import { createServices, type HostServices } from '../host/create-services.ts'
import { fillDefaults } from '../json-schema/fill-defaults.ts'
import type { CallOutcome } from './call.ts'

const FAST = fileURLToPath(new URL('../../test/fixtures/fastmcp-servers.ts', import.meta.url))

let host: HostServices
beforeAll(async () => {
  host = createServices({ drivers: nodeDrivers({ baseEnv: { PATH: '/usr/bin:/bin' } }) })
  const record = { name: 'kit', command: process.execPath, args: [FAST] }
  const { stored } = await host.toolkits.register(record, { tier: 'user', userId: 'ann' })
  await host.catalog.introspect(stored, 'ann')
})
afterAll(() => host.close())

const start = (tool: string, args: object) =>
  host.calls.start({
    userId: 'ann',
    toolkit: 'kit',
    tool,
    arguments: { ...args },
    caller: { type: 'direct' as const },
  })
const textOf = (outcome: CallOutcome) =>
  'content' in outcome ? String(outcome.content[0]?.text) : outcome.error.message
const detailOf = async (callId: string) =>
  (await host.audit.list({ userId: 'ann' }, { callId })).items.find(({ outcome }) => outcome === 'started')?.detail

describe('a format in a schema', () => {
  it('is an annotation: the arguments are sent, with a warning in the outcome and the audit log', async () => {
    const args = { at: '2026-01-31T13:45:00', id: '123e4567e89b42d3a456426614174000' }
    const { callId, outcome } = start('formats', args)
    expect(JSON.parse(textOf(await outcome))).toEqual(args)
    const warnings = [
      expect.stringMatching(/^arguments\.at must be a date and time/),
      expect.stringContaining('arguments.id'),
    ]
    expect(await outcome).toMatchObject({ status: 'ok', warnings })
    expect(await detailOf(callId)).toMatchObject({ warnings })
  })

  it('gives no warning when the arguments have it', async () => {
    const { callId, outcome } = start('formats', { at: '2026-01-31T13:45:00Z' })
    expect(await outcome).not.toHaveProperty('warnings')
    expect(await detailOf(callId)).not.toHaveProperty('warnings')
  })

  it('leaves the type asserted', async () => {
    expect(await start('formats', { at: 5 }).outcome).toMatchObject({ error: { code: 'invalid-input' } })
  })
})

describe('a required argument with a default', () => {
  it('is filled in, also inside, and shown to the person who approves and in the audit log', async () => {
    const input = { name: 'pods', filters: [{}, { size: 5 }] }
    const { callId, outcome, pending } = start('defaults', input)
    const filled = { name: 'pods', filters: [{ size: 20 }, { size: 5 }], namespace: 'default', page: { size: 20 } }
    const { id, arguments: masked } = await pending
    expect(masked).toEqual(filled)
    await host.approvals.answer('ann', id, { decision: 'allow' })
    expect(JSON.parse(textOf(await outcome))).toEqual(filled)
    expect(await detailOf(callId)).toMatchObject({ arguments: filled })
  })

  it('is refused when it has none', async () => {
    const outcome = await start('defaults', {}).outcome
    expect(outcome).toMatchObject({
      error: { errors: [{ path: 'arguments.name' }] },
    })
  })

  it('ends for a schema that refers to itself', () => {
    const schema = { type: 'object', properties: { next: { $ref: '#', default: {} } }, required: ['next'] }
    let deepest = 0
    for (let value: unknown = fillDefaults(schema, {}); value; value = (value as { next?: unknown }).next) deepest++
    expect(deepest).toBeLessThan(100)
  })
})

it('takes an input schema without a type as one of an object', async () => {
  expect(textOf(await start('untyped', { path: 'x' }).outcome)).toBe('{"path":"x"}')
  expect(await start('untyped', {}).outcome).toMatchObject({ error: { code: 'invalid-input' } })
})

describe('a text that is repeated as structured content', () => {
  it('counts once: it is shown up to the limit', async () => {
    const most = (await host.app.get()).limits.resultBytes
    const { outcome } = start('repeat', { length: most - 100 })
    expect(await outcome).not.toHaveProperty('resultHandle')
    expect(await start('repeat', { length: most + 100 }).outcome).toHaveProperty('resultHandle')
  })
})

it('says in its state that a server has no usable tool', async () => {
  const bad = `process.stdin.on('data', (data) => String(data).trim().split('\\n').forEach((line) => {
    const { id, method } = JSON.parse(line)
    const result = method === 'initialize'
      ? { protocolVersion: '2025-11-25', serverInfo: { name: 'bad', version: '1' }, capabilities: { tools: {} } }
      : { tools: [{ name: 'a', inputSchema: 'none' }, { name: 'b' }] }
    const error = { code: -32601, message: 'Method not found' }
    const answer = method === 'server/discover' ? { error } : { result }
    if (id !== undefined) console.log(JSON.stringify({ jsonrpc: '2.0', id, ...answer }))
  }))`
  const record = { name: 'bad', command: process.execPath, args: ['-e', bad] }
  const { stored } = await host.toolkits.register(record, { tier: 'user', userId: 'ann' })
  await host.catalog.introspect(stored, 'ann')
  expect((await host.views.one('ann', 'bad')).state).toMatchObject({
    status: 'connected',
    reason: 'All 2 tools that the server lists are invalid.',
  })
})
