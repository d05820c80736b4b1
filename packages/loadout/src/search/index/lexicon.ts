/** Words during indexing: each is split, stemmed and looked up once. */

import type { WordVectors } from '../vectors/word-vectors.ts'
import { Collected } from './postings.ts'
import { charactersOf, exactOf, hyphenedOf, partsOf, runsOf, stemOf } from './words.ts'

/** A word that was split from a text. */
export interface Part {
  stem: Collected
  vector: Float32Array | undefined
}

/** A run of characters without a separator. */
export interface Run {
  parts: readonly Part[]
  exact: readonly Collected[]
  /** Other forms of the same words; they match without adding to the length. */
  also: readonly Collected[]
}

export class Lexicon {
  readonly stems = new Map<string, Collected>()
  readonly exact = new Map<string, Collected>()
  readonly #runs = new Map<string, Run>()
  readonly #parts = new Map<string, Part>()
  readonly #vectors: WordVectors | undefined

  constructor(vectors: WordVectors | undefined) {
    this.#vectors = vectors
  }

  runs(text: string): Run[] {
    const runs = runsOf(text).map((run) => this.#run(run))
    const hyphened = hyphenedOf(text)
    if (hyphened.length > 0)
      runs.push({ parts: [], exact: [], also: hyphened.map((parts) => this.#stem(parts.join(''))) })
    return runs
  }

  #run(run: string): Run {
    const cached = this.#runs.get(run)
    if (cached) return cached
    const fresh = {
      parts: partsOf(run).map((word) => this.#part(word)),
      exact: exactOf(run).map((word) => entryOf(this.exact, word)),
      also: charactersOf(run).map((character) => this.#stem(character)),
    }
    this.#runs.set(run, fresh)
    return fresh
  }

  #stem(word: string): Collected {
    return entryOf(this.stems, stemOf(word))
  }

  #part(word: string): Part {
    const cached = this.#parts.get(word)
    if (cached) return cached
    const fresh = { stem: this.#stem(word), vector: this.#vectors?.word(word) }
    this.#parts.set(word, fresh)
    return fresh
  }
}

function entryOf(entries: Map<string, Collected>, word: string): Collected {
  const existing = entries.get(word)
  if (existing) return existing
  const fresh = new Collected()
  entries.set(word, fresh)
  return fresh
}
