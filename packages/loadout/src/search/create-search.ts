/**
 * Creates the search of a host: by words, by meaning when there is a vector source, and with the usage of each user.
 */
import type { ReadCache, Storage } from '../storage/storage.ts'
import { createSearcher, type MeasuredSearcher } from './searcher.ts'
import { createToolUsage, type ToolUsage, type ToolUsageDeps } from './usage/tool-usage.ts'
import { type VectorSource, vectorsFrom } from './vectors/bundled-vectors.ts'
import { type Embedder, type EmbedTexts, readEmbedder } from './vectors/embedder.ts'
import { createToolVectors, type ToolVectors } from './vectors/tool-vectors.ts'

export interface SearchSetup {
  /** Word vectors for offline semantic search; false disables them. @default the bundled vectors */
  vectors?: VectorSource | undefined
  /** Embedding model, preferred over word vectors. When it fails, word vectors are used with a warning. */
  embedder?: Embedder | EmbedTexts | undefined
  /** How long a search waits for the embedder, in ms. @default 1500 */
  embedderWaitMs?: number | undefined
  /** Whether successful calls improve the user's later searches. Each user can opt out. @default true */
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

/** Vectors are stored under the embedder's name, if it has one. */
export function vectorsBy(
  source: Embedder | EmbedTexts,
  { storage, waitMs }: { storage?: Storage | undefined; waitMs?: number | undefined },
): ToolVectors {
  const { embedder, isNamed } = readEmbedder(source)
  return createToolVectors(embedder, isNamed ? storage : undefined, { waitMs })
}
