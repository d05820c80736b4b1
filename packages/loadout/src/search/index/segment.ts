/**
 * Immutable index of some tools, shared by all scopes that have them: stems by field, exact words, and vectors. The
 * searcher decides what a scope may find in it.
 */

import type { SearchTool } from '../search.ts'
import type { WordVectors } from '../vectors/word-vectors.ts'
import { SEARCH_FIELDS, type SearchField, textsOf } from './fields.ts'
import { Lexicon, type PostingRun } from './lexicon.ts'
import { type Postings, postingsOf } from './postings.ts'

/**
 * Weight of a field, how much its length reduces that weight, and its usual length. The usual length is a constant
 * measured over many servers, so a tool has the same weight in every segment.
 */
const WEIGHTS: Record<SearchField, { weight: number; length: number; usual: number }> = {
  name: { weight: 2.5, length: 0.5, usual: 3 },
  toolkit: { weight: 1.5, length: 0.3, usual: 3 },
  description: { weight: 1, length: 0.7, usual: 20 },
  argumentNames: { weight: 0.9, length: 0.6, usual: 5 },
  argumentWords: { weight: 0.45, length: 0.55, usual: 25 },
  examples: { weight: 0.7, length: 0.75, usual: 150 },
}
const K1 = 1.4
const EXACT = { k1: 1.5, length: 0.75, usual: 50 }

export interface Segment {
  tools: readonly SearchTool[]
  /** Stems by field. */
  stems: Postings
  /** Exact words. */
  exact: Postings
  /** One unit vector per tool. */
  vectors: Float32Array | undefined
  /** Word vectors that made the rows. */
  words: WordVectors | undefined
  /** Whether its tools replace those of other segments. */
  isOverlay?: boolean
}

export function buildSegment(tools: readonly SearchTool[], vectors?: WordVectors): Segment {
  const steps = segmentSteps(tools, vectors)
  for (let step = steps.next(); ; step = steps.next()) if (step.done) return step.value
}

/** Builds in short steps, so that the caller can yield between them. */
export function* segmentSteps(tools: readonly SearchTool[], words?: WordVectors): Generator<undefined, Segment> {
  const lexicon = new Lexicon(words)
  const vectors = words && new Float32Array(tools.length * words.dimensions)
  for (const [index, tool] of tools.entries()) {
    const texts = textsOf(tool)
    const runs = mapFields((field) => lexicon.runs(texts[field]))
    collect(runs, index)
    if (words && vectors) embed(runs, words, vectors.subarray(index * words.dimensions))
    yield
  }
  return {
    tools,
    vectors,
    words,
    stems: yield* postingsOf(lexicon.stems, K1),
    exact: yield* postingsOf(lexicon.exact, EXACT.k1),
  }
}

/** Words of a tool by field. */
type Fields = Record<SearchField, readonly PostingRun[]>

const mapFields = <T>(read: (field: SearchField) => T): Record<SearchField, T> =>
  Object.fromEntries(SEARCH_FIELDS.map((field) => [field, read(field)])) as Record<SearchField, T>

/** Adds the words of a tool to the lexicon. */
function collect(runs: Fields, tool: number): void {
  let exactLength = 0
  for (const field of SEARCH_FIELDS) for (const { exact } of runs[field]) exactLength += exact.length
  const exactEach = 1 / (1 - EXACT.length + (EXACT.length * exactLength) / EXACT.usual)
  for (const [bit, field] of SEARCH_FIELDS.entries()) {
    const { weight, length: lengthShare, usual } = WEIGHTS[field]
    const length = runs[field].reduce((sum, { parts }) => sum + parts.length, 0)
    const each = weight / (1 - lengthShare + (lengthShare * length) / usual)
    for (const { parts, exact, also } of runs[field]) {
      for (const { stem } of parts) stem.add(tool, each, 1 << bit)
      for (const stem of also) stem.add(tool, each, 1 << bit)
      for (const word of exact) word.add(tool, exactEach, 1 << bit)
    }
  }
}

function embed(runs: Fields, words: WordVectors, row: Float32Array): void {
  const vectors = mapFields((field) => runs[field].flatMap(({ parts }) => parts.map(({ vector }) => vector)))
  words.tool(vectors as Record<SearchField, Float32Array[]>, row)
}
