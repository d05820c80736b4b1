import { createServices } from '@loadout/core/services'
import { describe, expect, it } from 'vitest'
import { createApp } from '../../src/http/app.ts'

const FILES = { command: 'npx', args: ['-y', 'server-filesystem', '.'] }
const GITHUB = { type: 'http', url: 'https://a.example/mcp', headers: { Authorization: 'Bearer ${GITHUB_TOKEN}' } }
const CONFIG = { mcpServers: { files: FILES, github: GITHUB } }

function appFor() {
  const host = createServices()
  const app = createApp({
    host,
    authenticate: (request) => ({ kind: 'session', userId: request.headers.get('x-user') ?? 'ann' }),
  })
  const requestAs = (user: string) => async (method: string, path: string, body?: unknown) => {
    const answer = await app.request(`/api/mcp${path}`, {
      method,
      headers: { 'x-user': user, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    return { status: answer.status, body: await answer.json() }
  }
  const request = requestAs('ann')
  const ids = async () => (await request('GET', '')).body.toolkits.map((kit: { id: string }) => kit.id).sort()
  return { host, request, requestAs, ids }
}

const statuses = ({ body }: { body: { entries: Array<{ name: string; status: string }> } }) =>
  Object.fromEntries(body.entries.map(({ name, status }) => [name, status]))

describe('POST /api/mcp/import', () => {
  it('accepts the config itself and reports the result of each entry', async () => {
    const { request, ids } = appFor()
    const answer = await request('POST', '/import', { ...CONFIG, servers: { odd: { type: 'pigeon' } } })
    expect(answer.status).toBe(200)
    expect(answer.body).toMatchObject({
      shape: 'mcpServers',
      entries: [
        { name: 'files', id: 'files', status: 'added', inputs: [], warnings: [] },
        {
          name: 'github',
          status: 'needs-input',
          inputs: [{ name: 'GITHUB_TOKEN', secret: true, places: ['headers.Authorization'] }],
        },
        { name: 'odd', status: 'rejected', errors: [{ path: 'type' }] },
      ],
    })
    expect(await ids()).toEqual(['files'])
    expect(statuses(await request('POST', '/import', CONFIG))).toEqual({ files: 'updated', github: 'needs-input' })
  })

  it('previews without writing, by the body, beside the config or by the query', async () => {
    const { request, ids } = appFor()
    const ways: Array<[path: string, body: object]> = [
      ['/import?preview=true', CONFIG],
      ['/import', { config: CONFIG, preview: true }],
      ['/import', { ...CONFIG, preview: true }],
      ['/import?preview=true', { text: JSON.stringify(CONFIG), preview: false }],
    ]
    for (const [path, body] of ways)
      expect(statuses(await request('POST', path, body))).toEqual({ files: 'added', github: 'needs-input' })
    expect(await ids()).toEqual([])
  })

  it('accepts values and never returns them', async () => {
    const { request, host } = appFor()
    const body = { config: CONFIG, values: { GITHUB_TOKEN: 's3cret-value' }, only: ['github'] }
    const answer = await request('POST', '/import', body)
    expect(statuses(answer)).toEqual({ github: 'added' })
    expect(JSON.stringify(answer.body)).not.toContain('s3cret-value')
    const listed = await request('GET', '')
    expect(JSON.stringify(listed.body)).not.toContain('s3cret-value')
    const { uscoId } = await host.toolkits.find('ann', 'github')
    expect(await host.credentials.open({ userId: 'ann', toolkit: uscoId })).toEqual({
      'headers.Authorization': 'Bearer s3cret-value',
    })
  })

  it('discovers the tools of the new toolkits in the background', async () => {
    const { request, host } = appFor()
    await request('POST', '/import', { files: FILES })
    const looked = async () => (await host.toolkits.find('ann', 'files')).row.introspectionStatus
    await expect.poll(looked).toBe('error')
  })

  it('accepts text with comments and reports the line of a syntax error', async () => {
    const { request } = appFor()
    const text = '// mine\n{ "servers": { "files": { "command": "x" } }, }'
    expect(statuses(await request('POST', '/import', { text }))).toEqual({ files: 'added' })
    const wrong = await request('POST', '/import', { text: '{\n "servers": [}' })
    expect(wrong).toMatchObject({
      status: 400,
      body: { code: 'invalid-json', detail: expect.stringContaining('line 2') },
    })
  })

  it('accepts any server name in a bare map', async () => {
    const { request } = appFor()
    const answer = await request('POST', '/import', { values: FILES, only: FILES, preview: FILES })
    expect(statuses(answer)).toEqual({ values: 'added', only: 'added', preview: 'added' })
  })

  const BAD: Record<string, [body: unknown, status: number]> = {
    nothing: [{}, 422],
    'a list': [[], 422],
    'values that are no texts': [{ config: CONFIG, values: { A: {} } }, 422],
    'an unknown option': [{ config: CONFIG, dryRun: true }, 422],
    'a preview that is no switch': [{ ...CONFIG, preview: 'yes' }, 422],
    'a prototype key': ['{"mcpServers":{"__proto__":{"command":"x"}}}', 422],
    'a prototype key in a text': [{ text: '{"mcpServers":{"__proto__":{"command":"x"}}}' }, 422],
    'a pit in a text': [{ text: '['.repeat(100_000) }, 422],
    '10,000 entries': [Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`s${i}`, FILES])), 422],
    'a text over the limit': [{ text: ' '.repeat(1024 * 1024 + 1) }, 413],
  }
  for (const [name, [body, status]] of Object.entries(BAD))
    it(`returns ${status} and stores nothing for ${name}`, async () => {
      const { request, ids } = appFor()
      const answer = await request('POST', '/import', body)
      expect([answer.status, typeof answer.body.code]).toEqual([status, 'string'])
      expect(await ids()).toEqual([])
    })

  it('never returns the environment of the server', async () => {
    process.env.LOADOUT_TEST_CANARY = 'canary-value'
    try {
      const { request } = appFor()
      const args = ['${LOADOUT_TEST_CANARY}', '${env:LOADOUT_TEST_CANARY}']
      const answer = await request('POST', '/import', { a: { command: 'x', args } })
      expect(answer.body.entries[0]).toMatchObject({ status: 'needs-input', missing: ['LOADOUT_TEST_CANARY'] })
      expect(JSON.stringify(answer.body)).not.toContain('canary-value')
    } finally {
      delete process.env.LOADOUT_TEST_CANARY
    }
  })
})

describe('GET /api/mcp/export', () => {
  it("returns the caller's own toolkits, with placeholders", async () => {
    const { request, requestAs, host } = appFor()
    await host.toolkits.register({ name: 'global', ...FILES }, { tier: 'app' })
    await request('POST', '/import', { config: CONFIG, values: { GITHUB_TOKEN: 's3cret-value' } })
    expect((await request('GET', '/export')).body).toEqual({
      mcpServers: {
        files: FILES,
        github: { type: 'http', url: GITHUB.url, headers: { Authorization: '${GITHUB_AUTHORIZATION}' } },
      },
    })
    expect((await request('GET', '/export?format=vscode')).body).toMatchObject({
      inputs: [{ id: 'GITHUB_AUTHORIZATION', type: 'promptString', password: true }],
      servers: { github: { headers: { Authorization: '${input:GITHUB_AUTHORIZATION}' } } },
    })
    expect((await requestAs('bob')('GET', '/export')).body).toEqual({ mcpServers: {} })
    expect((await request('GET', '/export?format=toml')).status).toBe(422)
  })
})
