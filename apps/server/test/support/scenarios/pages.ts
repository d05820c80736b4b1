/** Paginated lists: read to their end, or to the page limit. */
import { expect } from 'vitest'
import type { RpcMessage } from '../../../../../test/scenario-http.ts'
import type { ScenarioContext, Scenarios } from './scenario-context.ts'

const PAGES_COUNT = 7
const cursors = (messages: Array<RpcMessage | undefined>) => messages.map((message) => message?.params?.cursor)
const EXPECTED = [undefined, ...Array.from({ length: PAGES_COUNT - 1 }, (_, i) => String(i + 1))]
const numbered = (name: string) => Array.from({ length: PAGES_COUNT }, (_, i) => `${name}${i}`)
const namesIn = (items: Array<{ name: string }>) => items.map(({ name }) => name)

async function readsAll(world: ScenarioContext, kind: 'legacy' | 'modern'): Promise<void> {
  const server = await world.http(kind, { pages: { count: PAGES_COUNT } })
  expect(namesIn(world.view.tools)).toEqual(numbered('tool-'))
  const asked = (method: string) => cursors(server.of(method).map(({ message }) => message))
  expect(asked('tools/list')).toEqual(EXPECTED)
  const resources = await world.ask(`GET /mcp/${world.id}/resources`)
  expect(namesIn(resources.body.items)).toEqual(numbered('r'))
  expect(asked('resources/list')).toEqual(EXPECTED)
  const prompts = await world.ask(`GET /mcp/${world.id}/prompts`)
  expect(namesIn(prompts.body.items)).toEqual(numbered('prompt-'))
  expect(asked('prompts/list')).toEqual(EXPECTED)
}

export const PAGES: Scenarios = {
  'return all tools, resources and prompts over legacy HTTP': (world) => readsAll(world, 'legacy'),
  'return all tools, resources and prompts over 2026-07-28 HTTP': (world) => readsAll(world, 'modern'),

  async 'return all tools over stdio'(world) {
    const server = await world.stdio('modern', { pages: { count: PAGES_COUNT } })
    expect(namesIn(world.view.tools)).toEqual(numbered('tool-'))
    expect(cursors(server.of('tools/list'))).toEqual(EXPECTED)
  },

  async 'end at a repeated cursor and return the items read before it'(world) {
    const server = await world.http('legacy', { pages: { count: 3, after: 'again' } })
    expect(world.view.state.status).toBe('connected')
    expect(new Set(namesIn(world.view.tools))).toEqual(new Set(['tool-0', 'tool-1', 'tool-2']))
    expect(server.of('tools/list').length).toBeLessThanOrEqual(4)
    const { body } = await world.ask(`GET /mcp/${world.id}/resources`)
    expect(body.items.length).toBeGreaterThanOrEqual(3)
    expect(server.of('resources/list').length).toBeLessThanOrEqual(4)
  },

  async 'end at the page limit, and the state reports the reason'(world) {
    const server = await world.http('modern', { pages: { count: 1, after: 'endless' } })
    expect(world.view.state).toMatchObject({ status: 'error', reason: expect.stringContaining('pages') })
    expect(server.of('tools/list')).toHaveLength(64)
    expect(await world.ask(`GET /mcp/${world.id}/prompts`)).toMatchObject({
      status: 502,
      body: { code: 'malformed-list' },
    })
  },
}
