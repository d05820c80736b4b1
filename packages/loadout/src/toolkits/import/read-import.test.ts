import { describe, expect, it } from 'vitest'
import type { HostError } from '../../errors.ts'
import { readImport } from './read-import.ts'

const one = (server: unknown, values?: Record<string, string>) => {
  const [entry] = readImport({ mcpServers: { kit: server } }, values).entries
  if (!entry) throw new Error('There is no entry.')
  return entry
}
const serverOf = (server: unknown, values?: Record<string, string>) => {
  const { read, problem } = one(server, values)
  return read?.toolkit.server ?? problem
}
const refused = (config: unknown): HostError => {
  try {
    readImport(config)
  } catch (error) {
    return error as HostError
  }
  throw new Error('It was read.')
}

/** Configs of four apps, and the expected servers with their values. */
const SAMPLES: Record<string, [config: object, shape: string, server: object]> = {
  'Claude Desktop: a command': [
    {
      mcpServers: {
        kit: { command: 'npx', args: ['-y', '@modelcontextprotocol/server-github'], env: { GITHUB_TOKEN: 'ghp_x' } },
      },
    },
    'mcpServers',
    {
      type: 'stdio',
      command: 'npx',
      args: ['-y', '@modelcontextprotocol/server-github'],
      env: { GITHUB_TOKEN: 'ghp_x' },
    },
  ],
  'Claude Desktop: a URL behind mcp-remote is the remote server': [
    { mcpServers: { kit: { command: 'npx', args: ['mcp-remote', 'https://a.example/sse'] } } },
    'mcpServers',
    { type: 'http', url: 'https://a.example/sse' },
  ],
  'Claude Code: http with a variable and a default': [
    {
      mcpServers: {
        kit: {
          type: 'http',
          url: '${API_BASE:-https://api.example}/mcp',
          headers: { Authorization: 'Bearer ${API_KEY}' },
        },
      },
    },
    'mcpServers',
    { type: 'http', url: 'https://api.example/mcp', headers: { Authorization: 'Bearer s3cret' } },
  ],
  'Claude Code: sse with OAuth': [
    {
      mcpServers: {
        kit: {
          type: 'sse',
          url: 'https://a.example/sse',
          oauth: { clientId: 'c', callbackPort: 8080, scopes: 'read write' },
        },
      },
    },
    'mcpServers',
    { type: 'sse', auth: { type: 'oauth', clientId: 'c', scopes: ['read', 'write'] } },
  ],
  'Cursor: variables of the environment and of the workspace': [
    {
      mcpServers: {
        kit: { command: '${userHome}/bin/x', args: ['${workspaceFolder}${/}src'], env: { KEY: '${env:API_KEY}' } },
      },
    },
    'mcpServers',
    { type: 'stdio', command: '/home/ann/bin/x', args: ['/w/src'], env: { KEY: 's3cret' } },
  ],
  'Cursor: a url without a type, and static OAuth': [
    {
      mcpServers: {
        kit: { url: 'https://a.example/mcp', auth: { CLIENT_ID: 'c', CLIENT_SECRET: 's', scopes: ['a'] } },
      },
    },
    'mcpServers',
    { type: 'http', auth: { type: 'oauth', clientId: 'c', clientSecret: 's', scopes: ['a'] } },
  ],
  'VS Code: servers and inputs': [
    {
      inputs: [{ type: 'promptString', id: 'API_KEY', description: 'Key', password: true }],
      servers: {
        kit: { type: 'stdio', command: 'x', cwd: '${workspaceFolder}', env: { KEY: '${input:API_KEY}', N: 1 } },
      },
    },
    'servers',
    { type: 'stdio', command: 'x', cwd: '/w', env: { KEY: 's3cret', N: '1' } },
  ],
  'VS Code: http': [
    { servers: { kit: { type: 'http', url: 'https://a.example/mcp', headers: { 'X-Key': '${input:API_KEY}' } } } },
    'servers',
    { type: 'http', url: 'https://a.example/mcp', headers: { 'X-Key': 's3cret' } },
  ],
  'Windsurf: serverUrl': [
    { mcpServers: { kit: { serverUrl: 'https://a.example/mcp' } } },
    'mcpServers',
    { type: 'http', url: 'https://a.example/mcp' },
  ],
  'Cline: its transport': [
    { mcpServers: { kit: { type: 'streamableHttp', url: 'https://a.example/mcp' } } },
    'mcpServers',
    { type: 'http' },
  ],
  'Copilot: streamable-http': [
    { mcpServers: { kit: { type: 'streamable-http', url: 'https://a.example/mcp', tools: ['*'] } } },
    'mcpServers',
    { type: 'http' },
  ],
  'a bare map': [{ kit: { command: 'x' } }, 'map', { type: 'stdio', command: 'x' }],
  'a bare server': [
    { type: 'http', url: 'https://mcp.a.example/x', headers: { A: 'b' } },
    'server',
    { type: 'http', headers: { A: 'b' } },
  ],
}
const VALUES = { API_KEY: 's3cret', userHome: '/home/ann', workspaceFolder: '/w', pathSeparator: '/' }

