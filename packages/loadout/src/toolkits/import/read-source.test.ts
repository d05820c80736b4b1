/** Texts from READMEs of published servers, and the expected configs. */
import { describe, expect, it } from 'vitest'
import type { HostError } from '../../errors.ts'
import { readImport } from './read-import.ts'
import { readSource } from './read-source.ts'

const read = async (text: string, values?: Record<string, string>) => readImport(await readSource(text), values)
const entryOf = async (text: string, values?: Record<string, string>) => {
  const [entry] = (await read(text, values)).entries
  if (!entry) throw new Error('There is no entry.')
  return entry
}
const serverOf = async (text: string, values?: Record<string, string>) => {
  const { read: found, problem, missing } = await entryOf(text, values)
  return found?.toolkit.server ?? problem ?? { missing }
}
const refused = (text: string): Promise<HostError> =>
  read(text).then(
    () => Promise.reject(new Error('It was read.')),
    (error) => error as HostError,
  )

/** The text, the name of its server and the server that it becomes. */
const SAMPLES: Record<string, [text: string, name: string, server: object]> = {
  'a URL': ['https://mcp.example/mcp', 'mcp.example', { type: 'http', url: 'https://mcp.example/mcp' }],
  'an npx line': [
    'npx -y @modelcontextprotocol/server-memory',
    'server-memory',
    { type: 'stdio', command: 'npx', args: ['-y', '@modelcontextprotocol/server-memory'] },
  ],
  'a line with a prompt, variables and quotes': [
    '$ LOG=debug npx -y some-mcp@1.2.3 --title "two words"',
    'some-mcp',
    { command: 'npx', args: ['-y', 'some-mcp@1.2.3', '--title', 'two words'], env: { LOG: 'debug' } },
  ],
  'a line of Windows': ['cmd /c npx -y some-mcp', 'some-mcp', { command: 'npx', args: ['-y', 'some-mcp'] }],
  'a docker line over several lines': [
    'docker run -i --rm \\\n  -e LOG_LEVEL=info \\\n  ghcr.io/acme/notes-mcp:1.2 stdio',
    'notes-mcp',
    { command: 'docker', args: ['run', '-i', '--rm', '-e', 'LOG_LEVEL=info', 'ghcr.io/acme/notes-mcp:1.2', 'stdio'] },
  ],
  'claude mcp add with a command': [
    'claude mcp add files -s user -e ROOT=/data -- npx -y files-mcp --read-only',
    'files',
    { type: 'stdio', command: 'npx', args: ['-y', 'files-mcp', '--read-only'], env: { ROOT: '/data' } },
  ],
  'claude mcp add without a divider': [
    'claude mcp add playwright npx @playwright/mcp@latest',
    'playwright',
    { command: 'npx', args: ['@playwright/mcp@latest'] },
  ],
  'claude mcp add with a URL': [
    'claude mcp add --transport http notes https://notes.example/mcp --header "X-Team: blue"',
    'notes',
    { type: 'http', url: 'https://notes.example/mcp', headers: { 'X-Team': 'blue' } },
  ],
  'claude mcp add-json': [
    `claude mcp add-json notes '{"type":"sse","url":"https://notes.example/sse"}' -s user`,
    'notes',
    { type: 'sse', url: 'https://notes.example/sse' },
  ],
  'codex mcp add': ['codex mcp add notes -- npx -y notes-mcp', 'notes', { command: 'npx', args: ['-y', 'notes-mcp'] }],
  'codex mcp add --url': [
    'codex mcp add notes --url https://notes.example/mcp',
    'notes',
    { type: 'http', url: 'https://notes.example/mcp' },
  ],
  'gemini mcp add': [
    'gemini mcp add --transport http notes https://notes.example/mcp',
    'notes',
    { type: 'http', url: 'https://notes.example/mcp' },
  ],
  'code --add-mcp': [
    `code --add-mcp '{"name":"notes","command":"npx","args":["-y","notes-mcp"]}'`,
    'notes',
    { command: 'npx', args: ['-y', 'notes-mcp'] },
  ],
  'code --add-mcp of a Windows shell': [
    'code --add-mcp "{\\"name\\":\\"notes\\",\\"url\\":\\"https://notes.example/mcp\\"}"',
    'notes',
    { type: 'http', url: 'https://notes.example/mcp' },
  ],
  'an mcp-remote line': [
    'npx -y mcp-remote https://notes.example/sse --transport sse-only --header "X-Team:blue"',
    'notes.example',
    { type: 'sse', url: 'https://notes.example/sse', headers: { 'X-Team': 'blue' } },
  ],
  'a link of VS Code': [
    `vscode:mcp/install?${encodeURIComponent('{"name":"notes","command":"npx","args":["notes-mcp"]}')}`,
    'notes',
    { command: 'npx', args: ['notes-mcp'] },
  ],
  'a link of Cursor': [
    `cursor://anysphere.cursor-deeplink/mcp/install?name=notes&config=${btoa('{"url":"https://notes.example/mcp"}')}`,
    'notes',
    { type: 'http', url: 'https://notes.example/mcp' },
  ],
  'a fenced code block with comments and trailing commas': [
    '```jsonc\n{\n  // mine\n  "mcpServers": { "notes": { "command": "notes-mcp", "args": [], }, },\n}\n```',
    'notes',
    { command: 'notes-mcp' },
  ],
  'a fragment without outer braces': [
    '"mcpServers": {\n  "notes": { "command": "npx", "args": ["-y", "notes-mcp"] }\n},',
    'notes',
    { command: 'npx', args: ['-y', 'notes-mcp'] },
  ],
  'a fragment with one server': ['"notes": { "command": "notes-mcp" }', 'notes', { command: 'notes-mcp' }],
  'settings of VS Code': [
    '{ "mcp": { "inputs": [], "servers": { "notes": { "type": "stdio", "command": "notes-mcp" } } } }',
    'notes',
    { command: 'notes-mcp' },
  ],
  'a devcontainer': [
    '{ "customizations": { "vscode": { "mcp": { "servers": { "notes": { "command": "notes-mcp" } } } } } }',
    'notes',
    { command: 'notes-mcp' },
  ],
  'OpenCode, version 1': [
    '{ "$schema": "https://opencode.ai/config.json", "mcp": { "notes": { "type": "local", "command": ["npx", "-y", "notes-mcp"], "enabled": true, "environment": { "LOG": "debug" } } } }',
    'notes',
    { type: 'stdio', command: 'npx', args: ['-y', 'notes-mcp'], env: { LOG: 'debug' } },
  ],
  'OpenCode, version 2, remote': [
    '{ "mcp": { "servers": { "notes": { "type": "remote", "url": "https://notes.example/mcp" } } } }',
    'notes',
    { type: 'http', url: 'https://notes.example/mcp' },
  ],
  'Codex TOML': [
    '[mcp_servers.notes]\ncommand = "npx"\nargs = ["-y", "notes-mcp"]\nstartup_timeout_sec = 20\n\n[mcp_servers.notes.env]\nLOG = "debug"\n',
    'notes',
    { command: 'npx', args: ['-y', 'notes-mcp'], env: { LOG: 'debug' } },
  ],
  'Goose YAML': [
    'extensions:\n  notes:\n    enabled: true\n    type: stdio\n    name: notes\n    cmd: npx\n    args: [-y, notes-mcp]\n    envs: { LOG: debug }\n    timeout: 300\n',
    'notes',
    { command: 'npx', args: ['-y', 'notes-mcp'], env: { LOG: 'debug' } },
  ],
  'Goose YAML, remote': [
    'extensions:\n  notes: {enabled: true, type: streamable_http, name: notes, uri: https://notes.example/mcp}\n',
    'notes',
    { type: 'http', url: 'https://notes.example/mcp' },
  ],
  'Continue YAML, a list': [
    'mcpServers:\n  - name: notes\n    type: streamable-http\n    url: https://notes.example/mcp\n    requestOptions: { headers: { X-Team: blue } }\n',
    'notes',
    { type: 'http', url: 'https://notes.example/mcp', headers: { 'X-Team': 'blue' } },
  ],
  'VS Code with comments and an input in the environment': [
    '// .vscode/mcp.json\n{\n  "inputs": [{ "id": "log", "type": "promptString", "description": "Log level", "default": "debug" }],\n  /* one */ "servers": { "notes": { "type": "stdio", "command": "npx", "args": ["-y", "notes-mcp",], "env": { "LOG": "${input:log}" }, }, },\n}',
    'notes',
    { type: 'stdio', command: 'npx', args: ['-y', 'notes-mcp'], env: { LOG: 'debug' } },
  ],
  'VS Code, remote': [
    '{ "servers": { "notes": { "type": "http", "url": "https://notes.example/mcp", "headers": { "X-Team": "blue" } } } }',
    'notes',
    { type: 'http', url: 'https://notes.example/mcp', headers: { 'X-Team': 'blue' } },
  ],
  'Claude Desktop with a command of Windows': [
    '{ "mcpServers": { "notes": { "command": "cmd", "args": ["/c", "npx", "-y", "notes-mcp"] } } }',
    'notes',
    { type: 'stdio', args: expect.arrayContaining(['-y', 'notes-mcp']) },
  ],
  'Cursor, remote without a type': [
    '{ "mcpServers": { "notes": { "url": "https://notes.example/mcp", "headers": { "X-Team": "blue" } } } }',
    'notes',
    { type: 'http', url: 'https://notes.example/mcp', headers: { 'X-Team': 'blue' } },
  ],
  'Cursor with docker': [
    '{ "mcpServers": { "notes": { "command": "docker", "args": ["run", "--rm", "-i", "-e", "LOG", "acme/notes-mcp"], "env": { "LOG": "debug" } } } }',
    'notes',
    { command: 'docker', args: ['run', '--rm', '-i', '-e', 'LOG', 'acme/notes-mcp'], env: { LOG: 'debug' } },
  ],
  'Zed settings with comments, other settings and a trailing comma': [
    '// Zed settings\n{\n  "theme": "One Dark", // mine\n  "context_servers": {\n    "notes": { "command": "npx", "args": ["-y", "notes-mcp"], "env": { "LOG": "debug" }, },\n  },\n}\n',
    'notes',
    { command: 'npx', args: ['-y', 'notes-mcp'], env: { LOG: 'debug' } },
  ],
  'Zed, remote': [
    '{ "context_servers": { "notes": { "url": "https://notes.example/mcp", "headers": { "X-Team": "blue" } } } }',
    'notes',
    { type: 'http', url: 'https://notes.example/mcp', headers: { 'X-Team': 'blue' } },
  ],
  'an npx line with several variables': [
    "LOG=debug TEAM='two words' npx --yes @acme/notes-mcp@latest --stdio",
    'notes-mcp',
    { command: 'npx', args: ['--yes', '@acme/notes-mcp@latest', '--stdio'], env: { LOG: 'debug', TEAM: 'two words' } },
  ],
  'an npx line with variables over several lines': [
    'LOG=debug \\\nTEAM=blue \\\n  npx -y notes-mcp',
    'notes-mcp',
    { command: 'npx', args: ['-y', 'notes-mcp'], env: { LOG: 'debug', TEAM: 'blue' } },
  ],
  'a uvx line with a source': [
    'uvx --from git+https://git.example/acme/notes notes-mcp --stdio',
    'notes-mcp',
    { command: 'uvx', args: ['--from', 'git+https://git.example/acme/notes', 'notes-mcp', '--stdio'] },
  ],
  'a docker line with a variable before it, a mount and a port': [
    'LOG=debug docker run -i --rm -e LOG -v /srv/notes:/data:ro --network=none acme/notes-mcp',
    'notes-mcp',
    {
      command: 'docker',
      args: ['run', '-i', '--rm', '-e', 'LOG', '-v', '/srv/notes:/data:ro', '--network=none', 'acme/notes-mcp'],
      env: { LOG: 'debug' },
    },
  ],
  'a docker line with a registry, a port and a digest': [
    'docker run -i --rm --env=LOG=debug registry.example:5000/acme/notes-mcp@sha256:0123456789abcdef',
    'notes-mcp',
    { command: 'docker' },
  ],
  Zed: [
    '{ "context_servers": { "notes": { "source": "custom", "command": "notes-mcp", "args": [], "env": {} } } }',
    'notes',
    { command: 'notes-mcp' },
  ],
  'Zed, the older form': [
    '{ "context_servers": { "notes": { "command": { "path": "notes-mcp", "args": ["--stdio"] } } } }',
    'notes',
    { command: 'notes-mcp', args: ['--stdio'] },
  ],
  Amp: [
    '"amp.mcpServers": { "notes": { "command": "npx", "args": ["notes-mcp"] } }',
    'notes',
    { command: 'npx', args: ['notes-mcp'] },
  ],
  'a command with a comment above it': [
    `# For VS Code\ncode --add-mcp '{"name":"notes","command":"npx","args":["notes-mcp"]}'`,
    'notes',
    { command: 'npx', args: ['notes-mcp'] },
  ],
  'a command for each system': [
    '# macOS and Linux\nclaude mcp add notes -- npx -y notes-mcp\n\n# Windows\nclaude mcp add notes -- cmd /c "npx -y notes-mcp"',
    'notes',
    { command: 'npx', args: ['-y', 'notes-mcp'] },
  ],
  'a command after the variables it needs': [
    'export LOG=debug\nexport TITLE="two words"\nnpx -y notes-mcp',
    'notes-mcp',
    { command: 'npx', args: ['-y', 'notes-mcp'], env: { LOG: 'debug', TITLE: 'two words' } },
  ],
  'a command after variables of a Windows prompt': [
    'set "ROOT=C:\\notes\\all"\nset LOG=debug\nnpx -y notes-mcp',
    'notes-mcp',
    { command: 'npx', args: ['-y', 'notes-mcp'], env: { ROOT: 'C:\\notes\\all', LOG: 'debug' } },
  ],
  'a command after variables of PowerShell': [
    '$env:ROOT="C:\\notes\\all"\n$env:LOG = \'debug\'\nnpx -y notes-mcp',
    'notes-mcp',
    { command: 'npx', args: ['-y', 'notes-mcp'], env: { ROOT: 'C:\\notes\\all', LOG: 'debug' } },
  ],
  'JSON with the non-breaking spaces of a web page': [
    '{ "mcpServers": { "notes": {\n \u00a0\u00a0"command": "notes-mcp" } } }',
    'notes',
    { command: 'notes-mcp' },
  ],
  'droid mcp add': [
    'droid mcp add notes https://notes.example/mcp --type http --header "X-Team: blue"',
    'notes',
    { type: 'http', url: 'https://notes.example/mcp', headers: { 'X-Team': 'blue' } },
  ],
  Augment: [
    '"augment.advanced": { "mcpServers": [{ "name": "notes", "command": "npx", "args": ["notes-mcp"] }] }',
    'notes',
    { command: 'npx', args: ['notes-mcp'] },
  ],
  'Goose, without a type': [
    'extensions:\n  notes:\n    command: npx\n    args:\n      - notes-mcp\n',
    'notes',
    { command: 'npx', args: ['notes-mcp'] },
  ],
  'Gemini CLI': [
    '{ "mcpServers": { "notes": { "httpUrl": "https://notes.example/mcp", "headers": { "X-Team": "blue" } } } }',
    'notes',
    { type: 'http', url: 'https://notes.example/mcp', headers: { 'X-Team': 'blue' } },
  ],
}

