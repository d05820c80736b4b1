import { describe, expect, it } from 'vitest'
import { APP_OWNER } from '../../schema/ids.ts'
import type { LoadoutEntry } from '../../schema/toolkit/loadout-entry.ts'
import { memory } from '../../storage/memory.ts'
import { pglite } from '../../storage/pglite.ts'
import type { Storage } from '../../storage/storage.ts'
import { createSearcher } from '../searcher.ts'
import type { Embedder } from './embedder.ts'
import { fromText, likeness, readVectors, toText, type Vector, vectorOf } from './embedder.ts'
import { wordVectors } from './read-vectors.ts'
import { createToolVectors, type ToolVectorsOptions } from './tool-vectors.ts'
import { WordVectors } from './word-vectors.ts'

/** Topics of the test embedder: one row of words each. */
const TOPICS = [
  ['rain', 'weather', 'forecast', 'umbrella', 'sunny'],
  ['letter', 'mail', 'message', 'inbox', 'post'],
  ['money', 'invoice', 'bill', 'payment', 'owe'],
]

function topicEmbedder(overrides: Partial<Embedder> = {}) {
  const requests: string[][] = []
  let atOnce = 0
  let most = 0
  const embedder: Embedder = {
    name: 'topics',
    dimensions: 4,
    async embed(texts) {
      requests.push(texts)
      most = Math.max(most, ++atOnce)
      await new Promise((resolve) => setTimeout(resolve, 1))
      atOnce--
      return texts.map((text) => {
        const words = text.toLowerCase().split(/\W+/)
        return [...TOPICS.map((topic) => words.filter((word) => topic.includes(word)).length), 0.1]
      })
    },
    ...overrides,
  }
  return { embedder, requests, most: () => most }
}

function entry(ref: string, description: string, tier: LoadoutEntry['tier'] = 'app'): LoadoutEntry {
  const [toolkit = '', tool = ''] = ref.split('.')
  return {
    ref,
    modelName: `mcp_${toolkit}_${tool}`,
    tier,
    toolkit,
    uscoId: `usco_${toolkit}`,
    tool,
    manifest: { name: tool, description, inputSchema: { type: 'object' } },
    deferred: true,
    allowedCallers: ['direct'],
    tokens: 1,
    included: true,
    reasons: [],
  }
}

const ENTRIES = [
  entry('sky.look', 'Says the forecast.'),
  entry('desk.write', 'Brings a letter to the post.'),
  entry('desk.file', 'Keeps a paper.'),
  entry('till.ask', 'Makes an invoice.', 'user'),
]

const searching = (
  overrides: Partial<Embedder> = {},
  storage: Storage = memory(),
  options: ToolVectorsOptions = {},
) => {
  const model = topicEmbedder(overrides)
  const searcher = createSearcher({ embedded: createToolVectors(model.embedder, storage, options) })
  return { ...model, storage, searcher }
}

