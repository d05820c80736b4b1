import { describe, expect, it } from 'vitest'
import { HostError } from '../../errors.ts'
import type { Server } from '../toolkit/server.ts'
import { readToolkit } from './read-toolkit.ts'

const stdio = (overrides: object = {}) => ({ type: 'stdio', command: 'npx', args: ['-y', 'x'], env: {}, ...overrides })
const http = (overrides: object = {}) => ({
  type: 'http',
  url: 'https://a.example/mcp',
  headers: {},
  auth: { type: 'none' },
  ...overrides,
})

describe('per-tool settings', () => {
  const inputSchema = { type: 'object' }
  it('are read from tool lists and overrides in every spelling', () => {
    const tools = [
      { name: 'a', inputSchema, defer_loading: false, allowed_callers: ['code_execution_20260521', 'programmatic'] },
      { name: 'b', inputSchema, deferLoading: false },
      { name: 'c', inputSchema },
    ]
    const overrides = { a: { title: 'A', deferLoading: true }, c: { allowed_callers: ['direct'], defer_loading: true } }
    const { toolkit } = readToolkit({ name: 'kit', url: 'https://a.example/mcp', tools, overrides })
    expect(toolkit.overrides).toEqual({
      a: { title: 'A', deferLoading: true, allowedCallers: ['code'] },
      b: { deferLoading: false },
      c: { deferLoading: true, allowedCallers: ['direct'] },
    })
    expect(toolkit.tools).toEqual(tools.map(({ name }) => ({ name, inputSchema })))
    const execute = 'return 1'
    const custom = readToolkit({ name: 'kit', tools: tools.map((tool) => ({ ...tool, execute })) }).toolkit
    expect(custom.server).toMatchObject({
      tools: [{ deferLoading: false, allowedCallers: ['code'] }, { deferLoading: false }, { name: 'c' }],
    })
    expect(custom.overrides).toEqual({})
  })

  it.each([[['nobody']], [[]], ['code']])('reports the invalid callers %j', (allowed_callers) => {
    const record = { name: 'kit', url: 'https://a.example/mcp', tools: [{ name: 'a', inputSchema, allowed_callers }] }
    expect(() => readToolkit(record)).toThrow(expect.objectContaining({ code: 'invalid-input' }))
  })
})

/** Every spelling of SPEC 4.1, and the one record it becomes. */
const SPELLINGS: Record<string, [input: object, server: object]> = {
  'a bare command': [{ command: 'npx', args: ['-y', 'x'] }, stdio()],
  'a command with hosts': [
    { command: 'npx', args: ['-y', 'x'], hosts: ['API.example.com', '*.example.org:8443'] },
    stdio({ hosts: ['api.example.com', '*.example.org:8443'] }),
  ],
  'a template': [
    { template: 'github', values: { org: 'acme', limit: 3 } },
    { type: 'stdio', args: [], env: {}, template: 'github', values: { org: 'acme', limit: '3' } },
  ],
  'a bare url': [{ url: 'https://a.example/mcp' }, http()],
  'type for transport': [{ type: 'http', url: 'https://a.example/mcp' }, http()],
  'transport: local': [{ transport: 'local', command: 'npx', args: ['-y', 'x'] }, stdio()],
  ...Object.fromEntries(
    ['http', 'websocket', 'streamable-http', 'streamableHttp', 'streamable_http', 'remote'].map((transport) => [
      `transport: ${transport}`,
      [{ transport, url: 'https://a.example/mcp' }, http()],
    ]),
  ),
  'transport: sse': [{ transport: 'sse', url: 'https://a.example/mcp' }, http({ type: 'sse' })],
  'source 000: transport { kind, spec }': [
    { transport: { kind: 'stdio', spec: { command: 'npx', args: ['-y', 'x'] } } },
    stdio(),
  ],
  'source 000: transportSpec': [{ transportSpec: { command: 'npx', args: ['-y', 'x'] } }, stdio()],
  'source 001: oauth': [
    { url: 'https://a.example/mcp', oauth: { clientId: 'c', scope: 'a b' } },
    http({ auth: { type: 'oauth', clientId: 'c', scopes: ['a', 'b'] } }),
  ],
  'source 002: args as one string, env as lines': [
    { command: 'npx', args: '-y, x', env: 'A=1\nB=x=y' },
    stdio({ env: { A: '1', B: 'x=y' } }),
  ],
  'source 004: connection and auth': [
    { transport: 'sse', connection: { url: 'https://a.example/mcp' }, auth: { type: 'bearer', token: 't' } },
    http({ type: 'sse', auth: { type: 'bearer', token: 't' } }),
  ],
  'a websocket address': [{ transport: 'websocket', url: 'wss://a.example/mcp' }, http()],
  'our own view, sent back': [{ server: http(), options: { deferLoading: true } }, http()],
  'numbers and booleans in env': [
    { command: 'npx', args: ['-y', 'x'], env: { N: 1, B: true } },
    stdio({ env: { N: '1', B: 'true' } }),
  ],
}