describe('a pasted text', () => {
  for (const [what, [text, name, server]] of Object.entries(SAMPLES))
    it(`is read: ${what}`, async () => {
      expect(await serverOf(text)).toMatchObject(server)
      expect((await entryOf(text)).read?.toolkit.name).toBe(name)
    })

  it('is refused as a command line with shell syntax, an open quote or no server', async () => {
    for (const text of ['npx a | sh', 'npx a && npx b', 'npx $(id)', 'npx `id`', 'npx a; rm b', "npx 'a"])
      expect((await refused(text)).code).toBe('invalid-input')
    expect((await refused('claude mcp add')).code).toBe('invalid-input')
    expect((await refused('https://user:pass@notes.example/mcp')).message).not.toContain('pass@')
  })

  it('is refused with the reason where it is no format that is known', async () => {
    expect((await refused('{ "mcpServers": ')).code).toBe('invalid-json')
    expect((await refused('just: [some\ntext')).code).toBe('invalid-json')
    expect((await refused('name: notes\nversion: 1\n')).message).toContain('holds no servers')
  })

  it('takes servers of all projects from the user file of Claude Code, and nothing else', async () => {
    const config = {
      mcpServers: { a: { command: 'a' } },
      projects: { '/w': { mcpServers: { b: { command: 'b' } }, history: ['x'] } },
    }
    const { entries, warnings } = await read(JSON.stringify(config))
    expect(entries.map(({ name }) => name)).toEqual(['a', 'b'])
    expect(JSON.stringify({ entries, warnings })).not.toContain('history')
  })

  it('reads `protocol` as the era or, of other apps, as the transport', async () => {
    const toolkitOf = async (record: object) => (await entryOf(JSON.stringify(record))).read?.toolkit
    expect(await toolkitOf({ url: 'https://a.example/mcp', protocol: 'legacy' })).toMatchObject({ protocol: 'legacy' })
    const sse = await toolkitOf({ url: 'https://a.example/sse', protocol: 'sse' })
    expect(sse).toMatchObject({ server: { type: 'sse' } })
    expect(sse).not.toHaveProperty('protocol')
  })

  it('rejects parts of other apps that are no servers, by entry', async () => {
    const { entries } = await read(
      'extensions:\n  memory: {type: builtin, enabled: true}\n  notes: {type: stdio, cmd: notes-mcp}\n',
    )
    expect(entries.map(({ problem, read: found }) => [problem?.code, found?.toolkit.server.type])).toEqual([
      ['invalid-input', undefined],
      [undefined, 'stdio'],
    ])
  })
})