describe('readImport on configs of other apps', () => {
  for (const [name, [config, shape, server]] of Object.entries(SAMPLES))
    it(name, () => {
      const read = readImport(config, VALUES)
      expect(read.shape).toBe(shape)
      expect(read.entries).toHaveLength(1)
      expect(read.entries[0]?.problem).toBeUndefined()
      expect(read.entries[0]?.missing).toEqual([])
      expect(read.entries[0]?.read?.toolkit.server).toMatchObject(server)
    })

  it('names a bare server after its name, host, package or program', () => {
    const nameOf = (server: object) => readImport(server).entries[0]?.read?.toolkit.name
    expect(nameOf({ name: 'Mine', url: 'https://a.example' })).toBe('Mine')
    expect(nameOf({ url: 'https://mcp.linear.example/sse' })).toBe('mcp.linear.example')
    expect(nameOf({ command: 'npx', args: ['-y', '@scope/server-files@1.2.3', '/tmp'] })).toBe('server-files')
    expect(nameOf({ command: '/usr/local/bin/my-server' })).toBe('my-server')
  })

  it('reads both keys of one file and reports other keys', () => {
    const read = readImport({ mcpServers: { a: { command: 'x' } }, servers: { b: { command: 'x' } }, numStartups: 3 })
    expect(read.entries.map((entry) => entry.name)).toEqual(['a', 'b'])
    expect(read.warnings).toEqual(['Not read: "numStartups"'])
  })

  it('rejects an unknown format and names a valid one', () => {
    for (const config of [{}, [], null, 'x', 7, { mcpServers: [] }, { name: 'x', version: '1' }, { a: { b: 1 } }])
      expect(refused(config)).toMatchObject({ code: 'invalid-input', message: expect.stringContaining('mcpServers') })
    expect(readImport({ mcpServers: {} }).entries).toEqual([])
  })
})

