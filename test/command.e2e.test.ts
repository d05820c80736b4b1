/** The command line on one data folder, from its first server to a new key. Each test continues where the last one ended. */
import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { copyPrepared } from './prepare-pglite.ts'
import { type Program, start } from './run-process.ts'
import { post, serve } from './serve-process.ts'

const FAST = fileURLToPath(new URL('../packages/loadout/test/fixtures/fastmcp-servers.ts', import.meta.url))
const CLI = 'apps/cli/src/main.ts'
const TOOLKITS = [{ id: 'files' }, { id: 'kit' }, { id: 'studio' }]
let folder: string
let dataDir: string
let flags: string[]
let server: { program: Program; url: string }
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'loadout-command-'))
  dataDir = join(folder, 'data')
  flags = ['--json', '--data-dir', dataDir]
  await copyPrepared(dataDir)
})
afterAll(async () => {
  await server?.program.end()
  await rm(folder, { recursive: true, force: true })
})

describe('the loadout command', () => {
  const loadout = async (...args: string[]) => {
    const program = start([CLI, ...args])
    const code = await program.ended
    return { code, out: program.stdout(), err: program.stderr() }
  }

  it('shows help and rejects an unknown command', async () => {
    expect((await loadout('--help')).out).toContain('backup')
    expect((await loadout('start', '--help')).out).toContain('--port')
    expect((await loadout('fly')).code).toBe(1)
  })

  it('works on the data folder, or through its live server', async () => {
    expect(JSON.parse((await loadout('status', ...flags)).out)).toMatchObject({ running: false, toolkits: 0 })
    server = await serve(dataDir)
    const { url } = server
    await post(url, JSON.stringify({ name: 'Files', command: '/nowhere/server', env: { TOKEN: 'planted-secret' } }))
    expect(JSON.parse((await loadout('status', ...flags)).out)).toEqual({ dataDir, running: true, url, toolkits: 1 })
    expect((await loadout('toolkits', '--data-dir', dataDir)).out).toMatch(/^files\s+Files\s+user\s+stdio\s+error/)
    const added = await loadout('keys', 'add', ...flags)
    expect([added.code, JSON.parse(added.err).code]).toEqual([1, 'conflict'])
  })

  it('imports a config, reports missing values and exports it with placeholders', async () => {
    const file = join(folder, 'mcp.json')
    const values = join(folder, 'values.json')
    await writeFile(values, '{ "B_KEY": "planted-b" }')
    const env = { A: '${A_KEY}', B: '${B_KEY}' }
    await writeFile(file, `{ // mine\n "mcpServers": { "kit": ${JSON.stringify({ command: '/nowhere', env })}, }, }`)
    const lacking = await loadout('import', file, '--value', 'A_KEY=planted-a', ...flags)
    expect([lacking.code, JSON.parse(lacking.out).entries[0].missing]).toEqual([1, ['B_KEY']])
    const preview = await loadout('import', file, '--preview', ...flags)
    expect([preview.code, JSON.parse(preview.out).entries[0].status]).toEqual([0, 'needs-input'])
    const whole = await loadout('import', file, '--value', 'A_KEY=planted-a', '--values', values, ...flags)
    expect([whole.code, JSON.parse(whole.out).entries[0].status]).toEqual([0, 'added'])
    const { out } = await loadout('export', ...flags)
    expect(JSON.parse(out).mcpServers.kit).toEqual({ command: '/nowhere', env: { A: '${A}', B: '${B}' } })
    for (const text of [lacking.out, preview.out, whole.out, out]) expect(text).not.toContain('planted')
    const odd = await loadout('import', values, '--value', 'nonsense', ...flags)
    expect([odd.code, JSON.parse(odd.err).code]).toEqual([1, 'invalid-input'])
  })

  it('waits for imported servers, prints their phases on stderr, and writes the types of their tools', async () => {
    const ownData = await mkdtemp(join(folder, 'imported-'))
    await copyPrepared(ownData)
    const source = `process.stderr.write('Downloading the server\\n')
      await new Promise((resolve) => setTimeout(resolve, 300))
      await import(${JSON.stringify(FAST)})`
    const late = { command: process.execPath, args: ['--input-type=module', '-e', source] }
    const file = join(ownData, 'mcp.json')
    await writeFile(file, JSON.stringify({ mcpServers: { late, absent: { command: '/nowhere' } } }))
    const { code, out, err } = await loadout('import', file, '--data-dir', ownData)
    expect({ code, err }).toEqual({
      code: 0,
      err: expect.stringContaining('late: installing (Downloading the server)'),
    })
    expect(out).toMatch(/^late is connected: \d+ tools?$/m)
    expect(out).toContain('absent failed (spawn-failed)')

    const types = join(ownData, 'src/tools.d.ts')
    const written = await loadout('types', '--out', types, '--json', '--data-dir', ownData)
    expect(JSON.parse(written.out)).toEqual({ file: types, tools: expect.any(Number), unknown: ['absent'] })
    expect(await readFile(types, 'utf8')).toContain("declare module '@loadout/core' {\n  interface ToolTypes {")
    const printed = await loadout('types', '--data-dir', ownData)
    expect(`${printed.out.trimEnd()}\n`).toBe(await readFile(types, 'utf8'))
    const none = await loadout('types', '--app', '--json', '--data-dir', ownData)
    expect([none.code, JSON.parse(none.err).code]).toEqual([1, 'not-found'])
  })

  it('prints the start of a server that the first search lists, on stderr', async () => {
    const home = await mkdtemp(join(folder, 'home-'))
    const ownData = join(home, 'data')
    await copyPrepared(ownData)
    const source = `process.stderr.write('Downloading the server\\n')
      await new Promise((resolve) => setTimeout(resolve, 300))
      await import(${JSON.stringify(FAST)})`
    const args = ['--input-type=module', '-e', source]
    await mkdir(join(home, '.loadout'))
    const config = JSON.stringify({ mcpServers: { late: { command: process.execPath, args } } })
    await writeFile(join(home, '.loadout', 'mcp-servers.json'), config)
    const search = start([CLI, 'tools', 'search', 'repeat a text', '--data-dir', ownData], { HOME: home })
    expect(await search.ended).toBe(0)
    for (const phase of ['starting', 'listing']) expect(search.stderr().split('\n')).toContain(`late: ${phase}`)
    expect(search.stdout()).toContain('late.repeat')
    expect(search.stdout()).not.toContain('Downloading')
  })

  it('searches the tools of the user and of any catalog file', async () => {
    const catalog = join(folder, 'tools.json')
    const queries = join(folder, 'queries.json')
    const tool = (server: string, name: string, description: string) => ({
      id: `${server}/${name}`,
      server,
      name,
      description,
    })
    await writeFile(
      catalog,
      JSON.stringify([tool('mail', 'send', 'Sends a letter.'), tool('clock', 'now', 'Tells the time.')]),
    )
    await writeFile(queries, JSON.stringify([{ id: 'q1', query: 'what time is it' }, 'post a letter']))
    const one = await loadout('tools', 'search', 'post a letter', '--catalog', catalog, '--limit', '1', '--json')
    expect(JSON.parse(one.out)).toMatchObject({ strategy: 'hybrid', tools: [{ id: 'mail/send', ref: 'mail.send' }] })
    const many = await loadout('tools', 'search', '--catalog', catalog, '--queries', queries, '--limit', '1', '--json')
    expect(JSON.parse(many.out).results).toMatchObject([
      { id: 'q1', tools: [{ id: 'clock/now' }] },
      { query: 'post a letter', tools: [{ id: 'mail/send' }] },
    ])
    expect((await loadout('tools', 'search', 'post a letter', '--catalog', catalog)).out).toMatch(
      /mail\.send\s+Sends a letter/,
    )
    const odd = await loadout('tools', 'search', '(((', '--strategy', 'regex', '--catalog', catalog, '--json')
    expect([odd.code, JSON.parse(odd.err).code]).toEqual([1, 'invalid-input'])
    await writeFile(queries, JSON.stringify(['', 'post a letter']))
    const some = await loadout('tools', 'search', '--catalog', catalog, '--queries', queries, '--limit', '1', '--json')
    expect(JSON.parse(some.out).results).toMatchObject([
      { query: '', tools: [], error: expect.stringContaining('nothing to search for') },
      { query: 'post a letter', tools: [{ id: 'mail/send' }] },
    ])
    const long = await loadout('tools', 'search', 'post a letter '.repeat(2000), '--catalog', catalog)
    expect(long.out).toMatch(/mail\.send[\s\S]*Warning: The text is long/)
    expect((await loadout('tools', 'search', 'x', '--catalog', folder)).err).toContain(
      `${folder} cannot be used (EISDIR)`,
    )
    for (const flags of [
      ['--queries', queries],
      ['--catalog', catalog, '--thread', 't'],
    ])
      expect((await loadout('tools', 'search', 'x', ...flags)).err).toContain('--catalog')

    const tools = [
      { name: 'paint', description: 'Paints a picture.', inputSchema: { type: 'object' }, execute: 'return 1' },
    ]
    await post(server.url, JSON.stringify({ name: 'Studio', tools }))
    const own = await loadout('tools', 'search', 'a picture', ...flags)
    expect(JSON.parse(own.out).tools).toMatchObject([{ ref: 'studio.paint' }])
  })

  it('backs up a live server and restores into another folder, which needs the keys', async () => {
    const file = join(folder, 'backup.tar.gz')
    expect(await loadout('backup', file, ...flags)).toMatchObject({ code: 0 })
    expect((await readFile(file)).includes('planted-secret')).toBe(false)
    const refused = await loadout('restore', file, ...flags)
    expect([refused.code, JSON.parse(refused.err).code]).toEqual([1, 'storage-locked'])
    await server.program.end()
    const existing = await loadout('backup', file, ...flags)
    expect([existing.code, JSON.parse(existing.err).code]).toEqual([1, 'conflict'])
    const missing = await loadout('restore', join(folder, 'none.tar.gz'), ...flags)
    expect([missing.code, JSON.parse(missing.err).code]).toEqual([1, 'not-found'])

    const copy = ['--json', '--data-dir', join(folder, 'copy')]
    expect(await loadout('restore', file, ...copy)).toMatchObject({ code: 0 })
    const keyless = await loadout('toolkits', ...copy)
    expect([keyless.code, JSON.parse(keyless.err).code]).toEqual([1, 'credential-key-lost'])
    await copyFile(join(dataDir, 'keys.json'), join(folder, 'copy', 'keys.json'))
    expect(JSON.parse((await loadout('toolkits', ...copy)).out).toolkits).toMatchObject(TOOLKITS)
  })

  it('encrypts secrets with a new key, after which the old key can be removed', async () => {
    const { keyId } = JSON.parse((await loadout('keys', 'add', ...flags)).out)
    // Three secrets of two toolkits, and the mark by which a start knows that it has the right key.
    expect(JSON.parse((await loadout('keys', 'rotate', ...flags)).out)).toEqual({ rewrapped: 4, lost: 0 })
    const path = join(dataDir, 'keys.json')
    const ring = JSON.parse(await readFile(path, 'utf8'))
    expect(ring.keys.map(({ id }: { id: string }) => id)).toEqual([keyId, expect.any(String)])
    await writeFile(path, JSON.stringify({ ...ring, keys: ring.keys.slice(0, 1) }))
    expect(JSON.parse((await loadout('toolkits', ...flags)).out).toolkits).toMatchObject(TOOLKITS)
  })
})
