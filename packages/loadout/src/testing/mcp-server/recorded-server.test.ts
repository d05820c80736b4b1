/** Recordings of real servers, replayed without them. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { nodeDrivers } from '../../connections/node-drivers.ts'
import { createHost } from '../../host/create-host.ts'
import { rule } from '../../policy/rules.ts'
import { startRecordedServer } from './recorded-server.ts'
import { type McpTestServer, startMcpServer } from './start-server.ts'

const FILES = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-filesystem/dist/index.js')
const SECRET = 'sk-planted-4f9a8b7c6d5e'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'loadout-recorded-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

/** Calls tools of a server through a host. */
async function callAll(server: McpTestServer, calls: Array<[tool: string, args: Record<string, unknown>]>) {
  const drivers = nodeDrivers({ guard: { privateNetwork: true } })
  await using host = createHost({ policy: { rules: [rule('*', 'allow')] }, drivers })
  const ann = host.user('ann')
  const { stored } = await ann.toolkits.add(server.toolkit)
  const { tools } = await ann.toolkits.refresh(stored.toolkit.id)
  const outcomes: unknown[] = []
  for (const [tool, args] of calls) outcomes.push(await ann.call(`${stored.toolkit.id}.${tool}`, args))
  return { tools: tools.map(({ name, inputSchema, outputSchema }) => ({ name, inputSchema, outputSchema })), outcomes }
}

it('replays the tools and the answers of a real command that is gone', async () => {
  const file = join(folder, 'recordings/files.json')
  const note = join(folder, 'note.txt')
  await writeFile(note, 'milk')
  const calls: Parameters<typeof callAll>[1] = [
    ['read_text_file', { path: note }],
    ['read_text_file', { path: join(folder, 'absent.txt') }],
  ]
  const command = { command: process.execPath, args: [FILES, folder] }
  const recorded = await startRecordedServer({ file, server: command })
  const live = await callAll(recorded, calls)
  await recorded.close()
  expect(recorded.mode).toBe('record')
  expect(live.outcomes).toMatchObject([{ status: 'ok', content: [{ text: 'milk' }] }, { status: 'tool-error' }])

  await rm(note)
  await using replayed = await startRecordedServer({ file, server: { command: '/nowhere' } })
  expect(replayed.mode).toBe('replay')
  expect(await callAll(replayed, calls)).toEqual(live)
})

it('replays equal calls in their order, and names a call that was not recorded', async () => {
  const file = join(folder, 'counter.json')
  let count = 0
  await using real = await startMcpServer({ tools: [{ name: 'next', execute: () => `${++count}` }] })
  const recorded = await startRecordedServer({ file, server: real.toolkit })
  await callAll(recorded, [
    ['next', {}],
    ['next', {}],
  ])
  await recorded.close()
  await using replayed = await startRecordedServer({ file, mode: 'replay', transport: 'http' })
  const { outcomes } = await callAll(replayed, [
    ['next', {}],
    ['next', {}],
    ['next', {}],
    ['next', { other: 1 }],
  ])
  expect(outcomes).toMatchObject([
    { content: [{ text: '1' }] },
    { content: [{ text: '2' }] },
    { content: [{ text: '2' }] },
    { status: 'tool-error', content: [{ text: expect.stringContaining('has no answer of `next`') }] },
  ])
  expect(count).toBe(2)
})

it('keeps secrets out of the file, and still finds the calls that had them', async () => {
  const file = join(folder, 'secret.json')
  await using real = await startMcpServer({ tools: [{ name: 'echo' }] })
  const calls: Parameters<typeof callAll>[1] = [['echo', { key: SECRET }]]
  const recorded = await startRecordedServer({ file, server: real.toolkit, redact: [SECRET] })
  await callAll(recorded, calls)
  await recorded.close()
  expect(await readFile(file, 'utf8')).not.toContain(SECRET)
  await using replayed = await startRecordedServer({ file, redact: [SECRET] })
  expect((await callAll(replayed, calls)).outcomes).toMatchObject([{ structuredContent: { key: '•••' } }])
})

it('asks for the server to record when there is no recording', async () => {
  await expect(startRecordedServer({ file: join(folder, 'none.json') })).rejects.toThrow('no server to record')
})
