import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createServices, type HostServices } from '../host/create-services.ts'
import type { JsonObject } from '../schema/json.ts'
import type { Toolkit } from '../schema/toolkit/toolkit.ts'
import { exportToolkits } from './export-toolkits.ts'
import { nameSecrets } from './secrets/name-secrets.ts'
import { fillSecrets } from './secrets/secrets.ts'
import type { StoredToolkit } from './stored-toolkit.ts'

const ann = { tier: 'user', userId: 'ann' } as const

async function register(host: HostServices, records: readonly object[]): Promise<readonly StoredToolkit[]> {
  for (const record of records) await host.toolkits.register(record, ann)
  return host.toolkits.list('ann')
}

const secretsOf = (host: HostServices, { uscoId }: StoredToolkit) =>
  host.credentials.open({ userId: 'ann', toolkit: uscoId })

/** The toolkits with their secrets filled in, as for a connection. */
async function wholeToolkits(host: HostServices): Promise<Record<string, Toolkit>> {
  const all = await Promise.all(
    (await host.toolkits.list('ann')).map(async (stored) => {
      const server = fillSecrets(stored.toolkit.server, await secretsOf(host, stored))
      return [stored.toolkit.id, { ...stored.toolkit, server }] as const
    }),
  )
  return Object.fromEntries(all)
}

/** The values that an export asks for. */
async function valuesOf(host: HostServices): Promise<Record<string, string>> {
  const toolkits = await host.toolkits.list('ann')
  const names = nameSecrets(toolkits)
  const pairs = await Promise.all(
    toolkits.map(async (stored) =>
      Object.entries(await secretsOf(host, stored)).map(([field, value]) => [
        names.nameOf(stored.uscoId, field),
        value,
      ]),
    ),
  )
  return Object.fromEntries(pairs.flat())
}

const SECRET = 'sk-live-4f9aB2c8D1e7F6a5'

describe('an export', () => {
  it('contains templates and hosts and imports as the same toolkits', async () => {
    const [host, other] = [createServices(), createServices()]
    const toolkits = await register(host, [
      { name: 'boxed', command: 'npx', args: ['x'], hosts: ['api.example.com'] },
      { name: 'prepared', template: 'github', values: { token: SECRET, org: 'acme' } },
    ])
    const exported = exportToolkits(toolkits)
    expect(exported.mcpServers).toEqual({
      boxed: { command: 'npx', args: ['x'], hosts: ['api.example.com'] },
      prepared: { template: 'github', values: { token: '${PREPARED_TOKEN}', org: '${PREPARED_ORG}' } },
    })
    await other.imports.apply(exported, ann, { values: await valuesOf(host) })
    const servers = (all: Record<string, Toolkit>) => Object.values(all).map(({ server }) => server)
    expect(servers(await wholeToolkits(other))).toEqual(servers(await wholeToolkits(host)))
  })

  it('is a config with readable placeholders', async () => {
    const host = createServices()
    const toolkits = await register(host, [
      {
        name: 'github',
        command: 'npx',
        args: ['x', '--api-key', SECRET, `--token=${SECRET}`],
        env: { GITHUB_TOKEN: 'a' },
      },
      { name: 'Linear', url: `https://a.example/mcp?key=${SECRET}`, headers: { 'X-Api-Key': 'b' } },
      { name: 'other', command: 'y', env: { SHARED: '1' }, enabled: false },
      { name: 'another', command: 'y', env: { SHARED: '2' } },
      { name: 'signed', url: 'https://b.example', auth: { type: 'bearer', token: SECRET } },
      { name: 'oauth', type: 'sse', url: 'https://c.example', oauth: { clientId: 'c', scope: 'a b' } },
      { name: 'mine', tools: [{ name: 't', inputSchema: { type: 'object' }, execute: 'return 1' }] },
    ])
    expect(exportToolkits(toolkits)).toEqual({
      mcpServers: {
        github: {
          command: 'npx',
          args: ['x', '--api-key', '${GITHUB_API_KEY}', '--token=${GITHUB_TOKEN_2}'],
          env: { GITHUB_TOKEN: '${GITHUB_TOKEN}' },
        },
        linear: {
          type: 'http',
          url: 'https://a.example/mcp?key=${LINEAR_KEY}',
          headers: { 'X-Api-Key': '${LINEAR_X_API_KEY}' },
          loadout: { name: 'Linear' },
        },
        other: { command: 'y', env: { SHARED: '${OTHER_SHARED}' }, disabled: true },
        another: { command: 'y', env: { SHARED: '${ANOTHER_SHARED}' } },
        signed: {
          type: 'http',
          url: 'https://b.example',
          headers: { Authorization: 'Bearer ${SIGNED_TOKEN}' },
          loadout: { auth: 'bearer' },
        },
        oauth: { type: 'sse', url: 'https://c.example', oauth: { clientId: 'c', scopes: 'a b' } },
      },
      skipped: [{ id: 'mine', name: 'mine', reason: expect.stringContaining('custom') }],
    })
  })

  it('contains password inputs in the VS Code format', async () => {
    const host = createServices()
    const toolkits = await register(host, [{ name: 'github', command: 'npx', env: { GITHUB_TOKEN: 'a' } }])
    expect(exportToolkits(toolkits, { format: 'vscode' })).toEqual({
      inputs: [{ type: 'promptString', id: 'GITHUB_TOKEN', description: 'env.GITHUB_TOKEN of github', password: true }],
      servers: { github: { type: 'stdio', command: 'npx', env: { GITHUB_TOKEN: '${input:GITHUB_TOKEN}' } } },
    })
  })

  it('keeps a text that looks like a variable apart from a secret with the same name', async () => {
    const host = createServices()
    const toolkits = await register(host, [{ name: 'a', command: 'x', args: ['${TOKEN}'], env: { TOKEN: 's' } }])
    expect(exportToolkits(toolkits).mcpServers?.a).toMatchObject({ args: ['${TOKEN}'], env: { TOKEN: '${A_TOKEN}' } })
  })

  it('contains the auth settings when headers cannot express them', async () => {
    const host = createServices()
    const toolkits = await register(host, [
      { name: 'a', url: 'https://a.example', headers: { authorization: 'x' }, auth: { type: 'bearer', token: 'y' } },
    ])
    expect(exportToolkits(toolkits).mcpServers?.a).toMatchObject({
      headers: { authorization: '${A_AUTHORIZATION}' },
      auth: { type: 'bearer', token: '${A_TOKEN}' },
    })
  })
})

