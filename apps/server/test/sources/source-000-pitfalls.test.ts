/** Source 000: each of its pitfalls and of its validation rules, under the words that it has there, over real servers. */
import { readFileSync } from 'node:fs'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { localFiles, nodeDrivers } from '@loadout/core/node'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { startCountingServer } from '../../../../test/counting-server.ts'
import { EVERYTHING, FILESYSTEM, startHttpServer } from '../../../../test/real-servers.ts'
import { LIBRARY, ROOT, sourcesIn, target } from '../../../../test/structure/import-graph.ts'
import { setTraps } from '../../../../test/traps.ts'
import { type ApiKeyApp, apiKeyApp } from '../support/api-key-app.ts'
import type { Ask } from '../support/multi-user-app.ts'

const node = process.execPath
const everything = { command: node, args: [EVERYTHING] }
let folder: string
let app: ApiKeyApp

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'loadout-000-'))
  const drivers = nodeDrivers({ baseEnv: { PATH: '/usr/bin:/bin' }, guard: { privateNetwork: true } })
  app = apiKeyApp({ drivers, files: localFiles({ folder }) })
  await app.host.ready()
})
afterEach(async () => {
  await app.host.close()
  await rm(folder, { recursive: true, force: true })
})

const tool = (ref: string, args: object = {}) => ({
  name: 'one',
  nodes: [{ id: 'one', type: 'tool', ref, arguments: args }],
})
const run = async (ask: Ask, definition: object, mcpServers?: object) =>
  (await ask('POST /api/workflow/invoke', { definition, ...(mcpServers ? { mcpServers } : {}) })).body

describe('pitfalls to avoid', () => {
  it('Do not write mcp-secret.json during UI invocation. No filesystem writes.', async () => {
    const files = { command: node, args: [FILESYSTEM, folder] }
    const traps = setTraps()
    const done = await run(app.session('ann'), tool('files.list_allowed_directories'), { files }).finally(traps.lift)
    expect([done.status, traps.touched]).toEqual(['completed', []])
    expect(await readdir(folder)).toEqual([])
  })

  it('Do not stash user config in globals or singletons. Use Execution Context only.', async () => {
    const globals = Object.getOwnPropertyNames(globalThis).length
    const users = ['ann', 'bob', 'cem']
    const env = (name: string) => ({ mine: { ...everything, env: { WHOSE: name } } })
    const all = await Promise.all(users.map((name) => run(app.session(name), tool('mine.get-env'), env(name))))
    expect(all.map(({ output }) => output.WHOSE)).toEqual(users)
    // What one invocation brought is not there for the next, whoever's it is.
    for (const ask of [app.session('ann'), app.session('dan'), app.local])
      expect((await run(ask, tool('mine.get-env'))).detail).toContain("Requested 'mine'")
    expect(await Promise.all(users.map((name) => app.host.toolkits.list(name)))).toEqual([[], [], []])
    expect(app.host.connections.status()).toEqual([])
    expect(Object.getOwnPropertyNames(globalThis).length).toBe(globals)
  })

  it('Do not fetch from process.env for session-auth users. Lockbox or context only.', async () => {
    process.env.TAVILY_API_KEY = 'of-the-operator'
    try {
      const ann = await app.withKey('ann')
      await ann('POST /api/mcp', {
        name: 'tavily',
        ...everything,
        env: { OWN_KEY: 'of-ann', OTHER: '$TAVILY_API_KEY' },
      })
      const { output } = await run(ann, tool('tavily.get-env'))
      expect(Object.keys(output)).toEqual(expect.arrayContaining(['OWN_KEY', 'OTHER']))
      expect(Object.keys(output)).not.toContain('TAVILY_API_KEY')
      expect(JSON.stringify(output)).not.toContain('of-the-operator')
    } finally {
      delete process.env.TAVILY_API_KEY
    }
  })

  it('Do not construct transports in the browser. All transport creation is server-only.', () => {
    const values = importsOfTheWeb()
    expect(values.length).toBeGreaterThan(20)
    expect(values.filter((name) => /modelcontextprotocol/.test(name))).toEqual([])
    // What the pages take of the library reaches nothing that connects.
    const taken = [...new Set(values.filter((name) => /^@loadout\/core\b/.test(name)))]
    expect(taken.flatMap((name) => reachedBy(entryOf(name))).filter((file) => file.startsWith('connections/'))).toEqual(
      [],
    )
    expect(reachedBy(entryOf('@loadout/core/node'))).toContain('connections/stdio/process-group.ts')
  })

  it('Do not import Node/server files into client routes/components.', () => {
    expect(importsOfTheWeb().filter((name) => /^node:|@loadout\/server|apps\/server/.test(name))).toEqual([])
    const planted = valueImports("import fs from 'node:fs'\nimport type { AppType } from '@loadout/server'")
    expect(planted).toEqual(['node:fs'])
  })

  it('Do not change tool names.', async () => {
    const names = ['read_file', 'Read-File', 'a.b.c', 'search/v2', 'x'.repeat(64)]
    const server = await startCountingServer(
      'names',
      names.map((name) => ({ name })),
    )
    const nodes = names.map((name, index) => ({ id: `n${index}`, type: 'tool', ref: `kit.${name}` }))
    const done = await run(app.session('ann'), { name: 'names', nodes }, { kit: { url: server.url } })
    await server.close()
    expect(done.status, JSON.stringify(done)).toBe('completed')
    expect(server.calls.map(({ name }) => name).sort()).toEqual(names.sort())
  })

  it('Do not remove existing file/env fallback in tools. Keep local-dev working.', async () => {
    await writeFile(join(folder, 'mcp-secret.json'), JSON.stringify({ mcpServers: { everything } }))
    expect((await run(app.local, tool('everything.echo', { message: 'hi' }))).output).toBe('Echo: hi')
    expect((await run(app.session('ann'), tool('everything.echo', { message: 'hi' }))).code).toBe('preflight-failed')
  })
})

