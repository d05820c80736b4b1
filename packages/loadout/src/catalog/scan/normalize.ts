/** Folds look-alike letters and invisible characters, so that a rule sees the text as a reader does. Linear time. */

/** Letters of other scripts by the Latin letter that they look like. */
const LOOK_ALIKES: Readonly<Record<string, string>> = {
  a: 'аɑαᴀⱥạąǎаꭺᎪⲁ',
  b: 'ЬвƄбᏏⲃ',
  c: 'сϲᴄⅽƈⲥꮯᏟ',
  d: 'ԁɗđᏧⅾꭰᎠ',
  e: 'еєεҽẹęɛᎬⲉ',
  f: 'ƒẝꞙϝ',
  g: 'ɡցǥᏀԍ',
  h: 'һհнʜᏂⲏ',
  i: 'іιɩıїїíìᎥⅰⲓ',
  j: 'јϳʝᎫ',
  k: 'κкᴋƙᏦⲕ',
  l: 'ӏⅼłʟᏞ',
  m: 'мᴍⅿᎷⲙ',
  n: 'пηɴņպռո',
  o: 'оοσօᴏọøѳဝ๐໐ⲟ',
  p: 'рρᴘƿᏢⲣ',
  q: 'ԛգզ',
  r: 'гᴦʀɾꭱᎡⲅ',
  s: 'ѕꜱʂšᏚ',
  t: 'тτᴛţᎢⲧ',
  u: 'υսцᴜųᥙ',
  v: 'ѵνᴠⅴᏙ',
  w: 'ԝωшᴡѡᎳա',
  x: 'хχⅹⲭ',
  y: 'уγүʏყᎩ',
  z: 'ᴢʐżᏃ',
}

const FOLDED = new Map(
  Object.entries(LOOK_ALIKES).flatMap(([latin, others]) =>
    Array.from(others).flatMap((other) => [[other, latin] as const, [other.toLowerCase(), latin] as const]),
  ),
)

/** Format characters have no width; marks, selectors among them, are removed first. */
const INVISIBLE = /[\p{Cf}\u115f\u1160\u3164]/gu
const MARKS = /\p{M}/gu

const isAscii = (text: string): boolean => {
  for (let at = 0; at < text.length; at += 1) if (text.charCodeAt(at) > 126) return false
  return true
}

/** Lower-case text with Latin letters for their look-alikes. Other scripts stay. */
export function foldText(text: string): string {
  if (isAscii(text)) return text.toLowerCase()
  const plain = text.normalize('NFKD').replace(MARKS, '').replace(INVISIBLE, '').toLowerCase().replaceAll('’', "'")
  let folded = ''
  for (const letter of plain) folded += FOLDED.get(letter) ?? letter
  return folded
}

/** Name for comparison: look-alikes folded, separators and easily confused digits removed. */
export const nameSkeleton = (name: string): string =>
  foldText(name)
    .replaceAll('0', 'o')
    .replaceAll('1', 'l')
    .replace(/[^\p{L}\p{N}]/gu, '')

const LATIN = /\p{Script=Latin}/u
const CONFUSABLE_SCRIPT =
  /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Cherokee}\p{Script=Coptic}]/u

/** Whether Latin letters and look-alikes of another script share a word, as in a name that imitates another. */
export function mixesScripts(name: string): boolean {
  return LATIN.test(name) && CONFUSABLE_SCRIPT.test(name)
}

/** Whether a text is Latin but contains words that mix scripts. */
export function mixedWord(text: string): string | undefined {
  if (isAscii(text)) return undefined
  for (const [word] of text.matchAll(/\p{L}{3,64}/gu)) if (mixesScripts(word)) return word
  return undefined
}

export const SENTENCE_END = '.'
export const COMMA = ','
/** Words of a folded text. The end of a sentence is a word of its own. */
export interface Words {
  words: string[]
  /** Offset of each word in the folded text. */
  at: number[]
}

const WORD = /[\p{L}\p{N}_]+|[.!?;,](?=\s|$)/gu

export function scanWords(folded: string): Words {
  const words: string[] = []
  const at: number[] = []
  for (const match of folded.matchAll(WORD)) {
    const [word] = match
    words.push(/^[.!?;]$/.test(word) ? SENTENCE_END : word)
    at.push(match.index)
  }
  return { words, at }
}
