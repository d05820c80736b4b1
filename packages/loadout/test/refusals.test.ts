/** Refusals of a healthy server (R6, G4, G7, N3, S2, S3), in both eras. */
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { CallOutcome } from '../src/calls/call.ts'
import { nodeDrivers } from '../src/connections/node-drivers.ts'
import { HostError } from '../src/errors.ts'
import { createServices, type HostServices } from '../src/host/create-services.ts'
import { rule } from '../src/policy/rules.ts'
import {
  type Era,
  type HttpRefusalOptions,
  type HttpRefusals,
  startRefusingServer,
} from './fixtures/refusing-server.ts'

const STDIO = fileURLToPath(new URL('./fixtures/refusing-stdio.ts', import.meta.url))
const ann = { tier: 'user', userId: 'ann' } as const

let host: HostServices
const servers: HttpRefusals[] = []

beforeEach(() => {
  host = createServices({
    policy: [rule('*', 'allow')],
    drivers: nodeDrivers({ guard: { privateNetwork: true }, baseEnv: { PATH: '/usr/bin:/bin' } }),
  })
})
afterEach(async () => {
  await host.close()
  await Promise.all(servers.splice(0).map((server) => server.close()))
})

async function http(era: Era, options: HttpRefusalOptions = {}) {
  const server = await startRefusingServer(era, options)
  servers.push(server)
  const { stored } = await host.toolkits.register({ name: 'kit', url: server.url }, ann)
  await host.catalog.introspect(stored, 'ann')
  return server.server
}

async function stdio(era: Era) {
  const { stored } = await host.toolkits.register({ name: 'kit', command: process.execPath, args: [STDIO, era] }, ann)
  await host.catalog.introspect(stored, 'ann')
}

const call = (tool: string): Promise<CallOutcome> =>
  host.calls.start({ userId: 'ann', toolkit: 'kit', tool, arguments: {}, caller: { type: 'direct' } }).outcome
const textOf = (outcome: CallOutcome) =>
  'content' in outcome ? String(outcome.content[0]?.text) : outcome.error.message
const stateOf = async () => (await host.views.one('ann', 'kit')).state
const failure = (work: Promise<unknown>): Promise<HostError> =>
  work.then(
    () => Promise.reject(new Error('It was not refused.')),
    (error) => (HostError.is(error) ? error : Promise.reject(error)),
  )

describe.each(['legacy', 'modern'] as const)('a refused tool call (%s)', (era) => {
  it('is a tool error with the server’s reason for -32603', async () => {
    await http(era)
    const outcome = await call('find_database')
    expect(outcome.status).toBe('tool-error')
    expect(textOf(outcome)).toBe(
      'The server refused the request (-32603): Could not find database with ID: 4f1c.\nShare it with your integration.',
    )
  })

  it('is 422 with the server’s reason for -32602', async () => {
    await http(era)
    expect(await call('bad_arguments')).toMatchObject({
      status: 'failed',
      error: {
        code: 'refused-by-server',
        status: 422,
        message: expect.stringContaining('`range` must look like A1:B2'),
      },
    })
  })

  it('truncates a long reason and marks the cut', async () => {
    await http(era)
    const text = textOf(await call('floods'))
    expect(text.length).toBeLessThan(5000)
    expect(text.endsWith('…')).toBe(true)
  })

  it('leaves the session and the state unchanged, however often it happens', async () => {
    const server = await http(era)
    for (let i = 0; i < 5; i++) await call('find_database')
    expect(await call('count')).toMatchObject({ status: 'ok' })
    expect(await stateOf()).toEqual({ status: 'connected' })
    expect(server.seen.filter((method) => method === 'initialize' || method === 'server/discover')).toHaveLength(
      era === 'legacy' ? 2 : 1,
    )
  })

  it('does not end the process of a stdio server that answers -32601', async () => {
    await stdio(era)
    expect(textOf(await call('count'))).toBe('1')
    const refused = await call('no_such_method')
    expect([refused.status, textOf(refused)]).toEqual([
      'tool-error',
      'The server refused the request (-32601): Method not found: workbook/open',
    ])
    expect(textOf(await call('count'))).toBe('2')
  })
})

it('a refusal does not show the toolkit’s own token', async () => {
  const server = await startRefusingServer('modern')
  servers.push(server)
  const auth = { type: 'bearer', token: 'ghp_abcdefghijklmnopqrstuvwxyz0123456789' }
  const { stored } = await host.toolkits.register({ name: 'kit', url: server.url, auth }, ann)
  await host.catalog.introspect(stored, 'ann')
  expect(textOf(await call('quotes_token'))).toMatch(/Bad credentials: (?!.*ghp_)/)
})

it('the host reads a refusal that a modern server sends with an HTTP status', async () => {
  const server = await http('modern', { errorStatus: 404 })
  expect(textOf(await call('no_such_method'))).toContain('Method not found: workbook/open')
  expect(await call('bad_arguments')).toMatchObject({ error: { code: 'refused-by-server', status: 422 } })
  expect(server.seen.filter((method) => method === 'server/discover')).toHaveLength(1)
})

