/** How a host searches, made of what an app gives: words always, meaning where there is a source of it, and what users did. */
import type { ReadCache, Storage } from '../storage/storage.ts'
import type { Embedder } from './embedder.ts'
import { createLearned, type Learned, type LearnedParts } from './learned.ts'
import { createSearcher, type MeasuredSearcher } from './searcher.ts'
import { createToolVectors } from './tool-vectors.ts'
import { WordVectors } from './word-vectors.ts'

export interface SearchSetup {
  /** Word vectors, for meaning offline. `wordVectors` of `loadout/node` are some. */
  vectors?: (() => Promise<Uint8Array>) | undefined
  /** Any model that embeds. It comes before word vectors; where it does not answer, they are used, and that is told. */
  embedder?: Embedder | undefined
  /** How long a search waits for the embedder. @default 1500 */
  embedderWaitMs?: number | undefined
  /** Whether calls that go well make a user's later searches better. Each user may say no for themselves. @default true */
  learn?: boolean | undefined
}

export interface SearchBase extends Pick<LearnedParts, 'goneSince'> {
  storage: Storage
  cache: ReadCache
}

export function createSearch(
  base: SearchBase,
  setup: SearchSetup = {},
): { searcher: MeasuredSearcher; learned: Learned } {
  const { vectors, embedder, embedderWaitMs: waitMs, learn: enabled } = setup
  const learned = createLearned({ ...base, enabled })
  const searcher = createSearcher({
    learned,
    vectors: vectors && (async () => new WordVectors(await vectors())),
    embedded: embedder && createToolVectors(embedder, base.storage, { waitMs }),
  })
  return { searcher, learned }
}
