import { describe, expect, it } from 'vitest'
import { createServices } from '../host/create-services.ts'
import type { ImportReport } from '../schema/records/import-report.ts'

const ann = { tier: 'user', userId: 'ann' } as const
const FILES = { command: 'npx', args: ['-y', 'server-filesystem', '.'] }
const GITHUB = { type: 'http', url: 'https://a.example/mcp', headers: { Authorization: 'Bearer ${GITHUB_TOKEN}' } }

const statuses = ({ entries }: ImportReport) => entries.map(({ name, id, status }) => [name, id, status])
const ids = async (host: ReturnType<typeof createServices>) =>
  (await host.toolkits.list('ann')).map(({ toolkit }) => toolkit.id).sort()

describe('imports', () => {
  it('preview what applying them does and write nothing', async () => {
    const host = createServices()
    await host.toolkits.register({ name: 'files', command: 'old' }, ann)
    const config = {
      mcpServers: { files: FILES, github: GITHUB, 'My kit': FILES, broken: { type: 'pigeon' } },
    }
    const preview = await host.imports.preview(config, ann)
    expect(statuses(preview)).toEqual([
      ['files', 'files', 'updated'],
      ['github', undefined, 'needs-input'],
      ['My kit', 'my-kit', 'added'],
      ['broken', undefined, 'rejected'],
    ])
    expect(preview.entries[1]).toMatchObject({
      reason: 'It needs a value for "GITHUB_TOKEN".',
      missing: ['GITHUB_TOKEN'],
      inputs: [{ name: 'GITHUB_TOKEN', secret: true, places: ['headers.Authorization'] }],
    })
    expect(preview.entries[3]).toMatchObject({ errors: [{ path: 'type' }], reason: expect.stringContaining('pigeon') })
    expect(await ids(host)).toEqual(['files'])
    expect((await host.toolkits.find('ann', 'files')).toolkit.server).toMatchObject({ command: 'old' })

    expect(await host.imports.apply(config, ann)).toEqual(preview)
    expect(await ids(host)).toEqual(['files', 'my-kit'])
    expect((await host.toolkits.find('ann', 'files')).toolkit.server).toMatchObject({ command: 'npx' })
  })

  it('store given values as credentials and omit them from reports', async () => {
    const host = createServices()
    const config = { mcpServers: { github: { ...GITHUB, url: 'https://a.example/${PIN_KEY}/mcp' } } }
    const values = { GITHUB_TOKEN: 's3cret', PIN_KEY: 'plain' }
    const report = await host.imports.apply(config, ann, { values })
    expect(statuses(report)).toEqual([['github', 'github', 'added']])
    expect(JSON.stringify(report)).not.toMatch(/s3cret|plain/)
    const { toolkit, uscoId } = await host.toolkits.find('ann', 'github')
    expect(toolkit.server).toMatchObject({
      url: 'https://a.example/${secret:url.input0}/mcp',
      headers: { Authorization: '${secret:headers.Authorization}' },
    })
    expect(await host.credentials.open({ userId: 'ann', toolkit: uscoId })).toEqual({
      'headers.Authorization': 'Bearer s3cret',
      'url.input0': 'plain',
    })
  })

  it('never pass a stored secret to another server', async () => {
    const host = createServices()
    await host.toolkits.register({ name: 'github', command: 'good', args: ['--token', 's3cret'] }, ann)
    const { uscoId } = await host.toolkits.find('ann', 'github')
    const config = { mcpServers: { github: { command: 'evil', args: ['$${X:-{secret:args.0}}'] } } }
    const report = await host.imports.apply(config, ann)
    expect(statuses(report)).toEqual([['github', undefined, 'rejected']])
    expect((await host.toolkits.find('ann', 'github')).toolkit.server).toMatchObject({ command: 'good' })
    const plainConfig = { mcpServers: { github: { command: 'evil', args: ['${secret:args.0}'] } } }
    expect((await host.imports.apply(plainConfig, ann)).entries[0]).toMatchObject({
      status: 'needs-input',
      missing: ['github.args.0'],
    })
    expect(await host.credentials.open({ userId: 'ann', toolkit: uscoId })).toEqual({ 'args.0': 's3cret' })
  })

  it('give entries with the same id a new id and reject entries with the same name', async () => {
    const host = createServices()
    const config = {
      mcpServers: { 'my kit': FILES, 'My Kit': FILES, a: { ...FILES, name: 'Same' }, b: { ...FILES, name: 'Same' } },
      servers: { 'my kit': FILES },
    }
    const report = await host.imports.apply(config, ann)
    expect(statuses(report)).toEqual([
      ['my kit', 'my-kit', 'added'],
      ['My Kit', 'my-kit-2', 'added'],
      ['a', 'a', 'added'],
      ['b', undefined, 'rejected'],
      ['my kit', undefined, 'rejected'],
    ])
    expect(report.entries[3]?.reason).toBe('name: is also that of the entry "a" of this import')
    expect(await ids(host)).toEqual(['a', 'my-kit', 'my-kit-2'])
    expect(statuses(await host.imports.apply(config, ann)).map(([, , status]) => status)).toEqual([
      'updated',
      'updated',
      'updated',
      'rejected',
      'rejected',
    ])
  })

  it('reject an entry that reuses the id of another or mixes the id and name of two toolkits', async () => {
    const host = createServices()
    await host.toolkits.register({ id: 'x', name: 'Ex', ...FILES }, ann)
    await host.toolkits.register({ id: 'y', name: 'Why', ...FILES }, ann)
    const config = { mcpServers: { Ex: FILES, other: { ...FILES, id: 'x' }, third: { ...FILES, id: 'y', name: 'Ex' } } }
    const preview = await host.imports.preview(config, ann)
    expect(statuses(preview).map(([, , status]) => status)).toEqual(['updated', 'rejected', 'rejected'])
    const clash = { mcpServers: { y: { ...FILES, name: 'Ex' } } }
    expect((await host.imports.preview(clash, ann)).entries[0]).toMatchObject({
      status: 'rejected',
      errors: [{ path: 'name' }],
    })
    expect(await host.imports.apply(clash, ann)).toEqual(await host.imports.preview(clash, ann))
  })

  it('update the fields in the config and keep other user settings', async () => {
    const host = createServices()
    await host.imports.apply({ kit: { ...FILES, env: { OLD: '1' } } }, ann)
    const overrides = { read: { enabled: false } }
    await host.toolkits.update('kit', { enabled: false, overrides, exclude: ['b'], deferLoading: false }, ann)
    await host.imports.apply({ kit: { command: 'new', alwaysLoad: false, exclude_tools: ['c'] } }, ann)
    expect((await host.toolkits.find('ann', 'kit')).toolkit).toMatchObject({
      enabled: false,
      overrides,
      exclude: ['c'],
      deferLoading: true,
      server: { command: 'new', args: [], env: {} },
    })
    await host.imports.apply({ kit: { command: 'new', disabled: false } }, ann)
    expect((await host.toolkits.find('ann', 'kit')).toolkit).toMatchObject({ enabled: true, overrides })
  })

  it('can be limited to entries by name', async () => {
    const host = createServices()
    const report = await host.imports.apply({ mcpServers: { a: FILES, b: FILES } }, ann, { only: ['b', 'c'] })
    expect(statuses(report)).toEqual([['b', 'b', 'added']])
    expect(report.warnings).toEqual(['There is no entry "c"'])
    expect(await ids(host)).toEqual(['b'])
  })

  it('accept a text with comments and validate their options', async () => {
    const host = createServices()
    const text = '{\n  // mine\n  "servers": { "a": { "command": "x", }, },\n}'
    expect(statuses(await host.imports.preview(text, ann))).toEqual([['a', 'a', 'added']])
    await expect(host.imports.preview('{', ann)).rejects.toMatchObject({ code: 'invalid-json' })
    const odd = { values: { A: 1 } } as unknown as { values: Record<string, string> }
    await expect(host.imports.preview(text, ann, odd)).rejects.toMatchObject({ errors: [{ path: 'values.A' }] })
  })

  it('belong to their owner, a user or the app', async () => {
    const host = createServices()
    await host.imports.apply({ a: FILES }, { tier: 'app' })
    expect(statuses(await host.imports.preview({ a: FILES }, { tier: 'app' }))[0]?.[2]).toBe('updated')
    expect(statuses(await host.imports.preview({ a: FILES }, ann))[0]?.[2]).toBe('added')
    expect((await host.imports.preview({ a: { ...FILES, scope: 'global' } }, ann)).entries[0]).toMatchObject({
      status: 'rejected',
      errors: [{ path: 'scope' }],
    })
  })
})
