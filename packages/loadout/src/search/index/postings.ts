/**
 * An inverted index of one kind of words: for each word the documents that hold it, and how much that says. What a posting
 * weighs is worked out when it is built, so that a query only adds up. All lie in a few arrays, whatever the number of words.
 */

export class Postings {
  readonly #words: ReadonlyMap<string, number>
  readonly #starts: Uint32Array
  /** Of each word, in their order. */
  readonly documents: Uint32Array
  /** How much of the word a document holds, from 0 to 1. */
  readonly weights: Float32Array
  /** In which fields, a bit each. */
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

  /** The number of a word, -1 where no document holds it. */
  find(word: string): number {
    return this.#words.get(word) ?? -1
  }

  /** Where the postings of a word stand: from its start up to that of the next. */
  start(number: number): number {
    return this.#starts[number] as number
  }

  /** The fields in which a document holds a word, a bit each; 0 where it does not. */
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

/** What is collected of one word. */
export class Collected {
  readonly documents: number[] = []
  readonly weights: number[] = []
  readonly fields: number[] = []

  /** Adds to what a document holds of the word; documents come in their order. */
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

/** `k1`: how soon more of the same word says no more. */
export function* postingsOf(collected: ReadonlyMap<string, Collected>, k1: number): Generator<undefined, Postings> {
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

/** How rare a word is among `count` documents of which `found` hold it. */
export const rarity = (count: number, found: number) => Math.log(1 + (count - found + 0.5) / (found + 0.5))
