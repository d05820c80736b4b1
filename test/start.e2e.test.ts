/** The README's first command, as a newcomer gives it, and the command line beside it. */
import { copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { copyPrepared } from './prepare-pglite.ts'
import { type Program, start, startSource } from './run-process.ts'

const MAIN = ['apps/server/src/main.ts']
const CLI = 'apps/cli/src/main.ts'
let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'loadout-start-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

const serve = async (dataDir: string) => {
  const program = start(MAIN, { PORT: '0', LOADOUT_DATA_DIR: dataDir })
  return { program, url: await urlOf(program) }
}
const urlOf = async (program: Program) => (await program.says(/Loadout is at (http:\S+)/))[1] ?? ''
const post = (url: string, body: string) =>
  fetch(`${url}/api/mcp`, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
const list = async (url: string) => (await (await fetch(`${url}/api/mcp`)).json()).toolkits as Array<{ id: string }>

describe('npm start', () => {
  it('prints a URL, serves the page and health checks, and keeps data after a restart and a kill', async () => {
    const dataDir = join(folder, 'one')
    // The command of the README itself, on a folder that does not exist yet.
    const program = startSource(['scripts/start.ts'], { PORT: '0', LOADOUT_DATA_DIR: dataDir })
    const first = { program, url: await urlOf(program) }
    expect(await (await fetch(`${first.url}/healthz`)).json()).toMatchObject({ status: 'ok' })
    expect((await fetch(`${first.url}/readyz`)).status).toBe(200)
    for (const path of ['/', '/connectors']) {
      const page = await fetch(first.url + path)
      expect(page.headers.get('content-type')).toContain('text/html')
      expect(page.headers.get('content-security-policy')).toContain("script-src 'self'")
      expect(await page.text()).toContain('<div id="root">')
    }
    expect((await post(first.url, JSON.stringify({ name: 'Files', command: '/nowhere/server' }))).status).toBe(201)
    expect(await first.program.end('SIGTERM')).toBe(0)

    const second = await serve(dataDir)
    expect(await list(second.url)).toMatchObject([{ id: 'files' }])
    await post(second.url, JSON.stringify({ name: 'More', command: '/nowhere/server' }))
    expect(await second.program.end('SIGKILL')).toBe('SIGKILL')

    const third = await serve(dataDir)
    expect(await list(third.url)).toHaveLength(2)
    await third.program.end()
  })

  it('survives invalid bodies over a real socket', async () => {
    const dataDir = join(folder, 'bad')
    await copyPrepared(dataDir)
    const { program, url } = await serve(dataDir)
    expect((await post(url, JSON.stringify({ name: 'x', command: 'x'.repeat(5_000_000) }))).status).toBe(413)
    expect((await post(url, '{')).status).toBe(400)
    expect((await post(url, '{"__proto__":{"name":"x"},"name":"x","command":"x"}')).status).toBe(422)
    expect((await fetch(`${url}/api/mcp`, { headers: { origin: 'https://evil.example' } })).status).toBe(403)
    expect(await list(url)).toEqual([])
    expect(program.child.exitCode).toBeNull()
    await program.end()
  })

  it('refuses a data folder that another process holds and shows the fix', async () => {
    const dataDir = join(folder, 'held')
    await copyPrepared(dataDir)
    const { program } = await serve(dataDir)
    const second = start(MAIN, { PORT: '0', LOADOUT_DATA_DIR: dataDir })
    expect(await second.ended).toBe(1)
    expect(second.stderr()).toMatch(/held by process \d+\. Stop that process/)
    await program.end()
  })

  const bad: Record<string, [env: Record<string, string>, says: RegExp]> = {
    'a bad port': [{ PORT: 'http' }, /^PORT must be a whole number\. Correct the named setting and start again\.\n$/],
    'a weak key': [{ LOADOUT_MASTER_KEY: 'aGVsbG8=' }, /^Key 1 has 5 bytes; 32 are needed\. Make one with/],
    'a data folder that is a file': [
      { LOADOUT_DATA_DIR: '/dev/null' },
      /^LOADOUT_DATA_DIR "\/dev\/null" cannot be written to/,
    ],
    'no database for many users': [{ LOADOUT_MODE: 'multi-user' }, /^DATABASE_URL is needed in multi-user mode\. /],
  }
  for (const [name, [env, says]] of Object.entries(bad))
    it(`fails with a one-line error for ${name}`, async () => {
      const program = start(MAIN, { LOADOUT_DATA_DIR: join(folder, 'never'), ...env })
      expect(await program.ended).toBe(1)
      expect(program.stderr()).toMatch(says)
      expect(program.stderr().trim().split('\n')).toHaveLength(1)
    })
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

  it('imports a config, reports missing values and exports it with placeholders', async () => {
    const dataDir = join(folder, 'import')
    await copyPrepared(dataDir)
    const { program } = await serve(dataDir)
    const flags = ['--json', '--data-dir', dataDir]
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
    expect(JSON.parse(out)).toEqual({ mcpServers: { kit: { command: '/nowhere', env: { A: '${A}', B: '${B}' } } } })
    for (const text of [lacking.out, preview.out, whole.out, out]) expect(text).not.toContain('planted')
    const odd = await loadout('import', values, '--value', 'nonsense', ...flags)
    expect([odd.code, JSON.parse(odd.err).code]).toEqual([1, 'invalid-input'])
    await program.end()
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

    const dataDir = join(folder, 'searched')
    await copyPrepared(dataDir)
    const { program, url } = await serve(dataDir)
    const tools = [
      { name: 'paint', description: 'Paints a picture.', inputSchema: { type: 'object' }, execute: 'return 1' },
    ]
    await post(url, JSON.stringify({ name: 'Studio', tools }))
    const own = await loadout('tools', 'search', 'a picture', '--json', '--data-dir', dataDir)
    expect(JSON.parse(own.out).tools).toMatchObject([{ ref: 'studio.paint' }])
    await program.end()
  })

  it('works on the data folder or through its live server, and backs up and restores it', async () => {
    const dataDir = join(folder, 'cli')
    await copyPrepared(dataDir)
    const flags = ['--json', '--data-dir', dataDir]
    expect(JSON.parse((await loadout('status', ...flags)).out)).toMatchObject({ running: false, toolkits: 0 })

    const { program, url } = await serve(dataDir)
    await post(url, JSON.stringify({ name: 'Files', command: '/nowhere/server', env: { TOKEN: 'planted-secret' } }))
    expect(JSON.parse((await loadout('status', ...flags)).out)).toEqual({ dataDir, running: true, url, toolkits: 1 })
    expect((await loadout('toolkits', '--data-dir', dataDir)).out).toMatch(/^files\s+Files\s+user\s+stdio\s+error/)
    const file = join(folder, 'backup.tar.gz')
    expect(await loadout('backup', file, ...flags)).toMatchObject({ code: 0 })
    expect((await readFile(file)).includes('planted-secret')).toBe(false)
    const refused = await loadout('restore', file, ...flags)
    expect([refused.code, JSON.parse(refused.err).code]).toEqual([1, 'storage-locked'])
    await program.end()
    const existing = await loadout('backup', file, ...flags)
    expect([existing.code, JSON.parse(existing.err).code]).toEqual([1, 'conflict'])
    const missing = await loadout('restore', join(folder, 'none.tar.gz'), ...flags)
    expect([missing.code, JSON.parse(missing.err).code]).toEqual([1, 'not-found'])

    const copy = ['--json', '--data-dir', join(folder, 'copy')]
    expect(await loadout('restore', file, ...copy)).toMatchObject({ code: 0 })
    const keyless = await loadout('toolkits', ...copy)
    expect([keyless.code, JSON.parse(keyless.err).code]).toEqual([1, 'credential-key-lost'])
    await copyFile(join(dataDir, 'keys.json'), join(folder, 'copy', 'keys.json'))
    expect(JSON.parse((await loadout('toolkits', ...copy)).out).toolkits).toMatchObject([{ id: 'files' }])
  })

  it('encrypts secrets with a new key, after which the old key can be removed', async () => {
    const dataDir = join(folder, 'keys')
    await copyPrepared(dataDir)
    const flags = ['--json', '--data-dir', dataDir]
    const { program, url } = await serve(dataDir)
    await post(url, JSON.stringify({ name: 'Files', command: '/nowhere/server', env: { TOKEN: 'x' } }))
    const held = await loadout('keys', 'add', ...flags)
    expect([held.code, JSON.parse(held.err).code]).toEqual([1, 'conflict'])
    await program.end()
    const { keyId } = JSON.parse((await loadout('keys', 'add', ...flags)).out)
    // The token, and the mark by which a start knows that it has the right key.
    expect(JSON.parse((await loadout('keys', 'rotate', ...flags)).out)).toEqual({ rewrapped: 2, lost: 0 })
    const path = join(dataDir, 'keys.json')
    const ring = JSON.parse(await readFile(path, 'utf8'))
    expect(ring.keys.map(({ id }: { id: string }) => id)).toEqual([keyId, expect.any(String)])
    await writeFile(path, JSON.stringify({ ...ring, keys: ring.keys.slice(0, 1) }))
    expect(JSON.parse((await loadout('toolkits', ...flags)).out).toolkits).toMatchObject([{ id: 'files' }])
  })
})
