/**
 * Matches phrases in words: a phrase is a list of slots, each with alternatives, and between two slots are at most `GAP`
 * other words of the same sentence. The work per word is bounded, so a scan takes linear time for every text.
 */
import { COMMA, SENTENCE_END, type Words } from './normalize.ts'

/** Slots with alternatives: `['ignore|disregard', 'previous|prior', 'instructions|rules']`. */
export type Phrase = readonly string[]

export interface CompiledPhrases<Rule> {
  find(text: Words): Array<{ rule: Rule; from: number; to: number }>
}

const GAP = 4

interface Compiled<Rule> {
  rule: Rule
  slots: ReadonlyArray<ReadonlySet<string>>
}

export function compilePhrases<Rule extends { phrases: readonly Phrase[]; endsAtComma?: true }>(
  rules: readonly Rule[],
): CompiledPhrases<Rule> {
  const byFirst = new Map<string, Compiled<Rule>[]>()
  for (const rule of rules)
    for (const phrase of rule.phrases) {
      const slots = phrase.map((slot) => new Set(slot.split('|')))
      for (const word of slots[0] ?? []) byFirst.set(word, [...(byFirst.get(word) ?? []), { rule, slots }])
    }
  return {
    find(text) {
      const found: Array<{ rule: Rule; from: number; to: number }> = []
      const seen = new Set<Rule>()
      for (const [at, word] of text.words.entries())
        for (const { rule, slots } of byFirst.get(word) ?? []) {
          if (seen.has(rule)) continue
          const end = endOf(text.words, { slots, from: at, endsAtComma: rule.endsAtComma === true })
          if (end === undefined) continue
          // One finding per rule and text is enough to show.
          seen.add(rule)
          found.push({ rule, from: at, to: end })
        }
      return found
    },
  }
}

interface Search {
  slots: ReadonlyArray<ReadonlySet<string>>
  from: number
  endsAtComma: boolean
}

function endOf(words: readonly string[], { slots, from, endsAtComma }: Search): number | undefined {
  let at = from
  for (const slot of slots.slice(1)) {
    const next = nextIn(words, slot, { from: at + 1, endsAtComma })
    if (next === undefined) return undefined
    at = next
  }
  return at
}

function nextIn(
  words: readonly string[],
  slot: ReadonlySet<string>,
  { from, endsAtComma }: Omit<Search, 'slots'>,
): number | undefined {
  for (let at = from; at <= from + GAP && at < words.length; at += 1) {
    const word = words[at] as string
    if (slot.has(word)) return at
    if (word === SENTENCE_END || (endsAtComma && word === COMMA)) return undefined
  }
  return undefined
}