describe('readToolkit', () => {
  for (const [name, [input, server]] of Object.entries(SPELLINGS))
    it(name, () => expect(readToolkit({ name: 'A kit', ...input }).toolkit.server).toEqual(server))

  it('reads the other fields in both spellings', () => {
    const { toolkit, tier } = readToolkit({
      serverName: 'My LinkedIn',
      url: 'https://a.example',
      defer_loading: false,
      allowed_callers: ['code_execution_20250825', 'code'],
      disabled: true,
      scope: 'global',
    })
    expect(toolkit).toMatchObject({
      id: 'my-linkedin',
      name: 'My LinkedIn',
      deferLoading: false,
      allowedCallers: ['code'],
      enabled: false,
    })
    expect(tier).toBe('app')
  })

  it('reads a custom toolkit by its tools and a server with tools known in advance', () => {
    const tool = { name: 't', inputSchema: { type: 'object' } }
    const custom = readToolkit({ name: 'c', tools: [{ ...tool, execute: 'return 1' }] }).toolkit
    expect(custom.server).toMatchObject({ type: 'custom', tools: [{ name: 't' }] })
    const parsed = readToolkit({ name: 's', url: 'https://a.example', tools: [tool] }).toolkit
    expect(parsed.tools).toEqual([tool])
    const byName = readToolkit({
      name: 's',
      url: 'https://a.example',
      tools: { t: { inputSchema: { type: 'object' } } },
    }).toolkit
    expect(byName.tools).toEqual([tool])
  })

  it('skips unusable tools known in advance and warns with their path', () => {
    const inputSchema = { type: 'object' }
    const url = 'https://a.example/mcp'
    const { toolkit, warnings } = readToolkit({ name: 'A kit', url, tools: { a1: {}, a2: { inputSchema }, a3: 'x' } })
    expect(toolkit.tools).toEqual([{ name: 'a2', inputSchema }])
    expect(warnings).toEqual([
      expect.stringMatching(/^"tools\.a1" cannot be used and was left out: .*inputSchema/),
      expect.stringMatching(/^"tools\.a3" cannot be used/),
    ])
    const none = readToolkit({ name: 'A kit', server: { url, tools: [{ name: 'a1' }] } })
    expect([none.toolkit.tools, none.warnings]).toEqual([undefined, [expect.stringMatching(/^"server\.tools\.0"/)]])
    expect(caught(() => readToolkit({ name: 'A kit', tools: { a1: { execute: 'x' } } })).errors).toMatchObject([
      { path: 'tools.a1.inputSchema' },
    ])
  })

  it('warns about unknown fields and continues', () => {
    const { warnings } = readToolkit({ name: 'a', command: 'x', comand: 'y', connection: { speed: 1 } })
    expect(warnings).toEqual([
      '"comand" is not a known field and was ignored',
      '"connection.speed" is not a known field and was ignored',
    ])
  })
})