it('the host negotiates again when the first request of a remembered era is refused with -32601', async () => {
  const server = await http('modern')
  await host.connections.reset((await host.toolkits.find('ann', 'kit')).uscoId)
  server.era = 'legacy'
  server.seen.length = 0
  expect(textOf(await call('count'))).toBe('1')
  expect(server.seen).toEqual(['tools/call', 'server/discover', 'initialize', 'tools/call'])
})

describe('`input_required`', () => {
  it.each([
    ['ask_model', 'sampling (`sampling/createMessage`)'],
    ['ask_roots', 'roots (`roots/list`)'],
  ])('names the missing feature for %s', async (tool, feature) => {
    await http('modern')
    const outcome = await call(tool)
    expect(outcome.status).toBe('tool-error')
    expect(textOf(outcome)).toContain(feature)
    expect(await stateOf()).toEqual({ status: 'connected' })
  })
})

describe.each(['legacy', 'modern'] as const)('resources and prompts (%s)', (era) => {
  it('answer 404 for an unknown resource, whichever code the server uses', async () => {
    await http(era)
    for (const uri of ['docs://gone', 'docs://nowhere']) {
      const error = await failure(host.resources.read('ann', 'kit', uri))
      expect([error.code, error.status]).toEqual(['refused-by-server', 404])
      expect(error.message).toMatch(/not found/i)
    }
    expect(await stateOf()).toEqual({ status: 'connected' })
  })

  it('answer 404 for an unknown prompt', async () => {
    await http(era)
    const error = await failure(host.prompts.get('ann', 'kit', { name: 'nobody', arguments: {} }))
    expect([error.code, error.status]).toEqual(['refused-by-server', 404])
    expect(error.message).toContain('Unknown prompt: nobody')
  })

  it('report the failure of an existing resource or prompt differently from an unknown one', async () => {
    await http(era)
    const broken = await failure(host.resources.read('ann', 'kit', 'docs://broken'))
    const breaks = await failure(host.prompts.get('ann', 'kit', { name: 'breaks', arguments: {} }))
    expect([broken.code, broken.status, breaks.code, breaks.status]).toEqual([
      'refused-by-server',
      502,
      'refused-by-server',
      502,
    ])
    expect([broken.message, breaks.message]).toEqual([
      'The server refused the request (-32603): The disk is full',
      'The server refused the request (-32603): The template of `breaks` does not render',
    ])
  })

  it('report missing prompt arguments before the server is asked', async () => {
    const server = await http(era)
    const error = await failure(host.prompts.get('ann', 'kit', { name: 'visit', arguments: { tone: 'dry' } }))
    expect([error.code, error.status]).toEqual(['invalid-input', 422])
    expect(error.errors).toEqual([
      { path: 'arguments.city', message: 'is required' },
      { path: 'arguments.street', message: 'is required' },
    ])
    expect(server.seen).not.toContain('prompts/get')
  })

  it('list templates, complete their arguments and read the resources that they name', async () => {
    await http(era)
    const uriTemplate = 'city://{city}/{street}'
    expect(await host.resources.templates('ann', 'kit')).toMatchObject([{ name: 'street', uriTemplate }])
    const cities = { uriTemplate, argument: { name: 'city', value: 'Ber' } }
    expect((await host.resources.complete('ann', 'kit', cities)).values).toEqual(['Berlin', 'Bern', 'Bergen'])
    const streets = { uriTemplate, argument: { name: 'street', value: 'T' }, arguments: { city: 'Oslo' } }
    expect(await host.resources.complete('ann', 'kit', streets)).toEqual({
      values: ['Trondheimsveien'],
      total: 1,
      hasMore: false,
    })
    const filled = { uriTemplate, arguments: { city: 'Oslo', street: 'Karl Johan' } }
    expect(await host.resources.readTemplate('ann', 'kit', filled)).toMatchObject({
      contents: [{ uri: 'city://Oslo/Karl%20Johan' }],
    })
  })

  it('complete the arguments of a prompt', async () => {
    await http(era)
    const partial = { name: 'visit', argument: { name: 'city', value: 'O' } }
    expect((await host.prompts.complete('ann', 'kit', partial)).values).toEqual(['Oslo'])
  })
})

it('a custom toolkit has no resources, prompts or skills, and requests leave its state unchanged', async () => {
  await host.toolkits.register(
    { name: 'kit', tools: [{ name: 'one', inputSchema: { type: 'object' }, execute: 'return 1' }] },
    ann,
  )
  const before = await stateOf()
  for (let i = 0; i < 4; i++) {
    expect(await host.resources.list('ann', 'kit')).toEqual([])
    expect(await host.resources.templates('ann', 'kit')).toEqual([])
    expect(await host.prompts.list('ann', 'kit')).toEqual([])
    expect(await host.skills.list('ann', 'kit')).toEqual([])
    const reads = [
      host.resources.read('ann', 'kit', 'docs://readme'),
      host.prompts.get('ann', 'kit', { name: 'x', arguments: {} }),
      host.skills.read('ann', 'kit', { skill: 'skill://x/SKILL.md' }),
    ]
    for (const read of reads) expect(await failure(read)).toMatchObject({ code: 'not-found', status: 404 })
  }
  expect(await stateOf()).toEqual(before)
})
