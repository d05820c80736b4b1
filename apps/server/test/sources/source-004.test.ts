/** Source 004, the integration guide: its execution flow as one story with real servers and a scripted model, and its ways in. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createAnthropic } from '@ai-sdk/anthropic'
import { rule } from '@loadout/core'
import { toAI } from '@loadout/core/ai'
import { nodeDrivers } from '@loadout/core/node'
import { createServices, type HostServices, type ToolTransformer } from '@loadout/core/services'
import { startModelServer } from '@loadout/core/testing'
import { describe as describedAs, filter, prefix, providerOptions } from '@loadout/core/transformers'
import { generateText, isStepCount } from 'ai'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { EVERYTHING, FILESYSTEM, startHttpServer, startSseServer } from '../../../../test/real-servers.ts'

type JsonObject = Record<string, unknown>
const node = process.execPath
const SAFE = 'mcp_filesystem-mcp_safe_'
const ann = { tier: 'user', userId: 'ann' } as const
let folder: string
let file: string
const open = (mcpServers?: Record<string, unknown>) =>
  createServices({
    policy: [rule('*', 'allow')],
    drivers: nodeDrivers({ guard: { privateNetwork: true } }),
    ...(mcpServers ? { mcpServers } : {}),
  })
/** As the guide writes it. */
const filesystemMCPConfig = () => ({
  serverName: 'filesystem-mcp',
  transport: 'stdio',
  connection: { command: node, args: [FILESYSTEM, folder] },
})

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'loadout-004-'))
  file = join(folder, 'passwd')
  await writeFile(file, 'root:x:0:0')
})
afterAll(() => rm(folder, { recursive: true, force: true }))

describe('execution flow', () => {
  it('covers discovery, filter, transform, registration, model call, server result and content blocks', async () => {
    await using host = open()
    await host.ready()
    const { tools: found } = await host.discover(filesystemMCPConfig(), { userId: 'ann' })
    expect(found.map(({ name }) => name)).toEqual(expect.arrayContaining(['read_file', 'write_file', 'move_file']))
    expect(host.connections.status()).toEqual([])

    const safe = found.map(({ name }) => name).filter((name) => !/write|edit|move|create/.test(name))
    const transform = [
      filter({ include: safe }),
      describedAs('[Filesystem MCP]'),
      prefix('safe_'),
      atOnce,
      providerOptions({ anthropic: { cacheControl: { type: 'ephemeral' } } }),
    ]
    const registered = [
      await host.toolkits.register(filesystemMCPConfig(), ann, { transform }),
      await host.toolkits.register({ name: 'everything', command: node, args: [EVERYTHING] }, ann, {
        transform: [atOnce],
      }),
    ]
    // A prompt does not wait for the slower of two first looks; this story needs both.
    await Promise.all(registered.map(({ stored }) => host.catalog.introspect(stored, 'ann')))

    const thread = host.thread({ userId: 'ann', threadId: 't' })
    const selection = await thread.select({ prompt: '' })
    const model = await startModelServer([
      { answer: { calls: [{ name: `${SAFE}read_text_file`, arguments: { path: file } }] } },
      { answer: { calls: [{ name: 'mcp_everything_get-tiny-image' }] } },
      { answer: { calls: [{ name: `${SAFE}read_text_file`, arguments: { path: '/etc/passwd' } }] } },
      { answer: 'I have read it.' },
    ])
    const { text } = await generateText({
      model: createAnthropic({ apiKey: 'key', baseURL: model.baseUrl.aiSdkAnthropic })('claude-opus-5-5'),
      prompt: 'Read the file passwd and show a tiny image',
      stopWhen: isStepCount(10),
      ...toAI(selection),
    })
    model.done()
    await model.close()
    expect(text).toBe('I have read it.')
    expectDefinitions(model.requests[0]?.tools ?? [], safe)

    const results = model.requests.at(-1)?.history.flatMap(resultsIn)
    expect(results).toMatchObject([
      { content: 'root:x:0:0' },
      { content: [{ type: 'text' }, { type: 'image', source: { media_type: 'image/png' } }, { type: 'text' }] },
      { content: expect.stringContaining('outside allowed directories'), is_error: true },
    ])
  })

  it('returns content blocks for every kind of result: text, image, resource, link, structured', async () => {
    await using host = open({ everything: { command: node, args: [EVERYTHING] } })
    await host.ready()
    const thread = host.thread({ userId: 'ann', threadId: 't' })
    const kinds = async (tool: string, args: JsonObject = {}) => {
      const outcome = await thread.call({ name: `everything.${tool}`, arguments: args })
      if (outcome.status !== 'ok') throw new Error(outcome.status)
      const { content, structuredContent } = outcome
      return [...content.map(({ type }) => type), ...(structuredContent ? ['structured'] : [])]
    }
    expect(await kinds('echo', { message: 'x' })).toEqual(['text'])
    expect(await kinds('get-tiny-image')).toEqual(['text', 'image', 'text'])
    expect(await kinds('get-resource-links', { count: 1 })).toEqual(['text', 'resource_link'])
    const reference = { resourceType: 'Text', resourceId: 1 }
    expect(await kinds('get-resource-reference', reference)).toEqual(['text', 'resource', 'text'])
    expect(await kinds('get-structured-content', { location: 'Chicago' })).toEqual(['text', 'structured'])
  })

  it('maps each tool to its server and removes it with the server', async () => {
    await using host = open()
    for (const name of ['one', 'two']) await discoverAndRegister(host, { ...filesystemMCPConfig(), serverName: name })
    const servers = async () => {
      const { tools } = await host.thread({ userId: 'ann', threadId: 't' }).loadout()
      const toolToServer = new Map(tools.map(({ modelName, toolkit }) => [modelName, toolkit]))
      return [toolToServer.get('mcp_one_read_file'), toolToServer.get('mcp_two_read_file')]
    }
    expect(await servers()).toEqual(['one', 'two'])
    await host.toolkits.remove('one', ann)
    expect(await servers()).toEqual([undefined, 'two'])
    expect((await host.status()).connections.map(({ toolkit }) => toolkit)).toEqual(['two'])
  })
})

