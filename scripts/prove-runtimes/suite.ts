/** The smoke suite of a runtime: storage, calls, servers over stdio and HTTP, search, programs and the HTTP API. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createHost, defineTool, rule } from '@loadout/core'
import { quickjs } from '@loadout/core/code-mode/quickjs'
import { nodeDrivers, wordVectors } from '@loadout/core/node'
import { memory } from '@loadout/core/storage/memory'
import { pglite } from '@loadout/core/storage/pglite'
import { executorSuite } from '@loadout/core/testing'
import { createApp } from '@loadout/server'

const [, , node = 'node'] = process.argv
const SERVER = join(import.meta.dirname, 'node_modules/@modelcontextprotocol/server-everything/dist/index.js')
const isNode = !('bun' in process.versions) && !('deno' in process.versions)
let failures = 0

async function check(name: string, work: () => Promise<unknown>): Promise<void> {
  try {
    await work()
    console.log(`✓ ${name}`)
  } catch (error) {
    failures++
    console.log(`✗ ${name}: ${error instanceof Error ? error.message : error}`)
  }
}

const textOf = (outcome: unknown) => JSON.stringify((outcome as { content?: unknown }).content ?? outcome)

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  await new Promise((resolve) => server.close(resolve))
  return port
}

const add = defineTool({ name: 'add', description: 'Adds a note to a file.', execute: () => 'added' })
const createTestHost = (storage: ReturnType<typeof memory>) =>
  createHost({
    storage,
    policy: { rules: [rule('*', 'allow')] },
    toolkits: { tools: [add] },
    drivers: nodeDrivers({ guard: { privateNetwork: true } }),
    executor: quickjs(),
    search: { vectors: wordVectors },
  })

const dataDir = mkdtempSync(join(tmpdir(), 'loadout-suite-'))
for (const [name, storage] of [
  ['memory', memory()],
  ['PGlite', pglite({ dataDir })],
] as const)
  await check(`a call with ${name} storage is made and recorded`, async () => {
    const host = createTestHost(storage as ReturnType<typeof memory>)
    assert.match(textOf(await host.user('ann').call('app.add', {})), /added/)
    await host.close()
  })
rmSync(dataDir, { recursive: true, force: true })

const host = createTestHost(memory())
const ann = host.user('ann')

await check('a stdio server is listed and called', async () => {
  await ann.toolkits.add({ name: 'local', command: node, args: [SERVER] })
  assert.match(textOf(await ann.call('local.echo', { message: 'hello' })), /hello/)
})

await check('an HTTP server is listed and called', async () => {
  const port = await freePort()
  const server = spawn(node, [SERVER, 'streamableHttp'], { env: { ...process.env, PORT: String(port) } })
  try {
    await new Promise<void>((resolve) => server.stderr.on('data', (text) => /listening/i.test(`${text}`) && resolve()))
    await ann.toolkits.add({ name: 'remote', url: `http://127.0.0.1:${port}/mcp` })
    assert.match(textOf(await ann.call('remote.echo', { message: 'hello' })), /hello/)
  } finally {
    server.kill('SIGKILL')
  }
})

await check('a search uses words and vectors', async () => {
  const { strategy, tools } = await ann.search('write a note')
  assert.equal(strategy, 'hybrid')
  assert.ok(tools.length > 0)
})

await check('a program calls a tool', async () => {
  const run = await ann.thread('notes').run('return await app.add({}) as string')
  assert.equal(JSON.stringify(run.output), '"added"')
})

await check('the HTTP API lists the toolkits', async () => {
  const app = createApp({ host, authenticate: () => ({ kind: 'session' as const, userId: 'ann' }) })
  const response = await app.fetch(new Request('http://localhost/api/mcp'))
  assert.equal(response.status, 200)
  assert.match(await response.text(), /local/)
})

await check('process isolation works on Node and is refused elsewhere', async () => {
  if (isNode) {
    const executor = quickjs({ isolation: 'process' })
    await executor.close()
  } else assert.throws(() => quickjs({ isolation: 'process' }), /needs Node/)
})

const executor = quickjs()
for (const { name, run } of executorSuite(() => executor)) await check(`programs: ${name}`, run)
await executor.close()

await host.close()
console.log('the host closed')
process.exitCode = failures === 0 ? 0 : 1