describe('config entries with unusual fields', () => {
  it('report approvals, files, commands and unknown fields without following them', () => {
    const { read, warnings } = one({
      command: 'x',
      disabled: true,
      alwaysAllow: ['a'],
      autoApprove: [],
      envFile: '/etc/passwd',
      headersHelper: 'cat /etc/shadow',
      gallery: true,
      env: { A: null, B: true },
      headers: null,
    })
    expect(read?.toolkit).toMatchObject({ enabled: false, server: { env: { B: 'true' } } })
    expect(warnings).toEqual([
      '"envFile" names a file, which is not read; give its values as env',
      '"headersHelper" names a command, which is not run; give its headers as headers',
      '"alwaysAllow" was not taken over: here policy decides which calls are approved',
      '"env.A" is null and was left out',
      '"gallery" is not a known field and was ignored',
    ])
  })

  it('use the intended unit of a timeout and report it', () => {
    const callMs = (entry: object) => one({ command: 'x', ...entry }).read?.toolkit.timeouts.callMs
    expect(callMs({ timeout: 60 })).toBe(60_000)
    expect(callMs({ timeout: 30_000 })).toBe(30_000)
    expect(callMs({ timeout: 1800, autoApprove: [] })).toBe(1_800_000)
    expect(callMs({ timeout: 'soon' })).toBeUndefined()
    expect(one({ command: 'x', timeout: 60 }).warnings).toEqual(['"timeout" was read as 60 seconds for a call'])
  })

  it('have tool lists that become include and exclude filters', () => {
    const kit = (entry: object) => one({ command: 'x', ...entry })
    expect(kit({ tools: ['a', 'b'], exclude_tools: ['c'] }).read?.toolkit).toMatchObject({
      include: ['a', 'b'],
      exclude: ['c'],
    })
    expect(kit({ tools: ['*'] }).read?.toolkit).toMatchObject({ include: [] })
    expect(kit({ tools: [{ name: 'a', permission_policy: 'always_allow' }] }).warnings[0]).toContain('policy')
    expect(kit({ tools: [] }).warnings[0]).toContain('"tools" is empty')
    expect(kit({ alwaysLoad: true }).read?.toolkit.deferLoading).toBe(false)
  })

  it('report a problem only for the affected entry and with its path', () => {
    const { entries } = readImport({
      mcpServers: {
        good: { command: 'x' },
        pigeon: { type: 'pigeon', command: 'x' },
        text: 'npx x',
        none: null,
        socket: { type: 'http', url: 'unix:///x.sock' },
        both: { command: 'x', url: 'https://a.example' },
        args: { command: 'x', args: [1] },
      },
    })
    expect(entries.map((entry) => [entry.name, entry.problem?.errors?.map((error) => error.path)])).toEqual([
      ['good', undefined],
      ['pigeon', ['type']],
      ['text', ['(body)']],
      ['none', ['(body)']],
      ['socket', ['url']],
      ['both', ['url']],
      ['args', ['args.0']],
    ])
  })
})

describe('import inputs', () => {
  it('include every variable with its places and whether it is a secret', () => {
    const { inputs, missing, read } = one({
      command: '${BIN:-node}',
      args: ['${ROOT}', '--level=${LEVEL:-info}'],
      env: { API_TOKEN: '${MINE}', COPY: '${MINE}', KEY: '${K:-sk-abcdefghijklmnop}' },
    })
    expect(inputs).toEqual([
      { name: 'BIN', secret: false, places: ['command'], default: 'node' },
      { name: 'ROOT', secret: false, places: ['args.0'] },
      { name: 'LEVEL', secret: false, places: ['args.1'], default: 'info' },
      { name: 'MINE', secret: true, places: ['env.API_TOKEN', 'env.COPY'] },
      { name: 'K', secret: true, places: ['env.KEY'] },
    ])
    expect(missing).toEqual(['ROOT', 'MINE'])
    expect(read).toBeUndefined()
  })

  it('show what the config declares about them and never run their commands', () => {
    const read = readImport({
      inputs: [
        { type: 'promptString', id: 'pw', description: 'The password', password: true, default: 'hunter2' },
        { type: 'pickString', id: 'region', options: ['eu', { label: 'US', value: 'us' }], default: 'eu' },
        { type: 'command', id: 'made', command: 'rm -rf /' },
        'nonsense',
      ],
      servers: { a: { command: 'x', args: ['${input:pw}', '${input:region}', '${input:made}'] } },
    })
    expect(read.entries[0]?.inputs).toEqual([
      { name: 'pw', description: 'The password', secret: true, places: ['args.0'] },
      { name: 'region', options: ['eu', 'us'], secret: false, places: ['args.1'], default: 'eu' },
      { name: 'made', secret: false, places: ['args.2'] },
    ])
    expect(read.entries[0]?.missing).toEqual(['made'])
    expect(read.warnings).toEqual(['The input "made" is made by a command, which is not run; give its value'])
  })

  it('have one value in all entries and are secret everywhere if secret anywhere', () => {
    const { entries } = readImport(
      { mcpServers: { a: { command: 'x', env: { TOKEN: '${V}' } }, b: { command: 'x', args: ['${V}'] } } },
      { V: 'short' },
    )
    expect(entries.map((entry) => entry.inputs[0]?.secret)).toEqual([true, true])
    expect(entries[1]).toMatchObject({
      record: { args: ['${secret:args.input0}'] },
      secrets: { 'args.input0': 'short' },
    })
  })

  it('can default to other inputs, and only the needed ones are missing', () => {
    const entry = { command: 'x', args: ['${A:-${B:-${C}}}'] }
    expect(one(entry).missing).toEqual(['C'])
    expect(serverOf(entry, { B: 'b' })).toMatchObject({ args: ['b'] })
    expect(serverOf({ command: 'x', args: ['${A:-}'] })).toMatchObject({ args: [''] })
  })

  it('have values that are not expanded again', () => {
    expect(serverOf({ command: 'x', args: ['${A}'] }, { A: '${HOME} ${B}' })).toMatchObject({ args: ['${HOME} ${B}'] })
  })

  it('report given values that nothing uses by name', () => {
    const { warnings } = readImport({ mcpServers: { a: { command: 'x' } } }, { OTHER: 's3cret' })
    expect(warnings).toEqual(['Nothing asks for the values "OTHER"'])
  })

  it('exclude variables in code and names', () => {
    const tools = [{ name: 't', inputSchema: { type: 'object' }, execute: 'return `${input.x}`' }]
    const { entries } = readImport({ mcpServers: { '${k}': { tools } } })
    expect(entries[0]).toMatchObject({ inputs: [], missing: [], name: '${k}' })
    expect(entries[0]?.read?.toolkit.server).toMatchObject({ tools: [{ execute: 'return `${input.x}`' }] })
  })

  it('do not hide other problems of an entry with missing values', () => {
    expect(one({ type: 'http', url: '${BASE}/mcp' }).problem).toBeUndefined()
    expect(one({ type: 'http', url: '${BASE}/mcp', headers: { 'bad name': 'x' } }).problem?.errors).toMatchObject([
      { path: 'headers.bad name' },
    ])
  })
})

