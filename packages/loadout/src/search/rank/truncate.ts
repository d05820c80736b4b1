/** Of a text only what may be words is searched with. Of a long text its beginning and its end are looked at: what is wanted is said in one of them. */

/** Half of the characters from either end. */
export function bothEnds(text: string, most: number): string {
  if (text.length <= most) return text
  const half = Math.floor((most - 1) / 2)
  return `${text.slice(0, half)}\n${text.slice(-half)}`
}

/** The same of a list. */
export function bothEndsOf<T>(all: readonly T[], most: number): readonly T[] {
  if (all.length <= most) return all
  const half = Math.floor(most / 2)
  return [...all.slice(0, most - half), ...all.slice(-half)]
}

/** Images and keys in letters are no words. */
const ENCODED = /[A-Za-z0-9+/=_-]{120,}/g

/** The text itself where there is nothing else in it. */
export function withoutEncoded(text: string): string {
  const words = text.replace(ENCODED, ' ')
  return words.trim() === '' ? text : words
}
