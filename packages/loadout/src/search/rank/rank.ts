/** Ranks the tools of several segments as one: word rarity is computed over all of them. */
import { type Postings, rarity } from '../index/postings.ts'
import type { Segment } from '../index/segment.ts'
import { exactOf, hyphenedOf, isStopWord, runsOf, splitIdentifier, stemOf, wordsOf } from '../index/words.ts'
import type { Hit, Query } from '../search.ts'
import type { WordVectors } from '../vectors/word-vectors.ts'

/** Weight of exact words beside stems. */
const EXACT_SHARE = 0.45
/** Weight of meaning beside words. */
const MEANING_SHARE = 0.33
/** In a long text, only the most significant words count. */
const MAX_WORDS = 200
/** In a longer text, words outside the first and last `EDGE` count less. */
const EDGE = 100
const MIDDLE_WEIGHT = 0.5
/** Words below this share of the most significant one are skipped: they change nothing and are in most tools. */
const MIN_SHARE = 0.02
/** Weight of stop words, which can decide in small catalogs and short queries. */
const STOP_WEIGHT = 0.5
/** Weight of a hyphenated single letter, and of the joined word beside its parts. */
const LETTER_WEIGHT = 0.3
const JOINED_WEIGHT = 0.5
/** How much the best tool of a toolkit lifts its others, because prompts often need several of them. */
const TOOLKIT_SHARE = 0.1
/** Minimum candidates for the toolkit lift. */
const MIN_CANDIDATES = 100
const BINS = 1024
/** Exponent of the learned word weights; 0 disables them. */
const LEARNED_EXPONENT = 0.4

/** Per segment, the score of each tool. */
export type Scores = Float32Array[]

/**
 * Scores from 0 to 1; the best tool has 1. Stop words find nothing by themselves unless the query has only stop words.
 * Otherwise they add to tools that other words find, or with `weak` to all.
 */
export function lexicalScores(
  segments: readonly Segment[],
  text: string,
  { weak = false }: { weak?: boolean } = {},
): Scores {
  const runs = runsOf(text)
  const learned = segments.find(({ words }) => words)?.words
  const hyphened = hyphenedOf(text)
  const weigh = weightsOf(hyphened)
  const joined = hyphened.map((word) => word.join(''))
  const stemWords = weighted([...runs.flatMap(splitIdentifier), ...joined], { by: stemOf, learned, weigh })
  const exactWords = weighted(runs.flatMap(exactOf), { by: (word) => word, learned, weigh })
  const queryWords = [
    ...findWords(segments, { select: ({ stems }) => stems, words: stemWords, share: 1 }),
    ...findWords(segments, { select: ({ exact }) => exact, words: exactWords, share: EXACT_SHARE }),
  ]
  const scores = noScores(segments)
  const isTelling = stemWords.some(({ isStop }) => !isStop)
  if (isTelling && queryWords.every(({ isStop }) => isStop)) return scores
  const least = MIN_SHARE * queryWords.reduce((most, { each }) => Math.max(most, each), 0)
  for (const isStop of [false, true])
    for (const entry of queryWords)
      if (entry.isStop === isStop && entry.each >= least) addPostings(scores, entry, isStop && isTelling && !weak)
  return scaled(scores)
}

interface QueryWord {
  word: string
  weight: number
  isStop: boolean
}

interface Weighing {
  by: (word: string) => string
  learned: WordVectors | undefined
  /** Weight of a word by its spelling. */
  weigh: (word: string) => number
}

/** For `e-mail`: `mail` has its full weight, `email` less, and `e` little. */
function weightsOf(hyphened: readonly string[][]): Weighing['weigh'] {
  if (hyphened.length === 0) return () => 1
  const weights = new Map(hyphened.map((parts) => [parts.join(''), JOINED_WEIGHT]))
  for (const part of hyphened.flat()) if (isLetter(part)) weights.set(part, LETTER_WEIGHT)
  return (word) => weights.get(word) ?? 1
}

const isLetter = (word: string) => word.length === 1