describe('a toolkit update', () => {
  const current = readToolkit({ name: 'A kit', command: 'npx', args: ['-y', 'x'], env: { A: '1' } }).toolkit
  const remote = readToolkit({ name: 'A kit', url: 'https://a.example/mcp', headers: { A: '1' } }).toolkit
  const change = (changes: object, over = current) => readToolkit(changes, { over })

  for (const [name, [input, server]] of Object.entries(SPELLINGS))
    it(`is read in every spelling: ${name}`, () => {
      const over = (server as { type: string }).type === 'stdio' ? remote : current
      expect(change(input, over).toolkit.server).toMatchObject(server)
    })

  it('keeps fields that it does not name and accepts every alias', () => {
    expect(change({ name: 'B' }).toolkit).toEqual({ ...current, name: 'B' })
    expect(
      change({ serverName: 'B', defer_loading: false, allowed_callers: ['code'], disabled: true }).toolkit,
    ).toEqual({
      ...current,
      name: 'B',
      deferLoading: false,
      allowedCallers: ['code'],
      enabled: false,
    })
    expect(change({ options: { deferLoading: false } }).toolkit.deferLoading).toBe(false)
    expect(change({ transport: 'sse' }, remote).toolkit.server).toMatchObject({
      type: 'sse',
      url: 'https://a.example/mcp',
      headers: { A: '1' },
    })
    expect(change({ oauth: { clientId: 'c' } }, remote).toolkit.server).toMatchObject({
      auth: { type: 'oauth', clientId: 'c' },
    })
  })

  it('replaces the server if it brings a whole one or another kind', () => {
    expect(change({ server: { type: 'stdio', command: 'uvx' } }).toolkit.server).toEqual({
      type: 'stdio',
      command: 'uvx',
      args: [],
      env: {},
    })
    expect(change({ command: 'uvx' }, remote).toolkit.server).toEqual({
      type: 'stdio',
      command: 'uvx',
      args: [],
      env: {},
    })
  })
})

it('readToolkit warns about fields that the transport does not use', () => {
  const { warnings } = readToolkit({ name: 'a', type: 'http', url: 'https://a.example', args: ['x'] })
  expect(warnings).toEqual(['"args" is not used by a http server and was ignored'])
})

it('readToolkit limits the number of errors and warnings', () => {
  const many = Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`field${i}`, i]))
  expect(readToolkit({ name: 'a', command: 'x', ...many }).warnings).toHaveLength(51)
  const error = caught(() =>
    readToolkit({ name: 'a', command: 'x', env: Object.fromEntries(Object.keys(many).map((key) => [key, {}])) }),
  )
  expect(error.errors).toHaveLength(50)
})

