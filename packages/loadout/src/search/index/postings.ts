/**
 * Inverted index of one kind of words: per word, the documents that contain it and their weight. Weights are computed
 * on build, so a query only adds them up. All data is in a few arrays.
 */

export class Postings {
  readonly #words: ReadonlyMap<string, number>
  readonly #starts: Uint32Array
  /** Document numbers per word, in order. */
  readonly documents: Uint32Array
  /** Weight of the word in a document, from 0 to 1. */
  readonly weights: Float32Array
  /** Bit mask of fields. */
  readonly fields: Uint8Array

  constructor(
    words: ReadonlyMap<string, number>,
    starts: Uint32Array,
    { documents, weights, fields }: Pick<Postings, 'documents' | 'weights' | 'fields'>,
  ) {
    this.#words = words
    this.#starts = starts
    this.documents = documents
    this.weights = weights
    this.fields = fields
  }

  /** Number of a word, or -1 when no document contains it. */
  find(word: string): number {
    return this.#words.get(word) ?? -1
  }

  /** First posting of a word; the postings end where the next word starts. */
  start(number: number): number {
    return this.#starts[number] as number
  }

  /** Bit mask of the fields in which a document contains a word; 0 when it does not. */
  fieldsOf(word: string, document: number): number {
    const number = this.find(word)
    if (number < 0) return 0
    let low = this.start(number)
    const end = this.start(number + 1)
    let high = end
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.documents[middle] as number) < document) low = middle + 1
      else high = middle
    }
    return low < end && this.documents[low] === document ? (this.fields[low] as number) : 0
  }
}

/** Postings of one word during indexing. */
export class CollectedPostings {
  readonly documents: number[] = []
  readonly weights: number[] = []
  readonly fields: number[] = []

  /** Adds to the weight of a document; documents arrive in order. */
  add(document: number, weight: number, field: number): void {
    const last = this.documents.length - 1
    if (this.documents[last] === document) {
      this.weights[last] = (this.weights[last] as number) + weight
      this.fields[last] = (this.fields[last] as number) | field
    } else {
      this.documents.push(document)
      this.weights.push(weight)
      this.fields.push(field)
    }
  }
}

const WORDS_A_STEP = 200

/** `k1`: saturation of repeated words (BM25). */
export function* postingsOf(
  collected: ReadonlyMap<string, CollectedPostings>,
  k1: number,
): Generator<undefined, Postings> {
  let count = 0
  for (const { documents } of collected.values()) count += documents.length
  const documents = new Uint32Array(count)
  const weights = new Float32Array(count)
  const fields = new Uint8Array(count)
  const words = new Map<string, number>()
  const starts = new Uint32Array(collected.size + 1)
  let at = 0
  for (const [word, entry] of collected) {
    starts[words.size] = at
    words.set(word, words.size)
    documents.set(entry.documents, at)
    fields.set(entry.fields, at)
    for (const weight of entry.weights) weights[at++] = weight / (k1 + weight)
    if (words.size % WORDS_A_STEP === 0) yield
  }
  starts[words.size] = at
  return new Postings(words, starts, { documents, weights, fields })
}

/** Inverse document frequency of a word in `found` of `count` documents. */
export const rarity = (count: number, found: number) => Math.log(1 + (count - found + 0.5) / (found + 0.5))
