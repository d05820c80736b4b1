/** Why a tool was found, for people: which words met, and where. Only what is shown is explained. */
import { FIELDS, type Field, textsOf } from './fields.ts'
import type { Segment } from './segment.ts'
import { isStopWord, stemOf, wordsOf } from './words.ts'

const WORDS: Record<Field, string> = {
  name: 'its name',
  toolkit: 'its toolkit',
  description: 'its description',
  argumentNames: 'its arguments',
  argumentWords: 'what is said of its arguments',
  examples: 'what it was used for',
}
const MOST_WORDS = 5

export function reasonsOf(segments: readonly Segment[], ref: string, text: string): string[] {
  const tool = segments.flatMap(({ tools }) => tools).find((one) => one.ref === ref)
  if (!tool) return []
  const asked = new Map(wordsOf(text).map((word) => [stemOf(word), word]))
  const texts = textsOf(tool)
  const met = FIELDS.flatMap((field) => {
    const stems = new Set(wordsOf(texts[field]).map(stemOf))
    const words = [...asked]
      .filter(([stem, word]) => stems.has(stem) && !isStopWord(word))
      .map(([, word]) => `"${word}"`)
    return words.length === 0 ? [] : [`${words.slice(0, MOST_WORDS).join(', ')} in ${WORDS[field]}`]
  })
  return met.length > 0 ? met : ['It means something alike.']
}