/** Each word once with its weight; repetition adds a little. */
function weighted(words: readonly string[], { by, learned, weigh }: Weighing): QueryWord[] {
  const counts = new Map<string, number>()
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1)
  const edges = words.length > 2 * EDGE ? new Set([...words.slice(0, EDGE), ...words.slice(-EDGE)]) : undefined
  const byKey = new Map<string, QueryWord>()
  for (const [word, times] of counts) {
    const share = weigh(word)
    const isStop = isStopWord(word) || (isLetter(word) && share < 1)
    const telling =
      (isStopWord(word) ? STOP_WEIGHT : share) * (learned ? learned.weightOf(word) ** LEARNED_EXPONENT : 1)
    const weight = telling * (1 + Math.log(times) / 2) * (!edges || edges.has(word) ? 1 : MIDDLE_WEIGHT)
    const key = by(word)
    const existing = byKey.get(key)
    if (!existing || existing.weight < weight) byKey.set(key, { word: key, weight, isStop })
  }
  return [...byKey.values()]
}

/** A query word that tools contain, and the score of a tool that is full of it. */
interface FoundWord {
  each: number
  isStop: boolean
  postings: readonly Postings[]
  /** Number of the word in each segment. */
  numbers: readonly number[]
}

function findWords(
  segments: readonly Segment[],
  { select, words, share }: { select: (segment: Segment) => Postings; words: readonly QueryWord[]; share: number },
): FoundWord[] {
  const postings = segments.map(select)
  const counts = countsIn(segments, (at) => (segments[at] as Segment).tools.length)
  const results: FoundWord[] = []
  for (const { word, weight, isStop } of words) {
    const numbers = postings.map((list) => list.find(word))
    const count = countsIn(segments, (at) => postingCount(postings[at] as Postings, numbers[at] as number))
    if (count > 0) results.push({ each: share * weight * rarity(counts, count), isStop, postings, numbers })
  }
  return results.length > MAX_WORDS ? results.sort((a, b) => b.each - a.each).slice(0, MAX_WORDS) : results
}

const postingCount = (postings: Postings, number: number) =>
  number < 0 ? 0 : postings.start(number + 1) - postings.start(number)

/** Total over all segments. An overlay replaces tools of others, so it is not added. */
function countsIn(segments: readonly Segment[], countAt: (at: number) => number): number {
  let shared = 0
  let overlay = 0
  for (let at = 0; at < segments.length; at++)
    if (segments[at]?.isOverlay) overlay += countAt(at)
    else shared += countAt(at)
  return Math.max(shared, overlay)
}

function addPostings(scores: Scores, { each, postings, numbers }: FoundWord, onlyFound: boolean): void {
  for (const [index, number] of numbers.entries()) {
    if (number < 0) continue
    const own = postings[index] as Postings
    const { documents, weights } = own
    const into = scores[index] as Float32Array
    const end = own.start(number + 1)
    for (let at = own.start(number); at < end; at++) {
      const document = documents[at] as number
      const score = into[document] as number
      if (!onlyFound || score > 0) into[document] = score + each * (weights[at] as number)
    }
  }
}

/** Returns no scores when the vectors know no word of the query; guesses from spelling would match anything. */
export function meaningScores(segments: readonly Segment[], text: string, vectors: WordVectors): Scores {
  if (!wordsOf(text).some((word) => !isStopWord(word) && vectors.knows(word))) return noScores(segments)
  const wanted = vectors.text(text)
  const { dimensions } = vectors
  return segments.map(({ tools, vectors: rows }) => {
    const scores = new Float32Array(tools.length)
    if (!rows) return scores
    for (let tool = 0, from = 0; tool < tools.length; tool++, from += dimensions) {
      let sum = 0
      for (let at = 0; at < dimensions; at++) sum += (rows[from + at] as number) * (wanted[at] as number)
      scores[tool] = sum
    }
    return scores
  })
}

export const noScores = (segments: readonly Segment[]): Scores =>
  segments.map(({ tools }) => new Float32Array(tools.length))

/**
 * Combines words (relative to their best) and meaning (scaled from worst to best). Tools without a shared word or
 * similarity are not found.
 */