describe('import secrets', () => {
  it('replace a secret input in an argument or URL with a placeholder, however plain its value', () => {
    const { record, secrets, problem } = one(
      { command: 'x', args: ['--db', 'pg://u:${DB_PASSWORD}@h/d', '${DB_PASSWORD}'] },
      { DB_PASSWORD: 'hunter2' },
    )
    expect(problem).toBeUndefined()
    expect(record.args).toEqual(['--db', 'pg://u:${secret:args.input0}@h/d', '${secret:args.input0}'])
    expect(secrets).toEqual({ 'args.input0': 'hunter2' })
    const remote = one({ url: 'https://a.example/${API_KEY}/mcp?x=${API_KEY}' }, { API_KEY: 'abc' })
    expect(remote.record.url).toBe('https://a.example/${secret:url.input0}/mcp?x=${secret:url.input0}')
    expect(one({ url: '${KEY_HOST}/mcp' }, { KEY_HOST: 'https://a.example' }).record.url).toBe('https://a.example/mcp')
  })

  it('are requested per entry for a placeholder in a file', () => {
    const { entries } = readImport({
      mcpServers: {
        a: { command: 'x', env: { T: '${secret:env.T}' } },
        b: { command: 'x', env: { T: '${secret:env.T}' } },
      },
    })
    expect(entries.map((entry) => entry.missing)).toEqual([['a.env.T'], ['b.env.T']])
  })

  it('cannot be referenced by a text composed from parts', () => {
    const tries: Array<[server: object, values: Record<string, string>]> = [
      [{ command: 'x', args: ['$${X:-{secret:args.0}}'] }, {}],
      [
        { command: 'x', args: ['${A}${B}'] },
        { A: '${sec', B: 'ret:args.0}' },
      ],
      [{ command: 'x', args: ['${A}'] }, { A: '${secret:args.0}' }],
      [{ command: 'x', env: { A: '${A}' } }, { A: '${secret:env.A}' }],
      [{ command: 'x', env: { A: '${secret:env.A' } }, {}],
      [{ url: 'https://a.example/?x=${A}' }, { A: '${secret:url.0}' }],
    ]
    for (const [server, values] of tries) expect(one(server, values).problem?.code).toBe('secret-missing')
  })
})

