/** How a host searches, made of what an app gives: words always, meaning where there is a source of it, and what users did. */
import type { ReadCache, Storage } from '../storage/storage.ts'
import { createSearcher, type MeasuredSearcher } from './searcher.ts'
import { createToolUsage, type ToolUsage, type ToolUsageDeps } from './usage/tool-usage.ts'
import { type VectorSource, vectorsFrom } from './vectors/bundled-vectors.ts'
import { type Embedder, type EmbedTexts, readEmbedder } from './vectors/embedder.ts'
import { createToolVectors, type ToolVectors } from './vectors/tool-vectors.ts'

export interface SearchSetup {
  /** Word vectors, for meaning offline; false: by words alone. @default those that come with the library */
  vectors?: VectorSource | undefined
  /** Any model that embeds. It comes before word vectors; where it does not answer, they are used, and that is told. */
  embedder?: Embedder | EmbedTexts | undefined
  /** How long a search waits for the embedder. @default 1500 */
  embedderWaitMs?: number | undefined
  /** Whether calls that go well make a user's later searches better. Each user may say no for themselves. @default true */
  learn?: boolean | undefined
}

export interface SearchBase extends Pick<ToolUsageDeps, 'goneSince'> {
  storage: Storage
  cache: ReadCache
}

export function createSearch(
  base: SearchBase,
  setup: SearchSetup = {},
): { searcher: MeasuredSearcher; learned: ToolUsage } {
  const { vectors, embedder, embedderWaitMs: waitMs, learn: enabled } = setup
  const learned = createToolUsage({ ...base, enabled })
  const searcher = createSearcher({
    learned,
    vectors: vectorsFrom(vectors),
    embedded: embedder && vectorsBy(embedder, { storage: base.storage, waitMs }),
  })
  return { searcher, learned }
}

/** Vectors are kept by the embedder's name, where it has one. */
export function vectorsBy(
  source: Embedder | EmbedTexts,
  { storage, waitMs }: { storage?: Storage | undefined; waitMs?: number | undefined },
): ToolVectors {
  const { embedder, isNamed } = readEmbedder(source)
  return createToolVectors(embedder, isNamed ? storage : undefined, { waitMs })
}