export function hybridScores(lexical: Scores, meaning: Scores): Scores {
  const [, most] = rangeOf(lexical)
  const [least, best] = rangeOf(meaning)
  // When all tools are equally similar, as a single one is, they count as the best.
  const base = best > least ? least : Math.min(least, 0)
  const byWords = most > 0 ? (1 - MEANING_SHARE) / most : 0
  const byMeaning = best > base ? MEANING_SHARE / (best - base) : 0
  return lexical.map((row, segment) => {
    const other = meaning[segment] as Float32Array
    const mixed = new Float32Array(row.length)
    for (let at = 0; at < row.length; at++) {
      const words = row[at] as number
      const alike = other[at] as number
      if (words > 0 || alike > 0) mixed[at] = byWords * words + byMeaning * (alike - base)
    }
    return mixed
  })
}

function scaled(scores: Scores): Scores {
  const [, most] = rangeOf(scores)
  if (most > 0) for (const row of scores) for (let at = 0; at < row.length; at++) row[at] = (row[at] as number) / most
  return scores
}

function rangeOf(scores: Scores): [least: number, most: number] {
  let least = Number.POSITIVE_INFINITY
  let most = Number.NEGATIVE_INFINITY
  for (const row of scores)
    for (let at = 0; at < row.length; at++) {
      const value = row[at] as number
      if (value < least) least = value
      if (value > most) most = value
    }
  return [least, most]
}

/** A hit with its position. */
export interface Ranked extends Omit<Hit, 'reasons'> {
  segment: number
  at: number
}

/** Best hits by score; ties are sorted by ref, so the order is deterministic. */
export function top(segments: readonly Segment[], scores: Scores, query: Query): Ranked[] {
  const candidates = candidatesOf(segments, scores, query)
  const bests = new Map<string, number>()
  const toolkits = candidates.map(({ ref }) => ref.slice(0, ref.indexOf('.')))
  for (const [index, { score }] of candidates.entries()) {
    const toolkit = toolkits[index] as string
    bests.set(toolkit, Math.max(bests.get(toolkit) ?? 0, score))
  }
  for (const [index, candidate] of candidates.entries())
    candidate.score =
      (candidate.score + TOOLKIT_SHARE * (bests.get(toolkits[index] as string) ?? 0)) / (1 + TOOLKIT_SHARE)
  return candidates.sort(inOrder).slice(0, query.limit)
}

const inOrder = (a: Ranked, b: Ranked) =>
  b.score - a.score || (a.ref < b.ref ? -1 : a.ref > b.ref ? 1 : a.segment - b.segment)

/** More candidates than requested among allowed tools: all above a score. */
function candidatesOf(segments: readonly Segment[], scores: Scores, { limit, allow }: Query): Ranked[] {
  const [, most] = rangeOf(scores)
  const enough = Math.max(MIN_CANDIDATES, 2 * limit)
  const found: Ranked[] = []
  if (!(most > 0)) return found
  const counts = countsOf(scores, most)
  // When many are not allowed, lower scores are included.
  for (let bin = BINS, below = Number.POSITIVE_INFINITY; bin > 0 && found.length < enough; ) {
    for (let sum = bin === BINS ? (counts[BINS] as number) : 0; bin > 0 && sum < enough; )
      sum += counts[--bin] as number
    const least = bin === 0 ? Number.MIN_VALUE : (bin * most) / BINS
    for (const [segment, row] of scores.entries()) {
      const { tools } = segments[segment] as Segment
      for (let at = 0; at < row.length; at++) {
        const score = row[at] as number
        if (!(score >= least) || score >= below) continue
        const { ref } = tools[at] as (typeof tools)[number]
        if (!allow || allow(ref, segment)) found.push({ ref, score, segment, at })
      }
    }
    below = least
  }
  return found
}

/** Histogram of scores. */
function countsOf(scores: Scores, most: number): Uint32Array {
  const counts = new Uint32Array(BINS + 1)
  const scale = BINS / most
  for (const row of scores)
    for (let at = 0; at < row.length; at++) {
      const value = row[at] as number
      if (value > 0) {
        const bin = (value * scale) | 0
        counts[bin] = (counts[bin] as number) + 1
      }
    }
  return counts
}