const plain = fc.stringMatching(/^[a-z0-9 ./_-]{0,12}$/)
const word = fc.stringMatching(/^[A-Za-z][A-Za-z0-9_-]{0,10}$/)
const secretText = fc.oneof(plain, fc.constant(SECRET), fc.constant('a}b'), fc.constant('$x ${y'))
const argument = fc.oneof(
  plain,
  fc.constant(SECRET),
  fc.constant(`--token=${SECRET}`),
  fc.constant('--password'),
  fc.constant(`postgres://u:${SECRET}@h.example/db`),
)
const headers = fc.dictionary(fc.constantFrom('Authorization', 'X-Key', 'x-other', 'Accept'), secretText, {
  maxKeys: 3,
})
const stdio = fc.record(
  {
    command: word,
    args: fc.array(argument, { maxLength: 4 }),
    env: fc.dictionary(fc.constantFrom('TOKEN', 'API_KEY', 'a.b', 'ODD NAME'), secretText, { maxKeys: 3 }),
    cwd: word,
  },
  { requiredKeys: ['command'] },
)
const remote = fc.record(
  {
    type: fc.constantFrom('http', 'sse'),
    url: fc.constantFrom(
      'https://a.example/mcp',
      `https://u:${SECRET}@b.example/x?api_key=${SECRET}&q=1`,
      `https://c.example/${SECRET}0123456789/mcp`,
    ),
    headers,
    auth: fc.oneof(
      fc.constant({ type: 'none' }),
      fc.record({ type: fc.constant('bearer'), token: fc.constantFrom(SECRET, 't', 'Bearer x') }),
      fc.record({ type: fc.constant('headers'), headers }),
      fc.record(
        {
          type: fc.constant('oauth'),
          clientId: word,
          clientSecret: word,
          scopes: fc.array(fc.constantFrom('read', 'a b', 'x:y'), { maxLength: 3 }),
        },
        { requiredKeys: ['type'] },
      ),
    ),
  },
  { requiredKeys: ['type', 'url'] },
)
const options = fc.record(
  {
    enabled: fc.boolean(),
    deferLoading: fc.boolean(),
    allowedCallers: fc.constantFrom(['direct'], ['code'], ['direct', 'code']),
    include: fc.array(word, { maxLength: 2 }),
    exclude: fc.array(word, { maxLength: 2 }),
    overrides: fc.dictionary(word, fc.record({ description: fc.constantFrom('d', 'a ${b} c') }), { maxKeys: 2 }),
    timeouts: fc.record({ callMs: fc.integer({ min: 1, max: 1000 }) }),
    protocol: fc.constantFrom('legacy', 'modern'),
    logLevel: fc.constantFrom('debug', 'error'),
    account: fc.constantFrom('work', '${home}'),
    tools: fc.constant([{ name: 't', inputSchema: { type: 'object' } }]),
  },
  { requiredKeys: [] },
)
const toolkits = fc.uniqueArray(
  fc
    .tuple(fc.constantFrom('a', 'a-', 'My Kit', 'github', 'Ünïcode!', '7'), fc.oneof(stdio, remote), options)
    .map(([name, server, rest]): JsonObject => ({ name, ...server, ...rest })),
  { maxLength: 4, selector: (record) => record.name },
)

describe('an exported and reimported config', () => {
  for (const format of ['mcpServers', 'vscode'] as const)
    it(`yields the same toolkits when its values are given (${format})`, async () => {
      await fc.assert(
        fc.asyncProperty(toolkits, async (records) => {
          const host = createServices()
          const config = exportToolkits(await register(host, records), { format })
          expect(JSON.stringify(config)).not.toContain(SECRET.slice(8))
          const values = await valuesOf(host)
          const before = await wholeToolkits(host)

          const other = createServices()
          const report = await other.imports.apply(JSON.stringify(config), ann, { values })
          expect(report.entries.map(({ status, reason }) => [status, reason])).toEqual(
            records.map(() => ['added', undefined]),
          )
          expect(await wholeToolkits(other)).toEqual(before)

          const again = await host.imports.apply(config, ann, { values })
          expect(again.entries.every((entry) => entry.status === 'updated')).toBe(true)
          expect(await wholeToolkits(host)).toEqual(before)
        }),
        { numRuns: process.env.LOADOUT_PROVE === 'full' ? 300 : 30 },
      )
    })
})
