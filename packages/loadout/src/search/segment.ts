/**
 * The index of some tools, built once and never changed: shared by all who have these tools. It has two of words (stems by
 * field, and words as they stand) and one of vectors. What a scope may use of it is decided by whoever searches.
 */
import { FIELDS, type Field, textsOf } from './fields.ts'
import { type Postings, PostingsBuilder } from './postings.ts'
import type { SearchTool } from './search.ts'
import type { WordVectors } from './word-vectors.ts'
import { exactWordsOf, stemOf, wordsOf } from './words.ts'

/** How much a word says in a field, and how much the length of the field takes away from it. */
const WEIGHTS: Record<Field, { weight: number; length: number; usual: number }> = {
  name: { weight: 2.5, length: 0.5, usual: 3 },
  toolkit: { weight: 1.5, length: 0.3, usual: 3 },
  description: { weight: 1, length: 0.8, usual: 30 },
  argumentNames: { weight: 0.9, length: 0.6, usual: 5 },
  argumentWords: { weight: 0.45, length: 0.55, usual: 30 },
  examples: { weight: 1.6, length: 0.75, usual: 40 },
}
const K1 = 1.2
const EXACT = { k1: 1.5, length: 0.75, usual: 70 }
/** So many tools of usual length stand beside those that are there: few tools have no lengths to compare. */
const USUAL_COUNT = 30

export interface Segment {
  tools: readonly SearchTool[]
  /** Stems, by field. */
  stems: Postings
  /** Words as they stand. */
  exact: Postings
  /** A row a tool, each of length one. */
  vectors: Float32Array | undefined
}

export function buildSegment(tools: readonly SearchTool[], vectors?: WordVectors): Segment {
  const texts = tools.map(textsOf)
  const stems = texts.map((text) => mapFields((field) => wordsOf(text[field]).map(stemOf)))
  const exact = texts.map((text) => exactWordsOf(FIELDS.map((field) => text[field]).join(' ')))
  return {
    tools,
    stems: indexStems(stems),
    exact: indexExact(exact),
    vectors: vectors && embed(tools, texts, vectors),
  }
}

type ByField<T> = Record<Field, T>
const mapFields = <T>(of: (field: Field) => T): ByField<T> =>
  Object.fromEntries(FIELDS.map((field) => [field, of(field)])) as ByField<T>

function indexStems(documents: ReadonlyArray<ByField<string[]>>): Postings {
  const builder = new PostingsBuilder()
  const average = mapFields((field) => {
    const filled = documents.filter((document) => document[field].length > 0)
    const sum = filled.reduce((total, document) => total + document[field].length, 0)
    return (sum + USUAL_COUNT * WEIGHTS[field].usual) / (filled.length + USUAL_COUNT)
  })
  documents.forEach((document, index) => {
    for (const field of FIELDS) {
      const words = document[field]
      const { weight, length } = WEIGHTS[field]
      const each = weight / (1 - length + (length * words.length) / average[field])
      for (const word of words) builder.add(word, index, each)
    }
  })
  return builder.build(K1)
}

function indexExact(documents: ReadonlyArray<string[]>): Postings {
  const builder = new PostingsBuilder()
  const sum = documents.reduce((total, words) => total + words.length, 0)
  const average = (sum + USUAL_COUNT * EXACT.usual) / (documents.length + USUAL_COUNT)
  documents.forEach((words, index) => {
    const each = 1 / (1 - EXACT.length + (EXACT.length * words.length) / average)
    for (const word of words) builder.add(word, index, each)
  })
  return builder.build(EXACT.k1)
}

function embed(
  tools: readonly SearchTool[],
  texts: ReadonlyArray<Record<Field, string>>,
  vectors: WordVectors,
): Float32Array {
  const rows = new Float32Array(tools.length * vectors.dimensions)
  for (const [index, text] of texts.entries()) vectors.tool(text, rows.subarray(index * vectors.dimensions))
  return rows
}
