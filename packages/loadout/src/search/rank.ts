/** Ranks the tools of some segments as if they were one: words are as rare as they are in all of them together. */
import { type Postings, rarity } from './postings.ts'
import type { Hit, Query } from './search.ts'
import type { Segment } from './segment.ts'
import type { WordVectors } from './word-vectors.ts'
import { exactWordsOf, isStopWord, stemOf, wordsOf } from './words.ts'

/** How much words as they stand count beside stems. */
const EXACT_SHARE = 0.3
/** How much meaning counts beside words. */
const MEANING_SHARE = 0.25
const MOST_WORDS = 200

/** Of each tool of each segment, in their order. */
export type Scores = Float32Array[]

export function lexicalScores(segments: readonly Segment[], text: string): Scores {
  const stems = score(segments, (segment) => segment.stems, counted(wordsOf(text).map(stemOf)))
  const exact = score(segments, (segment) => segment.exact, counted(exactWordsOf(text)))
  return mix(stems, exact, EXACT_SHARE)
}

/** Each word once, with how often it stands there: what is said twice is meant a little more. */
function counted(words: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const word of words) {
    if (counts.size >= MOST_WORDS) break
    counts.set(word, (counts.get(word) ?? 0) + 1)
  }
  const telling = [...counts].filter(([word]) => !isStopWord(word))
  return telling.length > 0 ? new Map(telling) : counts
}

function score(
  segments: readonly Segment[],
  of: (segment: Segment) => Postings,
  words: ReadonlyMap<string, number>,
): Scores {
  const scores = segments.map(({ tools }) => new Float32Array(tools.length))
  const count = segments.reduce((sum, { tools }) => sum + tools.length, 0)
  for (const [word, times] of words) {
    const postings = segments.map((segment) => of(segment).get(word))
    const found = postings.reduce((sum, posting) => sum + (posting?.documents.length ?? 0), 0)
    if (found === 0) continue
    const rare = rarity(count, found) * (1 + Math.log(times))
    postings.forEach((posting, index) => {
      if (!posting) return
      const { documents, weights } = posting
      const into = scores[index] as Float32Array
      for (let at = 0; at < documents.length; at++) {
        const document = documents[at] as number
        into[document] = (into[document] as number) + rare * (weights[at] as number)
      }
    })
  }
  return scores
}

export function meaningScores(segments: readonly Segment[], text: string, vectors: WordVectors): Scores {
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

export const hybridScores = (lexical: Scores, meaning: Scores) => mix(lexical, spread(meaning), MEANING_SHARE)

/** Both on the scale of their best, the second by its share. */
function mix(first: Scores, second: Scores, share: number): Scores {
  const [a, b] = [best(first), best(second)]
  return first.map((row, index) => {
    const other = second[index] as Float32Array
    return row.map(
      (value, at) => (a > 0 ? ((1 - share) * value) / a : 0) + (b > 0 ? (share * (other[at] as number)) / b : 0),
    )
  })
}

/** From the worst at 0 to the best at 1. */
function spread(scores: Scores): Scores {
  let least = Number.POSITIVE_INFINITY
  for (const row of scores) for (const value of row) if (value < least) least = value
  return scores.map((row) => row.map((value) => value - least))
}

function best(scores: Scores): number {
  let most = 0
  for (const row of scores) for (const value of row) if (value > most) most = value
  return most
}

/** The best of them, in the order of their score; equal ones by their name, so that the order is always the same. */
export function top(
  segments: readonly Segment[],
  scores: Scores,
  { limit, allow }: Query,
): Array<Omit<Hit, 'reasons'>> {
  const found: Array<Omit<Hit, 'reasons'>> = []
  let least = 0
  segments.forEach(({ tools }, index) => {
    const row = scores[index] as Float32Array
    for (let at = 0; at < tools.length; at++) {
      const value = row[at] as number
      if (value <= 0 || (found.length >= limit && value < least)) continue
      const { ref } = tools[at] as (typeof tools)[number]
      if (allow && !allow(ref, index)) continue
      insert(found, { ref, score: value }, limit)
      least = found.at(-1)?.score ?? 0
    }
  })
  return found
}

function insert(found: Array<Omit<Hit, 'reasons'>>, hit: Omit<Hit, 'reasons'>, limit: number): void {
  let at = found.length
  while (at > 0 && isBefore(hit, found[at - 1] as Omit<Hit, 'reasons'>)) at--
  if (at >= limit) return
  found.splice(at, 0, hit)
  if (found.length > limit) found.pop()
}

const isBefore = (a: Omit<Hit, 'reasons'>, b: Omit<Hit, 'reasons'>) =>
  a.score > b.score || (a.score === b.score && a.ref < b.ref)
