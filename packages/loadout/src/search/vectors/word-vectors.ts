/**
 * Small offline word vectors: 25,000 words in 48 dimensions, and rows for character n-grams of other words. Trained on
 * tools and prompts. README.md beside the file describes the layout.
 */
import { SEARCH_FIELDS, type SearchField } from '../index/fields.ts'
import { wordsOf } from '../index/words.ts'
import { bothEndsOf } from '../rank/truncate.ts'

/** Maximum words per field. */
const MAX_WORDS: Record<SearchField, number> = {
  name: 10,
  description: 100,
  argumentNames: 40,
  argumentWords: 80,
  toolkit: 16,
  examples: 400,
}
/** Order of the weights in the file. */
const ORDER = ['name', 'description', 'argumentNames', 'argumentWords', 'toolkit'] as const
/** The file has no weight for examples; this one is measured. */
const EXAMPLES_WEIGHT = 0.4
const MAGIC = 0x31455654
const HEADER = 24
/** Vector length of a word with full weight. */
const FULL_WEIGHT_LENGTH = 0.5
const MAX_GRAM_LENGTH = 5
const MIN_GRAM_LENGTH = 3

export class WordVectors {
  readonly dimensions: number
  readonly #words: Map<string, number>
  readonly #buckets: number
  readonly #scales: Float32Array
  readonly #rows: Int8Array
  readonly #weights: Record<SearchField, number>

  /** Throws when the bytes are not a vector file. */
  constructor(bytes: Uint8Array) {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    if (view.getUint32(0, true) !== MAGIC) throw new TypeError('These are no word vectors.')
    const [dimensions, count, buckets, length, padding] = [4, 8, 12, 16, 20].map((at) => view.getUint32(at, true)) as [
      number,
      number,
      number,
      number,
      number,
    ]
    this.dimensions = dimensions
    this.#buckets = buckets
    const weights = ORDER.map((field, index) => [field, view.getFloat32(HEADER + index * 4, true)])
    this.#weights = { ...Object.fromEntries(weights), examples: EXAMPLES_WEIGHT }
    const start = HEADER + 24
    const words = new TextDecoder().decode(bytes.subarray(start, start + length)).split('\n')
    this.#words = new Map(words.map((word, index) => [word, index]))
    const scales = start + length + padding
    this.#scales = new Float32Array(copyOf(bytes, scales, (count + buckets) * 4))
    const rows = scales + (count + buckets) * 4
    this.#rows = new Int8Array(copyOf(bytes, rows, (count + buckets) * dimensions))
  }

  /** Vector of a word. */
  word(word: string): Float32Array {
    const sum = new Float32Array(this.dimensions)
    this.#addWord(word, sum, 1)
    return sum
  }

  /** Whether the meaning of a word is known, not only its n-grams. */
  knows(word: string): boolean {
    return this.#words.has(word) || this.#withoutEnding(word) !== undefined || this.#halves(word) !== undefined
  }

  /** Significance of a word from 0 to 1, as learned from tools and prompts. */
  weightOf(word: string): number {
    const row = this.#words.get(word) ?? this.#withoutEnding(word)
    if (row === undefined) return 1
    let sum = 0
    const from = row * this.dimensions
    for (let at = from; at < from + this.dimensions; at++) sum += (this.#rows[at] as number) ** 2
    return Math.min(1, (Math.sqrt(sum) * Math.abs(this.#scales[row] as number)) / FULL_WEIGHT_LENGTH)
  }

  /** Writes the unit vector of a tool into `row`. */
  tool(fields: Record<SearchField, readonly Float32Array[]>, row: Float32Array): void {
    for (const field of SEARCH_FIELDS) this.#add(fields[field].slice(0, MAX_WORDS[field]), row, this.#weights[field])
    normalize(row, this.dimensions)
  }

  /** Unit vector of a text. */
  text(text: string): Float32Array {
    const row = new Float32Array(this.dimensions)
    const words = bothEndsOf(wordsOf(text), MAX_WORDS.description)
    this.#add(
      words.map((word) => this.word(word)),
      row,
      1,
    )
    normalize(row, this.dimensions)
    return row
  }

  #add(words: readonly Float32Array[], row: Float32Array, weight: number): void {
    const each = weight / Math.sqrt(words.length)
    for (const word of words)
      for (let at = 0; at < this.dimensions; at++) row[at] = (row[at] as number) + (word[at] as number) * each
  }

  #addWord(word: string, sum: Float32Array, share: number): void {
    const wordRow = this.#words.get(word) ?? this.#withoutEnding(word)
    const rows = wordRow === undefined ? this.#halves(word) : [wordRow]
    if (rows) for (const row of rows) this.#addRow(row, sum, share)
    else this.#addGrams(word, sum, share)
  }

  #withoutEnding(word: string): number | undefined {
    for (const [ending, instead] of ENDINGS) {
      if (!word.endsWith(ending) || word.length <= ending.length + 2) continue
      const found = this.#words.get(word.slice(0, -ending.length) + instead)
      if (found !== undefined) return found
    }
    return undefined
  }

  #halves(word: string): [number, number] | undefined {
    for (let at = 3; at <= word.length - 3; at++) {
      const first = this.#words.get(word.slice(0, at))
      const second = first === undefined ? undefined : this.#words.get(word.slice(at))
      if (first !== undefined && second !== undefined) return [first, second]
    }
    return undefined
  }

  #addGrams(word: string, sum: Float32Array, share: number): void {
    const marked = `<${word}>`
    const grams: string[] = []
    for (let size = MIN_GRAM_LENGTH; size <= MAX_GRAM_LENGTH; size++)
      for (let at = 0; at + size <= marked.length; at++) grams.push(marked.slice(at, at + size))
    for (const gram of grams) this.#addRow(this.#words.size + (fnv(gram) % this.#buckets), sum, share / grams.length)
  }

  #addRow(index: number, sum: Float32Array, share: number): void {
    const scale = (this.#scales[index] as number) * share
    const from = index * this.dimensions
    for (let at = 0; at < this.dimensions; at++)
      sum[at] = (sum[at] as number) + (this.#rows[from + at] as number) * scale
  }
}

const ENDINGS = [
  ['ies', 'y'],
  ['es', ''],
  ['s', ''],
  ['ed', ''],
  ['ing', ''],
  ['er', ''],
] as const

/** A copy, so that typed arrays are aligned. */
function copyOf(bytes: Uint8Array, from: number, length: number): ArrayBuffer {
  const copy = new Uint8Array(length)
  copy.set(bytes.subarray(from, from + length))
  return copy.buffer
}

function normalize(row: Float32Array, dimensions: number): void {
  let sum = 0
  for (let at = 0; at < dimensions; at++) sum += (row[at] as number) ** 2
  const length = Math.sqrt(sum)
  if (length > 0) for (let at = 0; at < dimensions; at++) row[at] = (row[at] as number) / length
}

/** FNV-1a over the UTF-8 bytes, 32 bits. */
function fnv(text: string): number {
  let hash = 0x811c9dc5
  for (const byte of new TextEncoder().encode(text)) hash = Math.imul(hash ^ byte, 0x01000193)
  return hash >>> 0
}
