/**
 * An inverted index of one kind of words: for each word the documents that hold it, and how much that says. What a posting
 * weighs is worked out when it is built, so that a query only adds up.
 */

export interface Posting {
  documents: Int32Array
  /** How much of the word a document holds, from 0 to 1. */
  weights: Float32Array
}

export class Postings {
  readonly #words: Map<string, Posting>

  constructor(words: Map<string, Posting>) {
    this.#words = words
  }

  get(word: string): Posting | undefined {
    return this.#words.get(word)
  }

  get size(): number {
    return this.#words.size
  }
}

const WORDS_A_STEP = 100

/** Collects what documents hold; documents come in their order. */
export class PostingsBuilder {
  readonly #words = new Map<string, { documents: number[]; weights: number[] }>()

  /** Adds to what a document holds of a word. */
  add(word: string, document: number, weight: number): void {
    let entry = this.#words.get(word)
    if (!entry) {
      entry = { documents: [], weights: [] }
      this.#words.set(word, entry)
    }
    const last = entry.documents.length - 1
    if (entry.documents[last] === document) entry.weights[last] = (entry.weights[last] as number) + weight
    else {
      entry.documents.push(document)
      entry.weights.push(weight)
    }
  }

  /** `saturate`: more of the same word says less and less. */
  *buildSteps(k1: number): Generator<undefined, Postings> {
    const words = new Map<string, Posting>()
    for (const [word, { documents, weights }] of this.#words) {
      words.set(word, {
        documents: Int32Array.from(documents),
        weights: Float32Array.from(weights, (weight) => weight / (k1 + weight)),
      })
      if (words.size % WORDS_A_STEP === 0) yield
    }
    return new Postings(words)
  }
}

/** How rare a word is among `count` documents of which `found` hold it. */
export const rarity = (count: number, found: number) => Math.log(1 + (count - found + 0.5) / (found + 0.5))