describe('semantic search by an embedder', () => {
  it('finds tools that share no word with the query', async () => {
    const { searcher } = searching()
    const { hits, strategy, warnings } = await searcher.search(ENTRIES, 'umbrella?', { userId: 'ann' })
    expect([hits[0]?.ref, strategy, warnings]).toEqual(['sky.look', 'hybrid', undefined])
    expect((await searcher.search(ENTRIES, 'owe', { strategy: 'semantic' })).hits[0]?.ref).toBe('till.ask')
    expect((await searcher.search(ENTRIES, 'owe', { strategy: 'bm25' })).hits).toEqual([])
  })

  it('embeds each tool and each query once, in batches and few at a time', async () => {
    const { searcher, requests, most } = searching()
    const many = Array.from({ length: 500 }, (_, index) => entry(`kit${index % 5}.tool${index}`, `Letter ${index}.`))
    await Promise.all(Array.from({ length: 10 }, () => searcher.search(many, 'mail')))
    await searcher.search(many, 'mail')
    expect(requests.flat()).toHaveLength(501)
    expect(requests.length).toBeLessThanOrEqual(1 + 6)
    expect(Math.max(...requests.map((texts) => texts.length))).toBeLessThanOrEqual(96)
    expect(most()).toBeLessThanOrEqual(2)
  })

  for (const [name, open] of Object.entries({ memory, pglite }))
    it(`needs no new tool embeddings after a restart, with ${name}`, async () => {
      const storage = open()
      await storage.ready()
      const ann = { userId: 'ann' }
      const first = searching({}, storage)
      const before = await first.searcher.search(ENTRIES, 'umbrella', ann)
      expect(first.requests.flat()).toHaveLength(5)
      const stored = () => storage.transaction(ann, (tx) => tx.list('toolVectors'))
      await expect.poll(stored).toHaveLength(4)
      const rows = await stored()
      expect(rows.map(({ userId }) => userId).sort()).toEqual([APP_OWNER, APP_OWNER, APP_OWNER, 'ann'])
      expect(JSON.stringify(rows)).not.toContain('forecast')
      const second = searching({}, storage)
      expect(await second.searcher.search(ENTRIES, 'umbrella', ann)).toEqual(before)
      expect(second.requests).toEqual([['umbrella']])
      // Vectors of user tools belong to that user, and another embedder has none of them.
      const other = searching({}, storage)
      await other.searcher.search(ENTRIES, 'umbrella', { userId: 'bob' })
      expect(other.requests.flat()).toHaveLength(2)
      const renamed = searching({ name: 'others' }, storage)
      await renamed.searcher.search(ENTRIES, 'umbrella', ann)
      expect(renamed.requests.flat()).toHaveLength(5)
      await storage.close()
    })

  it('embeds only changed tools', async () => {
    const { searcher, requests } = searching()
    await searcher.search(ENTRIES, 'umbrella')
    const [first, ...rest] = ENTRIES as [LoadoutEntry]
    const changed = { ...first, manifest: { ...first.manifest, description: 'Says whether it will be sunny.' } }
    await searcher.search([changed, ...rest], 'umbrella')
    expect(requests.at(-1)).toEqual([expect.stringContaining('sunny')])
    expect(requests.flat()).toHaveLength(6)
  })

  it.each<[string, Partial<Embedder>]>([
    ['fails', { embed: () => Promise.reject(new Error('secret address of the service')) }],
    ['throws', { embed: () => fail() }],
    ['gives too few vectors', { embed: async () => [] }],
    ['gives no list', { embed: async () => 'no' as never }],
    ['gives what is no number', { embed: async (texts) => texts.map(() => [1, Number.NaN, 0, 0]) }],
    ['gives what is not finite', { embed: async (texts) => texts.map(() => [1, Number.POSITIVE_INFINITY, 0, 0]) }],
    ['gives other dimensions', { embed: async (texts) => texts.map(() => [1, 2]) }],
    ['gives a text for a number', { embed: async (texts) => texts.map(() => ['1', 0, 0, 0] as never) }],
  ])('falls back to words with a warning when the embedder %s', async (_name, overrides) => {
    const { searcher } = searching(overrides)
    for (let again = 0; again < 2; again++) {
      const { hits, warnings = [] } = await searcher.search(ENTRIES, 'a letter to the post')
      expect(hits[0]?.ref).toBe('desk.write')
      expect(warnings).toHaveLength(1)
      expect(warnings[0]).toContain('The embedder "topics"')
      expect(warnings[0]).not.toContain('secret')
    }
    expect((await searcher.search(ENTRIES, 'a letter', { strategy: 'semantic' })).hits[0]?.ref).toBe('desk.write')
  })

  it('that is slow is not waited for and is used once it is done', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const { embedder } = topicEmbedder()
    const slow: Partial<Embedder> = { embed: (texts, options) => promise.then(() => embedder.embed(texts, options)) }
    const { searcher } = searching(slow, memory(), { waitMs: 20 })
    const { hits, warnings } = await searcher.search(ENTRIES, 'a letter for an umbrella')
    expect(hits.map(({ ref }) => ref)).toEqual(['desk.write'])
    expect(warnings?.[0]).toContain('in time')
    resolve()
    await expect
      .poll(async () => (await searcher.search(ENTRIES, 'umbrella')).hits.map(({ ref }) => ref)[0])
      .toBe('sky.look')
  })
})

