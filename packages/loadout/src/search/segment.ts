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
  const steps = segmentSteps(tools, vectors)
  for (let step = steps.next(); ; step = steps.next()) if (step.done) return step.value
}

/** The same in short steps: whoever takes them may give others a turn between. */
export function* segmentSteps(tools: readonly SearchTool[], vectors?: WordVectors): Generator<undefined, Segment> {
  const texts: ReturnType<typeof textsOf>[] = []
  const stems: ByField<string[]>[] = []
  const exact: string[][] = []
  for (const tool of tools) {
    const text = textsOf(tool)
    texts.push(text)
    stems.push(mapFields((field) => wordsOf(text[field]).map(stemOf)))
    exact.push(exactWordsOf(FIELDS.map((field) => text[field]).join(' ')))
    yield
  }
  return {
    tools,
    stems: yield* indexStems(stems),
    exact: yield* indexExact(exact),
    vectors: vectors && (yield* embed(tools, texts, vectors)),
  }
}

type ByField<T> = Record<Field, T>
const mapFields = <T>(of: (field: Field) => T): ByField<T> =>
  Object.fromEntries(FIELDS.map((field) => [field, of(field)])) as ByField<T>

function* indexStems(documents: ReadonlyArray<ByField<string[]>>): Generator<undefined, Postings> {
  const builder = new PostingsBuilder()
  const average = mapFields((field) => {
    const filled = documents.filter((document) => document[field].length > 0)
    const sum = filled.reduce((total, document) => total + document[field].length, 0)
    return (sum + USUAL_COUNT * WEIGHTS[field].usual) / (filled.length + USUAL_COUNT)
  })
  for (const [index, document] of documents.entries()) {
    for (const field of FIELDS) {
      const words = document[field]
      const { weight, length } = WEIGHTS[field]
      const each = weight / (1 - length + (length * words.length) / average[field])
      for (const word of words) builder.add(word, index, each)
    }
    yield
  }
  return yield* builder.buildSteps(K1)
}

function* indexExact(documents: ReadonlyArray<string[]>): Generator<undefined, Postings> {
  const builder = new PostingsBuilder()
  const sum = documents.reduce((total, words) => total + words.length, 0)
  const average = (sum + USUAL_COUNT * EXACT.usual) / (documents.length + USUAL_COUNT)
  for (const [index, words] of documents.entries()) {
    const each = 1 / (1 - EXACT.length + (EXACT.length * words.length) / average)
    for (const word of words) builder.add(word, index, each)
    yield
  }
  return yield* builder.buildSteps(EXACT.k1)
}

function* embed(
  tools: readonly SearchTool[],
  texts: ReadonlyArray<Record<Field, string>>,
  vectors: WordVectors,
): Generator<undefined, Float32Array> {
  const rows = new Float32Array(tools.length * vectors.dimensions)
  for (const [index, text] of texts.entries()) {
    vectors.tool(text, rows.subarray(index * vectors.dimensions))
    yield
  }
  return rows
}
