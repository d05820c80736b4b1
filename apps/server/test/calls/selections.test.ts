/** Over HTTP, with a real server: from a prompt to the tools that it needs, what a thread loads, and a model's own search. */
import { createRequire } from 'node:module'
import { nodeDrivers, wordVectors } from '@loadout/core/node'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Body, type MultiUserApp, multiUserApp } from '../support/multi-user-app.ts'

let app: MultiUserApp
const ann = () => app.as('ann')
const everything = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-everything/dist/index.js')

beforeAll(async () => {
  app = multiUserApp({ drivers: nodeDrivers({ stdio: 'on' }), search: { vectors: wordVectors } })
  await ann()('POST /api/mcp', { name: 'everything', command: process.execPath, args: [everything, 'stdio'] })
  await ann()('POST /api/threads', { id: 't' })
})
afterAll(() => app.host.close())
const refsOf = (body: Body): string[] => body.tools.map((tool: { ref: string }) => tool.ref)

describe('POST /api/threads/:id/resolve', () => {
  it('returns the tools for the prompt with reasons and cost', async () => {
    const { status, body } = await ann()('POST /api/threads/t/resolve', { prompt: 'add two numbers', limit: 2 })
    expect(status).toBe(200)
    expect(refsOf(body).slice(0, 2)).toEqual(['loadout.read_result', 'loadout.search_tools'])
    expect(body.tools).toHaveLength(4)
    expect(body.tools[2]).toMatchObject({
      ref: 'everything.get-sum',
      modelName: 'mcp_everything_get-sum',
      name: 'get-sum',
      by: 'search',
      inputSchema: { type: 'object' },
    })
    expect(body.tools[2].reasons.length).toBeGreaterThan(0)
    expect(body.tokens.after).toBeLessThan(body.tokens.before)
    expect(body).toMatchObject({ dropped: [], strategy: 'hybrid', tokens: { tokenizer: 'o200k_base' } })
    expect(body.deferred).toBeGreaterThan(3)
    const again = await ann()('POST /api/threads/t/resolve', { prompt: 'add two numbers', limit: 2 })
    expect([body.stablePrefix, again.body.stablePrefix]).toEqual([0, 4])
  })

  it('stays within a budget and reports the dropped tools', async () => {
    const { body } = await ann()('POST /api/threads/t/resolve', { prompt: 'add two numbers', maxTokens: 250 })
    expect(body.tokens.after).toBeLessThanOrEqual(250)
    expect(refsOf(body)).toContain('everything.get-sum')
    expect(body.dropped[0]).toMatchObject({ ref: expect.any(String), reason: expect.stringContaining('maxTokens') })
  })

  it.each([
    [{ prompt: 7 }, 'prompt'],
    [{ prompt: 'x', limit: -1 }, 'limit'],
    [{ prompt: 'x', strategy: 'magic' }, 'strategy'],
    [{ prompt: 'x', histroy: [] }, 'histroy'],
  ])('rejects %j and names the path', async (input, path) => {
    const { status, body } = await ann()('POST /api/threads/t/resolve', input)
    expect([status, body.errors[0].path]).toEqual([422, path])
  })

  it("returns 404 for another's thread", async () => {
    expect((await app.as('bob')('POST /api/threads/t/resolve', { prompt: 'x' })).status).toBe(404)
  })
})

describe('tools found with search_tools', () => {
  it('are listed, stay in the thread and are removed when unloaded', async () => {
    const found = await ann()('POST /api/tools/loadout/search_tools/call', {
      arguments: { query: 'a tiny image', limit: 1 },
      threadId: 't',
    })
    expect(found.body).toMatchObject({
      status: 'ok',
      structuredContent: { tools: [{ ref: 'everything.get-tiny-image' }] },
    })
    expect((await ann()('GET /api/threads/t/loaded')).body.items).toEqual([
      { ref: 'everything.get-tiny-image', sticky: false },
    ])
    const { body } = await ann()('POST /api/threads/t/resolve', { prompt: '', limit: 0 })
    expect(refsOf(body)).toContain('everything.get-tiny-image')
    await ann()('POST /api/threads/t/loaded', { refs: ['everything.echo'], sticky: true })
    const unloaded = await ann()('DELETE /api/threads/t/loaded?ref=everything.get-tiny-image')
    expect(unloaded.body.items).toEqual([{ ref: 'everything.echo', sticky: true }])
    const unknown = await ann()('POST /api/threads/t/loaded', { refs: ['nobody.knows'] })
    expect(unknown.body).toMatchObject({ code: 'not-carried', action: expect.not.stringContaining('explain()') })
    // A misspelt name unloads nothing.
    const misspelt = await ann()('DELETE /api/threads/t/loaded?reff=everything.echo')
    expect([misspelt.status, misspelt.body.errors[0].path]).toEqual([422, 'reff'])
    expect((await ann()('GET /api/threads/t/loaded')).body.items).toHaveLength(1)
    expect((await ann()('DELETE /api/threads/t/loaded')).body.items).toEqual([])
  })
})

describe('GET /api/tools?q=', () => {
  it('rejects an empty thread ID with the field', async () => {
    const { status, body } = await ann()('GET /api/tools?q=echo&threadId=')
    expect([status, body.errors[0].path]).toEqual([422, 'threadId'])
    expect(JSON.stringify(body)).not.toContain('control characters')
  })

  it.each(['hybrid', 'bm25', 'semantic', 'regex'])('finds tools by the %s strategy', async (strategy) => {
    const { body } = await ann()(`GET /api/tools?q=echo&strategy=${strategy}&limit=3&threadId=t`)
    expect(body.strategy).toBe(strategy)
    expect(refsOf(body)).toContain('everything.echo')
    expect(body.tools.length).toBeLessThanOrEqual(3)
    expect(body.items).toEqual(body.tools)
  })
})
