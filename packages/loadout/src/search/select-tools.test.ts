import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { LoadoutEntry } from '../schema/toolkit/loadout-entry.ts'
import { SEARCH_ENTRY } from './search-tools.ts'
import { selectTools } from './select-tools.ts'

const entry = (ref: string, deferred: boolean, tokens = 100): LoadoutEntry => ({
  ref,
  modelName: `mcp_${ref.replace('.', '_')}`,
  tier: 'user',
  toolkit: 'kit',
  tool: ref.slice(4),
  manifest: { name: ref.slice(4), inputSchema: { type: 'object' } },
  deferred,
  tokens,
  included: true,
  allowedCallers: ['direct'],
  reasons: [],
})
const hit = (ref: string, score = 1) => ({ ref, score, reasons: ['"it" in its name'] })
const count = (one: LoadoutEntry) => (one === SEARCH_ENTRY ? 50 : one.tokens)
const refs = (chosen: ReturnType<typeof selectTools>) => chosen.tools.map((one) => one.entry.ref)

describe('tool selection', () => {
  const tools = [entry('kit.a', false), entry('kit.b', true), entry('kit.c', true), entry('kit.d', true)]

  it('includes always-on, loaded and found tools in this order, and search_tools for the others', () => {
    const loaded = [
      { ref: 'kit.d', sticky: false },
      { ref: 'kit.c', sticky: true },
    ]
    const chosen = selectTools({ tools, loaded, hits: [hit('kit.b', 0.9)], mayTakeAll: false, count })
    expect(chosen.tools.map(({ entry: one, by, score }) => [one.ref, by, score])).toEqual([
      ['kit.a', 'always', undefined],
      ['kit.d', 'loaded', undefined],
      ['kit.c', 'sticky', undefined],
      ['kit.b', 'search', 0.9],
    ])
    expect(chosen).toMatchObject({ deferred: [], dropped: [], tokens: 400 })
    expect(refs(selectTools({ tools, loaded: [], hits: [], count }))).toEqual(['kit.a', SEARCH_ENTRY.ref])
  })

  it('includes only available tools, whatever was loaded or found', () => {
    const chosen = selectTools({ tools, loaded: [{ ref: 'kit.gone', sticky: true }], hits: [hit('kit.other')], count })
    expect(refs(chosen)).toEqual(['kit.a', SEARCH_ENTRY.ref])
  })

  it('keeps the best matches in a small budget and reports dropped tools', () => {
    const loaded = [{ ref: 'kit.c', sticky: false }]
    const chosen = selectTools({ tools, loaded, hits: [hit('kit.b')], maxTokens: 260, count })
    expect(refs(chosen)).toEqual(['kit.a', SEARCH_ENTRY.ref, 'kit.b'])
    expect(chosen.dropped).toEqual([
      { ref: 'kit.c', reason: 'It costs 100 tokens, and maxTokens is 260, of which search_tools needs 50.' },
    ])
    expect(selectTools({ tools, loaded, hits: [], maxTokens: 0, count })).toMatchObject({ tools: [], tokens: 0 })
  })

  it('reserves no room for search_tools if all tools fit or if it does not fit itself', () => {
    const always = [entry('kit.a', false, 28), entry('kit.b', false, 28)]
    const dear = (one: LoadoutEntry) => (one === SEARCH_ENTRY ? 137 : one.tokens)
    for (const maxTokens of [56, 70, 150]) {
      const chosen = selectTools({ tools: always, loaded: [], hits: [], maxTokens, count: dear })
      expect(chosen).toMatchObject({ deferred: [], dropped: [], tokens: 56 })
    }
    const waiting = ['a', 'b', 'c', 'd'].map((name) => entry(`kit.${name}`, true, 31))
    const hits = waiting.slice(0, 3).map(({ ref }) => hit(ref))
    const chosen = selectTools({ tools: waiting, loaded: [], hits, maxTokens: 100, count: dear })
    expect(refs(chosen)).toEqual(['kit.a', 'kit.b', 'kit.c'])
    expect(chosen.dropped).toEqual([{ ref: SEARCH_ENTRY.ref, reason: 'It costs 137 tokens, and maxTokens is 100.' }])
    // `search_tools` alone would find tools that have no room.
    const dearer = waiting.map((one) => ({ ...one, tokens: 60 }))
    expect(refs(selectTools({ tools: dearer, loaded: [], hits, maxTokens: 140, count: dear }))).toEqual([
      'kit.a',
      'kit.b',
    ])
    expect(refs(selectTools({ tools: dearer, loaded: [], hits, maxTokens: 200, count: dear }))).toEqual([
      SEARCH_ENTRY.ref,
      'kit.a',
    ])
  })

  it('sends all tools in loadout order up to a number of tokens, and within the budget', () => {
    const input = { tools, loaded: [{ ref: 'kit.d', sticky: false }], hits: [hit('kit.c')], count }
    expect(refs(selectTools({ ...input, sendAllBelow: 400 }))).toEqual(['kit.a', 'kit.b', 'kit.c', 'kit.d'])
    expect(refs(selectTools({ ...input, sendAllBelow: 399 }))).toEqual(['kit.a', SEARCH_ENTRY.ref, 'kit.d', 'kit.c'])
    expect(refs(selectTools({ ...input, sendAllBelow: 400, mayTakeAll: false }))).toContain(SEARCH_ENTRY.ref)
    expect(selectTools({ ...input, sendAllBelow: 400, maxTokens: 399 }).tokens).toBeLessThan(400)
  })

  it('includes all tools if that costs no more, unless this is not allowed', () => {
    const few = ['a', 'b', 'c'].map((name) => entry(`kit.${name}`, true, 20))
    const chosen = selectTools({ tools: few, loaded: [], hits: [hit('kit.b', 0.7)], count })
    expect(refs(chosen)).toEqual(['kit.a', 'kit.b', 'kit.c'])
    expect(chosen).toMatchObject({ deferred: [], dropped: [], tokens: 60 })
    expect(chosen.tools[0]).toMatchObject({ by: 'always', reasons: [expect.stringContaining('is small')] })
    expect(chosen.tools[1]).toMatchObject({ by: 'search', score: 0.7 })
    expect(refs(selectTools({ tools: few, loaded: [], hits: [], mayTakeAll: false, count }))).toEqual([
      SEARCH_ENTRY.ref,
    ])
  })

  it('defers the best of many tools first and few tools in loadout order', () => {
    const many = Array.from({ length: 150 }, (_, at) => entry(`kit.t${at}`, true))
    const input = { loaded: [], hits: [hit('kit.t9')], rest: ['kit.t149', 'kit.t7'], count }
    const { deferred } = selectTools({ tools: many, ...input })
    expect(deferred.slice(0, 3).map(({ ref }) => ref)).toEqual(['kit.t149', 'kit.t7', 'kit.t0'])
    expect(selectTools({ tools: many.slice(0, 50), ...input }).deferred[0]?.ref).toBe('kit.t0')
  })

  const some = fc.array(
    fc.record({ id: fc.nat(30), deferred: fc.boolean(), tokens: fc.integer({ min: 1, max: 500 }) }),
    { maxLength: 20 },
  )
  const ids = fc.array(fc.nat(40))
  it('stays within its budget, includes each available tool at most once and is complete', () =>
    fc.assert(
      fc.property(fc.record({ available: some, loaded: ids, found: ids, maxTokens: fc.nat(3000) }), (one) => {
        const { available, loaded, found, maxTokens } = one
        const all = [
          ...new Map(available.map(({ id, deferred, tokens }) => [id, entry(`kit.t${id}`, deferred, tokens)])).values(),
        ]
        const chosen = selectTools({
          tools: all,
          maxTokens,
          count,
          hits: found.map((id) => hit(`kit.t${id}`)),
          loaded: loaded.map((id) => ({ ref: `kit.t${id}`, sticky: id % 3 === 0 })),
        })
        const own = chosen.tools.filter((one) => one.entry !== SEARCH_ENTRY).map((one) => one.entry)
        expect(chosen.tokens).toBeLessThanOrEqual(maxTokens)
        expect(new Set(own).size).toBe(own.length)
        expect([...own, ...chosen.deferred].sort(byRef)).toEqual([...all].sort(byRef))
        const hasSearch = chosen.tools.some((one) => one.entry === SEARCH_ENTRY)
        const isReported = chosen.dropped.some(({ ref }) => ref === SEARCH_ENTRY.ref)
        expect(hasSearch || isReported).toBe(chosen.deferred.length > 0)
      }),
    ))
})

const byRef = (a: LoadoutEntry, b: LoadoutEntry) => (a.ref < b.ref ? -1 : 1)
