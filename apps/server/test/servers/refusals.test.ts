/** Refusals of a healthy server over HTTP: statuses, words, the log and the state (R6, N3, S2, S3). */
import { fileURLToPath } from 'node:url'
import { rule } from '@loadout/core'
import { nodeDrivers } from '@loadout/core/node'
import { createServices, type HostServices } from '@loadout/core/services'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { createApp } from '../../src/http/app.ts'
import { createLog } from '../../src/ops/log.ts'

const SERVER = fileURLToPath(new URL('../../../../packages/loadout/test/fixtures/refusing-stdio.ts', import.meta.url))
const ERROR = 50

let host: HostServices
let ask: (
  route: `${string} ${string}`,
  body?: object,
) => Promise<{ status: number; body: ReturnType<typeof JSON.parse> }>
const lines: Array<{ level: number }> = []

beforeAll(async () => {
  const log = createLog('debug', { write: (line: string) => void lines.push(JSON.parse(line)) })
  host = createServices({
    policy: [rule('*', 'allow')],
    functions: { one: () => '1' },
    drivers: nodeDrivers({ baseEnv: { PATH: '/usr/bin:/bin' } }),
  })
  const app = createApp({ host, log, authenticate: () => ({ kind: 'session', userId: 'ann', role: 'user' }) })
  ask = async (route, body) => {
    const [method = '', path = ''] = route.split(' ')
    const sent = body && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }
    const answer = await app.request(`/api${path}`, { method, ...sent })
    return { status: answer.status, body: await answer.json() }
  }
  const { status } = await ask('POST /mcp', { name: 'kit', command: process.execPath, args: [SERVER, 'modern'] })
  expect(status).toBe(201)
  const tools = [{ name: 'one', inputSchema: { type: 'object' }, execute: 'ref:one' }]
  const saved = await ask('POST /mcp/config', { name: 'own', config_type: 'custom', config_json: { tools } })
  expect(saved.status).toBe(200)
})
afterAll(() => host.close())
beforeEach(() => void lines.splice(0))

const resource = (uri: string) => ask(`GET /mcp/kit/resources/read?uri=${encodeURIComponent(uri)}`)
const errorLines = () => lines.filter(({ level }) => level >= ERROR)

it('a refused call returns its reason as a tool error', async () => {
  expect(await ask('POST /tools/kit/find_database/call', { arguments: {} })).toMatchObject({
    status: 200,
    body: {
      status: 'tool-error',
      content: [{ type: 'text', text: expect.stringContaining('database with ID: 4f1c') }],
    },
  })
})

it('a call with invalid arguments returns 422 and the server’s message', async () => {
  const { status, body } = await ask('POST /tools/kit/bad_arguments/call', { arguments: {} })
  expect([status, body.status, body.code]).toEqual([422, 422, 'refused-by-server'])
  expect(body.detail).toContain('`range` must look like A1:B2')
})

it('unknown resources and prompts return 404, in the problem document too', async () => {
  for (const answer of [
    await resource('docs://gone'),
    await resource('docs://nowhere'),
    await ask('POST /mcp/kit/prompts/nobody', {}),
  ])
    expect([answer.status, answer.body.status, answer.body.code]).toEqual([404, 404, 'refused-by-server'])
  expect(errorLines()).toEqual([])
})

it('a failing resource returns 502 and its reason and logs no error', async () => {
  const { status, body } = await resource('docs://broken')
  expect([status, body.code, body.detail]).toEqual([
    502,
    'refused-by-server',
    'The server refused the request (-32603): The disk is full',
  ])
  expect(errorLines()).toEqual([])
})

it('missing prompt arguments return 422 with their names', async () => {
  const { status, body } = await ask('POST /mcp/kit/prompts/visit', { arguments: { city: 'Oslo' } })
  expect([status, body.errors]).toEqual([422, [{ path: 'arguments.street', message: 'is required' }]])
})

it('the toolkit stays connected after all refusals', async () => {
  for (let i = 0; i < 4; i++) await resource('docs://broken')
  const { body } = await ask('GET /mcp')
  const { state } = body.toolkits.find(({ id }: { id: string }) => id === 'kit')
  expect(state).toEqual({ status: 'connected' })
})

it('a custom toolkit lists and reads nothing and its state does not change', async () => {
  const stateOf = async () => (await ask('GET /mcp')).body.toolkits.find(({ id }: { id: string }) => id === 'own').state
  const before = await stateOf()
  for (let i = 0; i < 4; i++) {
    for (const list of ['resources', 'resources/templates', 'prompts', 'skills'])
      expect(await ask(`GET /mcp/own/${list}`)).toEqual({ status: 200, body: { items: [] } })
    const reads = [
      await ask('GET /mcp/own/resources/read?uri=a%3A%2F%2Fb'),
      await ask('GET /mcp/own/skills/read?skill=skill%3A%2F%2Fx'),
      await ask('POST /mcp/own/prompts/x', {}),
    ]
    expect(reads.map(({ status, body }) => [status, body.code])).toEqual(Array(3).fill([404, 'not-found']))
  }
  expect(await stateOf()).toEqual(before)
})

it('the resource routes list templates, complete their arguments and read a filled template', async () => {
  const uriTemplate = 'city://{city}/{street}'
  expect((await ask('GET /mcp/kit/resources/templates')).body.items).toMatchObject([{ uriTemplate }])
  const argument = { name: 'street', value: 'T' }
  const suggested = await ask('POST /mcp/kit/complete', { ref: { uriTemplate }, argument, arguments: { city: 'Oslo' } })
  expect(suggested).toEqual({ status: 200, body: { values: ['Trondheimsveien'], total: 1, hasMore: false } })
  const ofPrompt = { ref: { prompt: 'visit' }, argument: { name: 'city', value: 'Berg' } }
  expect((await ask('POST /mcp/kit/complete', ofPrompt)).body.values).toEqual(['Bergen'])
  const filled = { uriTemplate, arguments: { city: 'Oslo', street: 'Bygdøy allé' } }
  const read = await ask('POST /mcp/kit/resources/read', filled)
  expect(read).toMatchObject({ status: 200, body: { contents: [{ uri: 'city://Oslo/Bygd%C3%B8y%20all%C3%A9' }] } })
})
