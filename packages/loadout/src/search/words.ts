/**
 * From text to words. Identifiers are split (`readTextFile`, `read_text_file`), words are stemmed; scripts without spaces are cut
 * into pairs of characters. What comes out is bounded, whatever goes in.
 */
import { stemmer } from 'stemmer'

const MOST_CHARACTERS = 20_000
const LONGEST_WORD = 64
const WORD = /[\p{L}\p{N}\p{M}]+/gu
const CAMEL = /([\p{Ll}\p{N}])(\p{Lu})|(\p{Lu})(\p{Lu}\p{Ll})/gu
const DIGITS = /(\p{L})(\p{N})|(\p{N})(\p{L})/gu
/** Scripts that write no spaces. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u

/** Lowercased words, identifiers split. */
export function wordsOf(text: string): string[] {
  const bounded = text.length > MOST_CHARACTERS ? text.slice(0, MOST_CHARACTERS) : text
  const split = bounded.normalize('NFKC').replace(CAMEL, '$1$3 $2$4').replace(DIGITS, '$1$3 $2$4').toLowerCase()
  return cut(split)
}

/** Lowercased words as they stand: what somebody typed exactly is found exactly. */
export function exactWordsOf(text: string): string[] {
  const bounded = text.length > MOST_CHARACTERS ? text.slice(0, MOST_CHARACTERS) : text
  return cut(bounded.normalize('NFKC').toLowerCase())
}

function cut(text: string): string[] {
  const words: string[] = []
  for (const [word] of text.matchAll(WORD)) {
    if (UNSPACED.test(word)) pairs(word, words)
    else words.push(word.length > LONGEST_WORD ? word.slice(0, LONGEST_WORD) : word)
  }
  return words
}

function pairs(word: string, into: string[]): void {
  const characters = [...word]
  if (characters.length === 1) into.push(word)
  for (let at = 0; at + 1 < characters.length; at++) into.push(`${characters[at]}${characters[at + 1]}`)
}

const ASCII = /^[a-z]+$/

/** The stem of an English word; others stay as they are. */
export const stemOf = (word: string) => (ASCII.test(word) ? stemmer(word) : word)

/** Words that say nothing of what is wanted. */
const STOP = new Set(
  'a an and are as at be been but by can could did do does for from had has have how i if in into is it its me my of on or our please so some such that the their them then there these they this to us was we were what when where which who will with would you your'.split(
    ' ',
  ),
)

export const isStopWord = (word: string) => STOP.has(word)