describe('hostile configs', () => {
  it('cannot reach prototypes through their keys', () => {
    expect(refused(JSON.parse('{"mcpServers":{"__proto__":{"command":"x"}}}')).code).toBe('invalid-input')
    const { entries } = readImport(
      JSON.parse('{"mcpServers":{"constructor":{"command":"x"},"toString":{"command":"y"}}}'),
    )
    expect(entries.map((entry) => entry.read?.toolkit.name)).toEqual(['constructor', 'toString'])
    const { missing } = one({ command: 'x', args: ['${constructor}', '${hasOwnProperty}', '${__proto__}'] }, {})
    expect(missing).toEqual(['constructor', 'hasOwnProperty', '__proto__'])
  })

  it('are rejected for too many entries, too many inputs or deep nesting', () => {
    const many = Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`s${i}`, { command: 'x' }]))
    expect(refused({ mcpServers: many })).toMatchObject({ errors: [{ path: 'mcpServers' }] })
    const args = Array.from({ length: 51 }, (_, i) => `\${V${i}}`)
    expect(one({ command: 'x', args }).problem?.message).toContain('more than 50 inputs')
    const pit = JSON.parse(`${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}`)
    expect(refused({ mcpServers: { a: pit } }).code).toBe('invalid-input')
  })

  it('cannot expand from small to large', () => {
    const sizeOf = (config: object, values?: Record<string, string>) =>
      JSON.stringify(readImport(config, values)).length
    const long = 'x'.repeat(8192)
    const many = (text: string) => Array.from({ length: 100_000 }, () => text)
    const bomb = { mcpServers: { a: { command: 'x', args: many('a${A}${A}') } } }
    expect(sizeOf(bomb, { A: long })).toBeLessThan(3_000_000)
    expect(readImport(bomb, { A: long }).entries[0]?.problem?.message).toContain('too long')
    for (const text of ['${}', '${A', '${A}', '${KEY:-b}'])
      expect(sizeOf({ mcpServers: { a: { command: 'x', args: many(text) } } })).toBeLessThan(5_000_000)
    const names = Array.from({ length: 45 }, (_, i) => `i${i}`)
    const inputs = names.map((id) => ({ id, description: long, default: long, options: many(long).slice(0, 300) }))
    const entry = { command: 'x', args: names.map((id) => `\${input:${id}}`) }
    const servers = Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`s${i}`, entry]))
    const reported = readImport({ inputs, servers }).entries.map((one) => one.inputs)
    expect(JSON.stringify(reported).length / (200 * 45)).toBeLessThan(1600)
    const nulls = Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`n${i}`, null]))
    expect(one({ command: 'x', env: nulls }).warnings).toHaveLength(51)
  })

  it('"${" that is not closed stays; "${}" names nothing', () => {
    const open = one({ command: 'x', args: ['a ${ b', '${'.repeat(4000)] })
    expect(open.read?.toolkit.server).toMatchObject({ args: ['a ${ b', '${'.repeat(4000)] })
    expect(open.warnings).toHaveLength(2)
    expect(one({ command: 'x', args: ['${}'] }).problem?.errors).toMatchObject([{ path: 'args.0' }])
  })

  it('cannot read the environment or the files of the host', () => {
    process.env.LOADOUT_TEST_CANARY = 'canary-value'
    try {
      const names = ['${LOADOUT_TEST_CANARY}', '${env:LOADOUT_TEST_CANARY}', '${HOME}', '${userHome}', '${PATH}']
      const read = readImport({ mcpServers: { a: { command: 'x', args: names, envFile: '/etc/hostname' } } })
      expect(read.entries[0]?.missing).toEqual(['LOADOUT_TEST_CANARY', 'HOME', 'userHome', 'PATH'])
      expect(JSON.stringify(read)).not.toContain('canary-value')
      expect(JSON.stringify(read)).not.toContain(process.env.HOME ?? '/root')
    } finally {
      delete process.env.LOADOUT_TEST_CANARY
    }
  })
})