/** Invalid records, and the field that the error must name. */
const WRONG: Record<string, [input: unknown, path: string]> = {
  'not an object': ['x', '(body)'],
  'a list': [[], '(body)'],
  'no name': [{ command: 'x' }, 'name'],
  'an empty name': [{ name: ' ', command: 'x' }, 'name'],
  'a name that gives no id': [{ name: '漢字', command: 'x' }, 'id'],
  'an id with odd characters': [{ id: 'My Kit!', name: 'a', command: 'x' }, 'id'],
  'an id that is too long': [{ id: 'a'.repeat(49), name: 'a', command: 'x' }, 'id'],
  'nothing to run': [{ name: 'a' }, 'command'],
  'an unknown transport': [{ name: 'a', transport: 'pigeon' }, 'transport'],
  'a transport that is a number': [{ name: 'a', type: 7 }, 'type'],
  'a transport named like a property of every object': [{ name: 'a', type: 'constructor' }, 'type'],
  'stdio without a command': [{ name: 'a', type: 'stdio' }, 'command'],
  'an empty command': [{ name: 'a', command: '' }, 'command'],
  'a command that is a list': [{ name: 'a', command: ['npx'] }, 'command'],
  'http without a url': [{ name: 'a', type: 'http' }, 'url'],
  'a url that is none': [{ name: 'a', url: 'not a url' }, 'url'],
  'a file url': [{ name: 'a', url: 'file:///etc/passwd' }, 'url'],
  'args that are not strings': [{ name: 'a', command: 'x', args: ['a', 1] }, 'args.1'],
  'args that are an object': [{ name: 'a', command: 'x', args: {} }, 'args'],
  'an env value that is an object': [{ name: 'a', command: 'x', env: { A: {} } }, 'env.A'],
  'an env value with a NUL': [{ name: 'a', command: 'x', env: { A: 'a\0b' } }, 'env.A'],
  'a header with a line break': [{ name: 'a', url: 'https://a.example', headers: { A: 'x\r\nB: y' } }, 'headers.A'],
  'an unknown auth': [{ name: 'a', url: 'https://a.example', auth: { type: 'magic' } }, 'auth.type'],
  'a bearer without a token': [{ name: 'a', url: 'https://a.example', auth: { type: 'bearer' } }, 'auth.token'],
  'an unknown tier': [{ name: 'a', command: 'x', scope: 'banana' }, 'scope'],
  'disabled that is no boolean': [{ name: 'a', command: 'x', disabled: 'yes' }, 'disabled'],
  'a command and a url': [{ name: 'a', command: 'x', url: 'https://a.example' }, 'url'],
  'two transports that differ': [{ name: 'a', kind: 'stdio', transport: 'http', command: 'x' }, 'transport'],
  'a NUL anywhere': [{ name: 'a', command: 'x', account: 'a\0b' }, 'account'],
  'half a character': [{ name: 'a\ud800', command: 'x' }, 'name'],
  'a header name that is none': [{ name: 'a', url: 'https://a.example', headers: { 'a b': 'x' } }, 'headers.a b'],
  'a place deep inside': [
    { name: 'a', transport: { kind: 'stdio', spec: { command: 'x', args: [null] } } },
    'transport.spec.args.0',
  ],
  'callers that are none': [{ name: 'a', command: 'x', allowedCallers: [] }, 'allowedCallers'],
  'a custom tool without a schema': [{ name: 'a', tools: [{ name: 't', execute: 'x' }] }, 'tools.0.inputSchema'],
  'a custom tool with a schema of another type': [
    { name: 'a', tools: [{ name: 't', execute: 'x', inputSchema: { type: 'array' } }] },
    'tools.0.inputSchema',
  ],
  'the same custom tool twice': [
    { name: 'a', tools: ['t', 't'].map((name) => ({ name, execute: 'x', inputSchema: { type: 'object' } })) },
    'tools.1.name',
  ],
  'a key that reaches a prototype': [JSON.parse('{"name":"a","command":"x","env":{"__proto__":"y"}}'), 'env.__proto__'],
  'a name that is one of our own ids': [{ name: `usco_${'0'.repeat(26)}`, command: 'x' }, 'name'],
  'an id that is one of our own': [{ id: `call_${'a'.repeat(32)}`, name: 'a', command: 'x' }, 'id'],
  'such a key at the top': [JSON.parse('{"name":"a","command":"x","__proto__":{"y":1}}'), '__proto__'],
}

describe('an invalid toolkit record', () => {
  for (const [name, [input, path]] of Object.entries(WRONG))
    it(name, () => {
      const error = caught(() => readToolkit(input))
      expect(error.code).toBe('invalid-input')
      expect(error.errors?.map((field) => field.path)).toContain(path)
      for (const field of error.errors ?? []) expect(field.message.length).toBeGreaterThan(5)
    })

  it('with several errors reports all of them', () => {
    const error = caught(() => readToolkit({ command: 'x', args: [1], env: { A: null } }))
    expect(error.errors?.map((field) => field.path)).toEqual(['name', 'args.0', 'env.A'])
  })
})

function caught(work: () => unknown): HostError {
  try {
    work()
  } catch (error) {
    if (HostError.is(error)) return error
    throw error
  }
  throw new Error('It was not refused.')
}

// The canonical record is a fixed point: reading it again gives itself.
it('readToolkit returns a parsed record unchanged', () => {
  for (const [input] of Object.values(SPELLINGS)) {
    const once = readToolkit({ name: 'A kit', ...input }).toolkit
    expect(readToolkit(once).toolkit).toEqual(once)
    expect((once.server as Server).type).toBeDefined()
  }
})