describe('config entry points', () => {
  it('include option B: mcpServers given to the engine are discovered and registered when execution starts', async () => {
    await using host = open({ filesystem: { command: node, args: [FILESYSTEM, folder] } })
    const thread = host.thread({ userId: 'ann', threadId: 't' })
    const { tools } = await thread.select({ prompt: 'read a file', limit: 100 })
    expect(tools.map(({ entry }) => entry.modelName)).toContain('mcp_filesystem_read_text_file')
    const outcome = await thread.call({ name: 'mcp_filesystem_read_text_file', arguments: { path: file } })
    expect(outcome).toMatchObject({ status: 'ok', content: [{ type: 'text', text: 'root:x:0:0' }] })
  })

  it('include stdio, SSE with a token, and "websocket" as Streamable HTTP, as in the guide', async () => {
    const [sse, http] = await Promise.all([startSseServer(), startHttpServer('modern')])
    const auth = { type: 'bearer', token: 'your-api-token' }
    const configs = [
      filesystemMCPConfig(),
      { serverName: 'api-mcp', transport: 'sse', connection: { url: sse.url }, auth },
      { serverName: 'cloud-mcp', transport: 'websocket', connection: { url: http.url } },
    ]
    await using host = open()
    try {
      for (const config of configs) await discoverAndRegister(host, config)
      const on = (await host.status()).connections.map(({ toolkit }) => toolkit)
      expect(on.sort()).toEqual(['api-mcp', 'cloud-mcp', 'filesystem-mcp'])
      const thread = host.thread({ userId: 'ann', threadId: 't' })
      const outcome = await thread.call({ name: 'cloud-mcp.echo', arguments: { text: 'hi' } })
      expect(outcome, JSON.stringify(outcome)).toMatchObject({ status: 'ok', content: [{ type: 'text', text: 'hi' }] })
    } finally {
      await Promise.all([sse.close(), http.close()])
    }
  })
})

/** As the provider has them: names with their prefix, words before the description, the schema of the server. */
function expectDefinitions(tools: readonly JsonObject[], safe: readonly string[]): void {
  const names = tools.map(({ name }) => String(name))
  expect(names.filter((name) => name.startsWith(SAFE)).sort()).toEqual(safe.map((name) => SAFE + name).sort())
  expect(names.filter((name) => name.startsWith('mcp_everything_')).length).toBeGreaterThan(5)
  expect(tools.find(({ name }) => name === `${SAFE}read_text_file`)).toMatchObject({
    description: expect.stringMatching(/^\[Filesystem MCP\] /),
    input_schema: { type: 'object', required: ['path'] },
    cache_control: { type: 'ephemeral' },
  })
}

/** The guide's `mcpService.discoverAndRegister`. */
async function discoverAndRegister(
  host: HostServices,
  config: object,
  transform: ToolTransformer[] = [],
): Promise<void> {
  const { stored } = await host.toolkits.register(config, ann, { transform })
  await host.catalog.introspect(stored, ann.userId)
}

/** As the guide has it: what is registered is sent, and nothing waits to be found. */
const atOnce: ToolTransformer = (tool) => ({ ...tool, deferred: false })
const resultsIn = ({ content }: JsonObject) =>
  (Array.isArray(content) ? (content as JsonObject[]) : []).filter(({ type }) => type === 'tool_result')
