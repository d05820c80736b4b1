/** Words during indexing: each is split, stemmed and looked up once. */

import type { WordVectors } from '../vectors/word-vectors.ts'
import { CollectedPostings } from './postings.ts'
import { charactersOf, exactOf, hyphenedOf, runsOf, splitIdentifier, stemOf } from './words.ts'

/** A word that was split from a text. */
export interface LexiconPart {
  stem: CollectedPostings
  vector: Float32Array | undefined
}

/** A run of characters without a separator. */
export interface PostingRun {
  parts: readonly LexiconPart[]
  exact: readonly CollectedPostings[]
  /** Other forms of the same words; they match without adding to the length. */
  also: readonly CollectedPostings[]
}

export class Lexicon {
  readonly stems = new Map<string, CollectedPostings>()
  readonly exact = new Map<string, CollectedPostings>()
  readonly #runs = new Map<string, PostingRun>()
  readonly #parts = new Map<string, LexiconPart>()
  readonly #vectors: WordVectors | undefined

  constructor(vectors: WordVectors | undefined) {
    this.#vectors = vectors
  }

  runs(text: string): PostingRun[] {
    const runs = runsOf(text).map((run) => this.#run(run))
    const hyphened = hyphenedOf(text)
    if (hyphened.length > 0)
      runs.push({ parts: [], exact: [], also: hyphened.map((parts) => this.#stem(parts.join(''))) })
    return runs
  }

  #run(run: string): PostingRun {
    const cached = this.#runs.get(run)
    if (cached) return cached
    const fresh = {
      parts: splitIdentifier(run).map((word) => this.#part(word)),
      exact: exactOf(run).map((word) => entryOf(this.exact, word)),
      also: charactersOf(run).map((character) => this.#stem(character)),
    }
    this.#runs.set(run, fresh)
    return fresh
  }

  #stem(word: string): CollectedPostings {
    return entryOf(this.stems, stemOf(word))
  }

  #part(word: string): LexiconPart {
    const cached = this.#parts.get(word)
    if (cached) return cached
    const fresh = { stem: this.#stem(word), vector: this.#vectors?.word(word) }
    this.#parts.set(word, fresh)
    return fresh
  }
}

function entryOf(entries: Map<string, CollectedPostings>, word: string): CollectedPostings {
  const existing = entries.get(word)
  if (existing) return existing
  const fresh = new CollectedPostings()
  entries.set(word, fresh)
  return fresh
}