describe('variables of other apps', () => {
  it.each([
    ['Codex', '[mcp_servers.a]\nurl = "https://a.example/mcp"\nbearer_token_env_var = "A_TOKEN"\n', 'A_TOKEN'],
    [
      'Codex headers',
      '[mcp_servers.a]\nurl = "https://a.example/mcp"\nenv_http_headers = { X-Key = "A_KEY" }\n',
      'A_KEY',
    ],
    ['Goose', 'extensions:\n  a: {type: stdio, cmd: a-mcp, env_keys: [A_KEY]}\n', 'A_KEY'],
    [
      'OpenCode',
      '{ "mcp": { "a": { "type": "local", "command": ["a-mcp"], "environment": { "K": "{env:A_KEY}" } } } }',
      'A_KEY',
    ],
    [
      'Continue',
      'mcpServers:\n  - {name: a, url: "https://a.example/mcp", requestOptions: {headers: {X-Key: "${{ secrets.A_KEY }}"}}}\n',
      'A_KEY',
    ],
    [
      'Gemini CLI',
      '{ "mcpServers": { "a": { "httpUrl": "https://a.example/mcp", "headers": { "X-Key": "$A_KEY" } } } }',
      'A_KEY',
    ],
  ])('become inputs: %s', async (_, text, name) => {
    expect((await entryOf(text)).missing).toEqual([name])
    expect(JSON.stringify(await serverOf(text, { [name]: 's3cret-value' }))).toContain('s3cret-value')
  })
})