describe('an embedder failure', () => {
  const poisoned: Partial<Embedder> = {
    async embed(texts) {
      if (texts.some((text) => text.includes('poison'))) throw new Error('refused')
      return topicEmbedder().embedder.embed(texts, { signal: AbortSignal.abort() })
    },
  }

  it('for queries of one user affects that user, and for several users affects everyone', async () => {
    const { searcher } = searching(poisoned)
    const ask = async (userId: string, text: string) => {
      const { strategy, warnings = [] } = await searcher.search(ENTRIES, text, { userId, strategy: 'semantic' })
      return [strategy, warnings.length]
    }
    expect(await ask('bob', 'umbrella')).toEqual(['semantic', 0])
    for (let again = 0; again < 5; again++) expect(await ask('ann', `poison ${again}`)).toEqual(['bm25', 1])
    expect(await ask('ann', 'umbrella')).toEqual(['bm25', 1])
    expect(await ask('bob', 'umbrella')).toEqual(['semantic', 0])
    for (const userId of ['cid', 'dan', 'eve']) expect(await ask(userId, 'poison')).toEqual(['bm25', 1])
    expect(await ask('bob', 'umbrella')).toEqual(['bm25', 1])
  })

  it('for tools of one user affects only that user', async () => {
    const { searcher } = searching(poisoned)
    const own = [...ENTRIES, entry('bad.tool', 'A poison.', 'user')]
    expect((await searcher.search(own, 'umbrella', { userId: 'ann' })).warnings).toHaveLength(1)
    expect((await searcher.search(ENTRIES, 'umbrella', { userId: 'bob' })).warnings).toBeUndefined()
  })

  it('reports which search was used instead', async () => {
    const { embedder } = topicEmbedder({ embed: () => Promise.reject(new Error('down')) })
    const vectors = async () => new WordVectors(await wordVectors())
    const with_ = createSearcher({ embedded: createToolVectors(embedder, memory()), vectors })
    const { warnings, strategy } = await with_.search(ENTRIES, 'a letter')
    expect([warnings, strategy]).toEqual([['The embedder "topics" failed (Error). Word vectors were used.'], 'hybrid'])
    const without = createSearcher({ embedded: createToolVectors(embedder, memory()) })
    expect((await without.search(ENTRIES, 'a letter')).warnings?.[0]).toContain('Words alone were used.')
  })
})

const fail = (): never => {
  throw new TypeError('at once')
}

describe('stored vectors', () => {
  it('are restored exactly from text', () => {
    const vector = vectorOf([0.3, -0.7, 0, 1e-9, 0.7]) as Vector
    expect(fromText(toText(vector))).toEqual(vector)
    expect(likeness(vector, vector)).toBeCloseTo(1)
    expect(fromText('not base64 at all!')).toBeUndefined()
  })

  it('in bytes keep their similarity approximately', () => {
    let seed = 7
    const random = () => {
      seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0
      return seed / 2 ** 31 - 1
    }
    for (let again = 0; again < 50; again++) {
      const [a, b] = [0, 1].map(() => Array.from({ length: 256 }, random)) as [number[], number[]]
      const dot = (x: number[], y: number[]) => x.reduce((sum, value, at) => sum + value * (y[at] as number), 0)
      const exact = dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b))
      expect(likeness(vectorOf(a) as Vector, vectorOf(b) as Vector)).toBeCloseTo(exact, 1)
    }
  })

  it('of zeros are similar to nothing', () => {
    const [zero, some] = readVectors(
      { name: 'x' },
      [
        [0, 0],
        [1, 0],
      ],
      2,
    ) as [Vector, Vector]
    expect(likeness(zero, some)).toBe(0)
  })
})
