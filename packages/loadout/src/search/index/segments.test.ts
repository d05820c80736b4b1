import { describe, expect, it } from 'vitest'
import { createServices } from '../../host/create-services.ts'
import type { LoadoutEntry } from '../../schema/toolkit/loadout-entry.ts'
import { createSearcher } from '../searcher.ts'

const VERBS = ['list', 'read', 'create', 'delete', 'update', 'send', 'search', 'count', 'share', 'archive']
const NOUNS = ['issue', 'file', 'letter', 'invoice', 'calendar', 'repository', 'customer', 'photo', 'ticket', 'page']

/** A toolkit as in the catalog: all scopes share its manifests. */
function toolkit(id: string, count: number, tier: LoadoutEntry['tier'] = 'app'): LoadoutEntry[] {
  return Array.from({ length: count }, (_, index) => {
    const [verb, noun] = [VERBS[index % 10], NOUNS[Math.floor(index / 10) % 10]]
    const tool = `${verb}_${noun}_${index}`
    const description = `Can ${verb} every ${noun} of ${id}, one after another, and says what came of it (${index}).`
    const properties = { [`${noun}_id`]: { type: 'string', description: `Which ${noun} to ${verb}` } }
    return {
      ref: `${id}.${tool}`,
      modelName: `mcp_${id}_${tool}`,
      tier,
      toolkit: id,
      uscoId: `usco_${id}`,
      tool,
      manifest: { name: tool, description, inputSchema: { type: 'object', properties } },
      deferred: true,
      allowedCallers: ['direct'],
      tokens: 50,
      included: true,
      reasons: [],
    }
  })
}
/** Each scope has its own entries for the shared manifests. */
const scopeOf = (toolkits: readonly LoadoutEntry[][]) => toolkits.flat().map((entry) => ({ ...entry }))

describe('search indexes', () => {
  it('are shared by 10,000 users with the same toolkits', async () => {
    const app = Array.from({ length: 20 }, (_, index) => toolkit(`kit${index}`, 2))
    const searcher = createSearcher()
    await searcher.search(scopeOf(app), 'list the issues')
    const before = await searcher.size()
    expect(before).toMatchObject({ tools: 40 })
    expect(before.segments).toBeLessThanOrEqual(20)
    for (let user = 0; user < 10_000; user++) {
      const { hits } = await searcher.search(scopeOf(app), 'list the issues', { userId: `user ${user}`, limit: 3 })
      expect(hits).toHaveLength(3)
    }
    expect(await searcher.size()).toEqual(before)
  })

  it('are shared by users of one host, whatever each user turned off', async () => {
    const tools = toolkit('app', 50).map(({ manifest }) => ({ ...manifest, execute: () => 'done' }))
    const host = createServices({ tools: tools as never })
    const searcher = createSearcher()
    for (let user = 0; user < 1000; user++) {
      const userId = `user ${user}`
      if (user % 10 === 0) await host.activations.set({ userId }, [{ ref: 'app.send_*', on: false }])
      const { entries } = await host.loadouts.resolve({ userId })
      const { hits } = await searcher.search(entries, 'send the file', { userId })
      expect(hits.some(({ ref }) => ref.startsWith('app.send_'))).toBe(user % 10 !== 0)
    }
    expect(await searcher.size()).toEqual({ segments: 1, tools: 50 })
    await host.close()
  })

  it('are separate for the toolkits of one user', async () => {
    const app = Array.from({ length: 40 }, (_, index) => toolkit(`kit${index}`, 5))
    const searcher = createSearcher()
    await searcher.search(scopeOf(app), 'send')
    const before = await searcher.size()
    for (let user = 0; user < 50; user++)
      await searcher.search(scopeOf([...app, toolkit(`mine${user}`, 3, 'user')]), 'send')
    const after = await searcher.size()
    expect(after.segments - before.segments).toBe(50)
    expect(after.tools - before.tools).toBe(150)
  })

  it('are rebuilt in parts when one toolkit of 200 changes', async () => {
    const app = Array.from({ length: 200 }, (_, index) => toolkit(`kit${index}`, 10))
    const searcher = createSearcher()
    await searcher.search(scopeOf(app), 'send')
    const before = await searcher.size()
    const [first] = app[7] as [LoadoutEntry]
    app[7] = [
      { ...first, manifest: { ...first.manifest, description: 'Waters the zinnias.' } },
      ...(app[7]?.slice(1) ?? []),
    ]
    const { hits } = await searcher.search(scopeOf(app), 'zinnias')
    expect(hits.map(({ ref }) => ref)).toEqual([first.ref])
    const after = await searcher.size()
    expect(after.segments - before.segments).toBe(1)
    expect(after.tools - before.tools).toBeLessThan(before.tools / 4)
  })

  it('are kept when the same tools are read again', async () => {
    const app = Array.from({ length: 30 }, (_, index) => toolkit(`kit${index}`, 10))
    const searcher = createSearcher()
    await searcher.search(scopeOf(app), 'send')
    const before = await searcher.size()
    await searcher.search(structuredClone(scopeOf(app)), 'send')
    expect(await searcher.size()).toEqual(before)
  })

  it('are built once for concurrent searches', async () => {
    const app = Array.from({ length: 5 }, (_, index) => toolkit(`kit${index}`, 200))
    const searcher = createSearcher()
    const all = await Promise.all(Array.from({ length: 20 }, () => searcher.search(scopeOf(app), 'send a letter')))
    expect(new Set(all.map(({ hits }) => JSON.stringify(hits))).size).toBe(1)
    expect(await searcher.size()).toEqual({ segments: 5, tools: 1000 })
  })

  it('give the same hit order for any toolkit order', async () => {
    const app = Array.from({ length: 60 }, (_, index) => toolkit(`kit${index}`, 4))
    const one = await createSearcher().search(scopeOf(app), 'read the file of kit17')
    const other = await createSearcher().search(scopeOf([...app].reverse()), 'read the file of kit17')
    expect(other).toEqual(one)
  })
})
