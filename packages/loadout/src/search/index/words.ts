/**
 * Splits text into words. Identifiers are split (`readTextFile`, `read_text_file`), words are stemmed, and scripts
 * without spaces become pairs of characters. The output is bounded.
 */
import { stemmer } from 'stemmer'

const MAX_CHARACTERS = 20_000
const MAX_WORD_LENGTH = 64
/** Fast path: ASCII texts need no Unicode tables. */
const BEYOND_ASCII = /[^ -~\s]/
const ASCII_RUN = /[A-Za-z0-9]+/g
/** Runs of scripts without spaces between words, or with joined particles (Hangul), are separate. */
const RUN =
  /[[\p{L}\p{N}\p{M}]&&[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Hang}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmr}\p{scx=Mymr}]]+|[[\p{L}\p{N}\p{M}]--[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Hang}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmr}\p{scx=Mymr}]]+/gv
const UNSPACED = /^[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Hang}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmr}\p{scx=Mymr}]/u
/** Hyphenated words: `e-mail`, `real-time`, `check-in`. */
const HYPHENED = /(?<![\p{L}\p{N}_-])\p{L}{1,12}(?:[-‐]\p{L}{1,12}){1,2}(?![\p{L}\p{N}_-])/gu
/** Split points of an identifier: before an uppercase letter, and between letters and digits. */
const SEAM = /(?<=[\p{Ll}\p{N}])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})|(?<=[\p{L}\p{M}])(?=\p{N})|(?<=\p{N})(?=\p{L})/u
const LOWER = /^[a-z]+$/

/** Runs without separators, as written. Runs repeat often, so later work is cached per run. */
export function runsOf(text: string): string[] {
  const bounded = text.length > MAX_CHARACTERS ? text.slice(0, MAX_CHARACTERS) : text
  if (!BEYOND_ASCII.test(bounded)) return bounded.match(ASCII_RUN) ?? []
  return bounded.normalize('NFKC').match(RUN) ?? []
}

/** Parts of hyphenated words, because others write them as one word. */
export function hyphenedOf(text: string): string[][] {
  const bounded = text.length > MAX_CHARACTERS ? text.slice(0, MAX_CHARACTERS) : text
  if (!/[-‐\u2011]/.test(bounded)) return []
  const found = bounded.normalize('NFKC').match(HYPHENED) ?? []
  return found.map((match) => match.toLowerCase().split(/[-‐]/))
}

/** Single characters of a run that is split into pairs, so that one character also matches. */
export function charactersOf(run: string): string[] {
  if (!UNSPACED.test(run)) return []
  const characters = [...run]
  return characters.length === 1 ? [] : [...new Set(characters)]
}

/** Words of a run, lowercased, with identifiers split. */
export function splitIdentifier(run: string): string[] {
  if (LOWER.test(run)) return [bounded(run)]
  if (UNSPACED.test(run)) return pairs(run)
  return run.split(SEAM).map((part) => bounded(part.toLowerCase()))
}

/** The whole run, lowercased, for exact matches. */
export function exactOf(run: string): string[] {
  return UNSPACED.test(run) ? pairs(run) : [bounded(run.toLowerCase())]
}

export const wordsOf = (text: string): string[] => runsOf(text).flatMap(splitIdentifier)

const bounded = (word: string) => (word.length > MAX_WORD_LENGTH ? word.slice(0, MAX_WORD_LENGTH) : word)

function pairs(run: string): string[] {
  const characters = [...run]
  if (characters.length === 1) return [run]
  return characters.slice(1).map((character, at) => `${characters[at]}${character}`)
}

/** Stem of an English word; other words stay. */
export const stemOf = (word: string) => (LOWER.test(word) ? stemmer(word) : word)

/** Stop words. */
const STOP = new Set(
  'a an and are as at be been but by can could did do does for from had has have how i if in into is it its me my of on or our please so some such that the their them then there these they this to us was we were what when where which who will with would you your'.split(
    ' ',
  ),
)

export const isStopWord = (word: string) => STOP.has(word)

/** Courtesy words: together with stop words they request nothing. */
const COURTESY = new Set(
  'bye cool evening fine good goodbye great haha hello hey hi lol morning nice no ok okay perfect sorry sure thank thanks very welcome well yes'.split(
    ' ',
  ),
)

/** Whether a text is small talk without a request. */
export function isSmallTalk(text: string): boolean {
  const words = wordsOf(text)
  return words.length > 0 && words.every((word) => STOP.has(word) || COURTESY.has(word))
}
