import { MockEmbeddingModelV4 } from 'ai/test'
import { expect, it } from 'vitest'
import type { LoadoutEntry } from '../schema/toolkit/loadout-entry.ts'
import { createSearcher } from '../search/searcher.ts'
import { createToolVectors } from '../search/vectors/tool-vectors.ts'
import { memory } from '../storage/memory.ts'
import { aiEmbedder } from './embedder.ts'

const entry = (tool: string, description: string): LoadoutEntry => ({
  ref: `kit.${tool}`,
  modelName: `mcp_kit_${tool}`,
  tier: 'app',
  toolkit: 'kit',
  uscoId: 'usco_kit',
  tool,
  manifest: { name: tool, description, inputSchema: { type: 'object' } },
  deferred: true,
  allowedCallers: ['direct'],
  tokens: 1,
  included: true,
  reasons: [],
})
const ENTRIES = [entry('look', 'Says the forecast.'), entry('write', 'Brings a letter to the post.')]

const modelOf = (answer: (texts: string[]) => number[][], most = 1) =>
  new MockEmbeddingModelV4({
    provider: 'scripted',
    modelId: 'topics-1',
    maxEmbeddingsPerCall: most,
    supportsParallelCalls: true,
    doEmbed: async ({ values }) => ({ embeddings: answer(values), warnings: [] }),
  })
const isOfWeather = (text: string) => /forecast|umbrella/.test(text)

it('an AI SDK embedding model embeds texts in batches up to its limit', async () => {
  const model = modelOf((texts) => texts.map((text) => (isOfWeather(text) ? [1, 0] : [0, 1])))
  const embedder = aiEmbedder(model)
  expect(embedder.name).toBe('scripted:topics-1')
  const searcher = createSearcher({ embedded: createToolVectors(embedder, memory()) })
  const { hits, warnings } = await searcher.search(ENTRIES, 'umbrella?')
  expect([hits[0]?.ref, warnings]).toEqual(['kit.look', undefined])
  expect(model.doEmbedCalls.map(({ values }) => values.length)).toEqual([1, 1, 1])
})

it('an embedding model with other dimensions than requested is not used and causes a warning', async () => {
  const embedder = aiEmbedder(
    modelOf((texts) => texts.map(() => [1, 0, 0])),
    { dimensions: 2 },
  )
  expect(embedder.name).toBe('scripted:topics-1:2')
  const searcher = createSearcher({ embedded: createToolVectors(embedder, memory()) })
  const { hits, warnings } = await searcher.search(ENTRIES, 'a letter')
  expect(hits[0]?.ref).toBe('kit.write')
  expect(warnings?.[0]).toContain('"scripted:topics-1:2" failed')
})

it('a failing embedding model does not fail the search', async () => {
  const model = modelOf(() => {
    throw new Error('the service is away')
  })
  const searcher = createSearcher({ embedded: createToolVectors(aiEmbedder(model), memory(), { waitMs: 200 }) })
  const { hits, warnings } = await searcher.search(ENTRIES, 'a letter')
  expect(hits[0]?.ref).toBe('kit.write')
  expect(warnings).toHaveLength(1)
})
