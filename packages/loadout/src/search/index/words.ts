/**
 * From text to words. Identifiers are split (`readTextFile`, `read_text_file`), words are stemmed; scripts without spaces are cut
 * into pairs of characters. What comes out is bounded, whatever goes in.
 */
import { stemmer } from 'stemmer'

const MAX_CHARACTERS = 20_000
const MAX_WORD_LENGTH = 64
/** Most texts: they need no tables of Unicode. */
const BEYOND_ASCII = /[^ -~\s]/
const ASCII_RUN = /[A-Za-z0-9]+/g
/** Scripts whose words are not told by spaces, or (Hangul) only with what is joined to them, stand apart from the rest. */
const RUN =
  /[[\p{L}\p{N}\p{M}]&&[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Hang}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmr}\p{scx=Mymr}]]+|[[\p{L}\p{N}\p{M}]--[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Hang}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmr}\p{scx=Mymr}]]+/gv
const UNSPACED = /^[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Hang}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmr}\p{scx=Mymr}]/u
/** Words that a hyphen joins: `e-mail`, `real-time`, `check-in`. */
const HYPHENED = /(?<![\p{L}\p{N}_-])\p{L}{1,12}(?:[-‐]\p{L}{1,12}){1,2}(?![\p{L}\p{N}_-])/gu
/** Where an identifier is split: at an upper case letter, and between letters and digits. */
const SEAM = /(?<=[\p{Ll}\p{N}])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})|(?<=[\p{L}\p{M}])(?=\p{N})|(?<=\p{N})(?=\p{L})/u
const LOWER = /^[a-z]+$/

/** What stands together in a text, as it is written. Most texts have few that are not had before: work is done on these. */
export function runsOf(text: string): string[] {
  const bounded = text.length > MAX_CHARACTERS ? text.slice(0, MAX_CHARACTERS) : text
  if (!BEYOND_ASCII.test(bounded)) return bounded.match(ASCII_RUN) ?? []
  return bounded.normalize('NFKC').match(RUN) ?? []
}

/** What is written with a hyphen, in its parts: those who use none write it as one word. */
export function hyphenedOf(text: string): string[][] {
  const bounded = text.length > MAX_CHARACTERS ? text.slice(0, MAX_CHARACTERS) : text
  if (!/[-‐\u2011]/.test(bounded)) return []
  const found = bounded.normalize('NFKC').match(HYPHENED) ?? []
  return found.map((match) => match.toLowerCase().split(/[-‐]/))
}

/** The characters of a run that is cut into pairs: who asks for one of them alone finds it. */
export function charactersOf(run: string): string[] {
  if (!UNSPACED.test(run)) return []
  const characters = [...run]
  return characters.length === 1 ? [] : [...new Set(characters)]
}

/** The words of a run, lowercased, identifiers split. */
export function partsOf(run: string): string[] {
  if (LOWER.test(run)) return [bounded(run)]
  if (UNSPACED.test(run)) return pairs(run)
  return run.split(SEAM).map((part) => bounded(part.toLowerCase()))
}

/** A run as it stands, lowercased: what somebody typed exactly is found exactly. */
export function exactOf(run: string): string[] {
  return UNSPACED.test(run) ? pairs(run) : [bounded(run.toLowerCase())]
}

export const wordsOf = (text: string): string[] => runsOf(text).flatMap(partsOf)

const bounded = (word: string) => (word.length > MAX_WORD_LENGTH ? word.slice(0, MAX_WORD_LENGTH) : word)

function pairs(run: string): string[] {
  const characters = [...run]
  if (characters.length === 1) return [run]
  return characters.slice(1).map((character, at) => `${characters[at]}${character}`)
}

/** The stem of an English word; others stay as they are. */
export const stemOf = (word: string) => (LOWER.test(word) ? stemmer(word) : word)

/** Words that say little of what is wanted. */
const STOP = new Set(
  'a an and are as at be been but by can could did do does for from had has have how i if in into is it its me my of on or our please so some such that the their them then there these they this to us was we were what when where which who will with would you your'.split(
    ' ',
  ),
)

export const isStopWord = (word: string) => STOP.has(word)

/** Words of courtesy: among words that say little they ask for nothing. */
const COURTESY = new Set(
  'bye cool evening fine good goodbye great haha hello hey hi lol morning nice no ok okay perfect sorry sure thank thanks very welcome well yes'.split(
    ' ',
  ),
)

/** Whether a text asks for nothing: of its words, none could. */
export function isSmallTalk(text: string): boolean {
  const words = wordsOf(text)
  return words.length > 0 && words.every((word) => STOP.has(word) || COURTESY.has(word))
}