describe('validation rules', () => {
  it('UI → mapping: ensure each server has `command: string` and `args: string[]`.', async () => {
    const bad = { a: { command: 5, args: [] }, b: { args: ['x'] }, c: { command: 'x', args: [1] } }
    for (const [name, record] of Object.entries(bad)) {
      const saved = await app.session('ann')('POST /api/mcp', { name, ...record })
      expect([name, saved.status, saved.body.code]).toEqual([name, 422, 'invalid-input'])
      const inlineRun = await run(app.session('ann'), tool(`${name}.x`), { [name]: record })
      expect(inlineRun).toMatchObject({
        code: 'invalid-input',
        errors: [{ path: expect.stringMatching(new RegExp(`^mcpServers\\.${name}\\.`)) }],
      })
    }
  })

  it('Cap servers per invocation at a sane number (e.g., 16) and log a warning when exceeded.', async () => {
    const server = await startHttpServer('modern')
    const names = Array.from({ length: 20 }, (_, index) => `kit-${index}`)
    const mcpServers = Object.fromEntries(names.map((name) => [name, { url: server.url }]))
    // What a node names serves, wherever in the list it stands.
    const done = await run(app.session('ann'), tool('kit-18.echo', { text: 'hi' }), mcpServers)
    await server.close()
    expect([done.status, done.output]).toEqual(['completed', 'hi'])
    expect(done.droppedToolkits).toEqual(['kit-15', 'kit-16', 'kit-17', 'kit-19'])
    expect(done.warnings.join()).toContain('At most 16 toolkits serve one invocation.')
  })

  it('Normalize env values to strings; allow placeholders.', async () => {
    const env = { COUNT: 5, ON: true, GOOGLE_KEY: 'anythingrandomthiswillbeignoredanyways' }
    const { output } = await run(app.session('ann'), tool('kit.get-env'), { kit: { ...everything, env } })
    // A key reaches the server, and is masked in what the server says.
    expect(output).toMatchObject({ COUNT: '5', ON: 'true', GOOGLE_KEY: '•••' })
  })

  it('When `toolNames` includes an MCP name not present in `toolkits`, log: requested vs available.', async () => {
    const done = await run(app.session('ann'), tool('tavily.search'), { kit: everything })
    expect(done.detail).toBe("Requested 'tavily', and there is no such toolkit. Available: kit.")
    expect(done.warnings.join()).toContain('Requested: tavily. Available: kit.')
  })

  it('In `setupMCPForNode`, if a transport fails to start, remove its client from cache and include the name in `failedTools`.', async () => {
    const mcpServers = { bad: { command: '/nowhere', args: [] }, good: everything }
    const done = await run(app.session('ann'), tool('good.echo', { message: 'hi' }), mcpServers)
    expect([done.output, done.failedToolkits.map(({ id }: { id: string }) => id)]).toEqual(['Echo: hi', ['bad']])
    expect(app.host.connections.status()).toEqual([])
    // It is not remembered as broken: mended, it serves at once.
    const mended = await run(app.session('ann'), tool('bad.echo', { message: 'hi' }), { bad: everything })
    expect(mended.output).toBe('Echo: hi')
  })
})

const valueImports = (text: string) =>
  [
    ...text.matchAll(
      /(?:^|\n)\s*(?:import|export)\s(?!type\b)[^'"`;]*?from\s*['"]([^'"]+)['"]|import\(\s*['"]([^'"]+)['"]/g,
    ),
  ].map((match) => (match[1] ?? match[2]) as string)
const importsOfTheWeb = () => sourcesIn(`${ROOT}/apps/web/src`).flatMap(({ text }) => valueImports(text))

/** The file of the library that a name means, by what its package exports. */
const entryOf = (name: string): string => {
  const { exports } = JSON.parse(readFileSync(`${ROOT}/packages/loadout/package.json`, 'utf8'))
  return String(exports[name.replace('@loadout/core', '.')]).replace('./src/', '')
}
function reachedBy(entry: string): string[] {
  const texts = new Map(sourcesIn(LIBRARY).map(({ path, text }) => [path, text]))
  const reached = new Set([entry])
  for (const file of reached)
    for (const name of valueImports(texts.get(file) ?? ''))
      if (name.startsWith('.')) reached.add(target(LIBRARY, file, name))
  return [...reached]
}
