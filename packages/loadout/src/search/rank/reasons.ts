/** Explains hits: which words matched in which field. Only returned hits are explained. */
import { SEARCH_FIELDS, type SearchField } from '../index/fields.ts'
import type { Segment } from '../index/segment.ts'
import { isStopWord, stemOf, wordsOf } from '../index/words.ts'
import type { Hit } from '../search.ts'
import type { Ranked } from './rank.ts'
import { bothEndsOf } from './truncate.ts'

const FIELD_LABELS: Record<SearchField, string> = {
  name: 'its name',
  toolkit: 'its toolkit',
  description: 'its description',
  argumentNames: 'its arguments',
  argumentWords: 'what is said of its arguments',
  examples: 'what it was used for',
}
const MAX_WORDS = 5

const MAX_QUERY_WORDS = 200

/** Adds reasons to hits. */
export function explainHits(segments: readonly Segment[], ranked: readonly Ranked[], text: string): Hit[] {
  const telling = wordsOf(text).filter((word) => !isStopWord(word))
  const matching = [...new Map(telling.map((word) => [stemOf(word), word]))].filter(([stem]) =>
    segments.some(({ stems }) => stems.find(stem) >= 0),
  )
  const queryWords = bothEndsOf(matching, MAX_QUERY_WORDS)
  return ranked.map(({ ref, score, segment, at }) => {
    const { stems } = segments[segment] as Segment
    const matches = queryWords.map(([stem, word]) => ({ word, fields: stems.fieldsOf(stem, at) }))
    const reasons = SEARCH_FIELDS.flatMap((field, bit) => {
      const words = matches.filter(({ fields }) => (fields & (1 << bit)) !== 0).slice(0, MAX_WORDS)
      return words.length === 0 ? [] : [`${words.map(({ word }) => `"${word}"`).join(', ')} in ${FIELD_LABELS[field]}`]
    })
    return { ref, score, reasons: reasons.length > 0 ? reasons : ['It means something alike.'] }
  })
}
