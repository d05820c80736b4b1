import { describe, expect, it } from 'vitest'
import type { Toolkit } from '../../../lib/api.ts'
import { bodyOf, draftOf, emptyDraft, newSecret } from './draft.ts'

const toolkitWith = (server: Toolkit['server']): Toolkit => ({
  id: 'notes',
  uscoId: 'usco_1',
  name: 'Notes',
  tier: 'user',
  readOnly: false,
  enabled: true,
  server,
  secretFields: [],
  options: {
    deferLoading: true,
    allowedCallers: ['direct'],
    include: [],
    exclude: [],
    overrides: {},
    timeouts: {},
    shared: false,
    untrusted: false,
  },
  state: { status: 'disconnected' },
  tools: [],
  toolCount: 0,
  tokens: 0,
  setAside: [],
})

const STDIO = {
  type: 'stdio',
  command: 'npx',
  args: ['-y', 'notes'],
  env: { TOKEN: '${secret:env.TOKEN}', EMPTY: '' },
  cwd: '/srv',
}

describe('a toolkit draft', () => {
  it('sends the protocol when it was changed', () => {
    const legacy = toolkitWith(STDIO)
    legacy.options.protocol = 'legacy'
    const draft = draftOf(legacy)
    expect(draft.options.protocol).toBe('legacy')
    expect(draftOf(toolkitWith(STDIO)).options.protocol).toBe('auto')
    const now = { ...draft, options: { ...draft.options, protocol: 'auto' as const } }
    expect(bodyOf(now)).toMatchObject({ protocol: 'auto' })
    expect(bodyOf(draft)).not.toHaveProperty('protocol')
  })

  it('is sent back unchanged if nothing is edited', () => {
    const servers: Toolkit['server'][] = [
      STDIO,
      {
        type: 'sse',
        url: 'https://x.example/sse?key=${secret:url.0}',
        headers: { 'X-A': '${secret:headers.X-A}' },
        auth: { type: 'bearer', token: '${secret:auth.token}' },
      },
      {
        type: 'http',
        url: 'https://x.example/mcp',
        headers: {},
        auth: { type: 'oauth', clientId: 'me', clientSecret: '${secret:auth.clientSecret}', scopes: ['a', 'b'] },
      },
      {
        type: 'http',
        url: 'https://x.example/mcp',
        headers: {},
        auth: { type: 'headers', headers: { 'X-Key': '${secret:auth.headers.X-Key}' } },
      },
      { type: 'http', url: 'https://x.example/mcp', headers: {}, auth: { type: 'none' } },
    ]
    servers.push({ ...STDIO, hosts: ['api.example.com'] })
    servers.push({ type: 'stdio', template: 'github', values: { token: '${secret:values.token}' } })
    for (const server of servers) expect(bodyOf(draftOf(toolkitWith(server)))).toEqual({ name: 'Notes', server })
  })

  it('sends only the changed options', () => {
    const draft = draftOf(toolkitWith(STDIO))
    const options = { ...draft.options, exclude: 'delete_*\n\n drop_* ', callMs: '2.5' }
    expect(bodyOf({ ...draft, options })).toEqual({
      name: 'Notes',
      server: STDIO,
      exclude: ['delete_*', 'drop_*'],
      timeouts: { callMs: 2500 },
    })
    const direct = { ...draft.options, callers: 'both' as const, untrusted: true }
    expect(bodyOf({ ...draft, options: direct })).toMatchObject({ allowedCallers: ['direct', 'code'], untrusted: true })
  })

  it('keeps an argument with a line break until the arguments are edited', () => {
    const args = ['-c', 'import os\nprint(os.name)']
    const draft = draftOf(toolkitWith({ ...STDIO, args }))
    expect(bodyOf({ ...draft, command: 'python' }).server).toMatchObject({ args })
    expect(bodyOf({ ...draft, args: '-m\n\n  notes ' }).server).toMatchObject({ args: ['-m', 'notes'] })
  })

  it('sends a replaced secret and omits a removed one', () => {
    const draft = draftOf(toolkitWith(STDIO))
    const replaced = draft.env.map((row) => ({ ...row, value: { ...row.value, replaced: true, text: 'new' } }))
    expect(bodyOf({ ...draft, env: replaced }).server).toMatchObject({ env: { TOKEN: 'new', EMPTY: 'new' } })
    expect(bodyOf({ ...draft, env: [] }).server).toMatchObject({ env: {} })
  })

  it('drops empty rows and fields of the other transport', () => {
    const row = { key: 0, name: ' ', value: newSecret() }
    const body = bodyOf({
      ...emptyDraft('stdio'),
      name: ' fs ',
      command: ' npx ',
      env: [row],
      url: 'https://x.example',
    })
    expect(body).toEqual({ name: 'fs', server: { type: 'stdio', command: 'npx', args: [], env: {} } })
  })

  it('reads a server with an unexpected shape without an error', () => {
    const draft = draftOf(toolkitWith({ type: 'custom', env: null, args: 'x', auth: 3, url: ['y'] }))
    const { options, storedOptions, ...rest } = emptyDraft('stdio')
    expect(draft).toMatchObject({ ...rest, name: 'Notes' })
    expect([draft.options, draft.storedOptions]).toEqual(
      [options, storedOptions].map((one) => ({ ...one, callers: 'direct' })),
    )
  })
})