describe('placeholders', () => {
  const PLACEHOLDERS = [
    'YOUR_API_KEY',
    'your-api-key',
    'your_api_key_here',
    '<token>',
    '<YOUR_TOKEN>',
    '<your api key>',
    'xxx',
    'XXXXXXXX',
    'sk-xxxx',
    'xoxb-...',
    'ghp_xxxxxxxx',
    '...',
    '…',
    'INSERT_KEY',
    'insert your key',
    'REPLACE_ME',
    'changeme',
    'API_KEY',
    'api-key',
    '{{API_KEY}}',
    '[YOUR_KEY]',
    'paste-key-here',
    'KEY_GOES_HERE',
    'ACCESS_TOKEN',
    '***',
  ]
  it.each(PLACEHOLDERS)('turn %s into an input to fill in', async (text) => {
    const entry = await entryOf(JSON.stringify({ mcpServers: { kit: { command: 'kit', env: { KIT_TOKEN: text } } } }))
    expect(entry.missing).toEqual(['KIT_TOKEN'])
    expect(entry.inputs).toMatchObject([{ name: 'KIT_TOKEN', secret: true, places: ['env.KIT_TOKEN'] }])
    expect(entry.warnings.join()).toContain('placeholder')
  })

  it('in headers, URLs, arguments and paths are inputs too', async () => {
    const missing = async (server: object) => (await entryOf(JSON.stringify({ mcpServers: { kit: server } }))).missing
    expect(await missing({ url: 'https://a.example/mcp', headers: { Authorization: 'Bearer YOUR_TOKEN' } })).toEqual([
      'AUTHORIZATION',
    ])
    expect(await missing({ url: 'https://a.example/<tenant id>/mcp' })).toEqual(['TENANT_ID'])
    expect(await missing({ command: 'kit', env: { URL: 'https://your-site.example/' } })).toEqual(['YOUR_SITE'])
    expect(await missing({ command: 'npx', args: ['-y', 'kit', '--api-key', 'YOUR_KEY'] })).toEqual(['API_KEY'])
    expect(await missing({ command: 'npx', args: ['-y', 'kit', '--api-key=<key>'] })).toEqual(['API_KEY'])
    expect(await missing({ command: 'docker', args: ['run', '-e', 'KIT_KEY=your-key', 'kit'] })).toEqual(['KIT_KEY'])
    expect(await missing({ command: 'npx', args: ['-y', 'kit', '/path/to/allowed/dir'] })).toEqual([
      'PATH_TO_ALLOWED_DIR',
    ])
    expect(await missing({ command: 'kit', env: { OPENAI_API_KEY: 'OPENAI_API_KEY' } })).toEqual(['OPENAI_API_KEY'])
  })

  it('in a command line are inputs, not shell syntax', async () => {
    const line = 'claude mcp add kit -e KIT_TOKEN=<TOKEN> -- npx -y kit-mcp'
    expect((await entryOf(line)).missing).toEqual(['KIT_TOKEN'])
    expect((await refused('npx kit-mcp < secrets.txt')).message).toContain('shell syntax')
  })

  it('leaves ordinary values alone', async () => {
    const env = {
      LOG: 'debug',
      MODE: 'stdio',
      URL: 'https://a.example',
      N: '3',
      NAME: 'example',
      KEY: 'sk-live-4f9a8b7c6d5e',
      HERE: '/data',
    }
    const server = { command: 'npx', args: ['-y', '@acme/your-mcp', '--stdio', '.', '/data', '--flag=on'], env }
    const entry = await entryOf(JSON.stringify({ mcpServers: { kit: server } }))
    expect(entry.missing).toEqual([])
    expect(entry.read?.toolkit.server).toMatchObject(server)
  })

  it('with a value given is stored with that value', async () => {
    const text =
      '{ "mcpServers": { "kit": { "url": "https://a.example/mcp", "headers": { "Authorization": "Bearer <token>" } } } }'
    expect(await serverOf(text, { AUTHORIZATION: 'abc' })).toMatchObject({ headers: { Authorization: 'Bearer abc' } })
  })
})
