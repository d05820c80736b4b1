/** Of a text only what may be words is searched with. Of a long text its beginning and its end are looked at: what is wanted is said in one of them. */

/** Half of the characters from either end. */
export function bothEnds(text: string, max: number): string {
  if (text.length <= max) return text
  const half = Math.floor((max - 1) / 2)
  return `${text.slice(0, half)}\n${text.slice(-half)}`
}

/** The same of a list. */
export function bothEndsOf<T>(items: readonly T[], max: number): readonly T[] {
  if (items.length <= max) return items
  const half = Math.floor(max / 2)
  return [...items.slice(0, max - half), ...items.slice(-half)]
}

/** Images and keys in letters are no words. */
const ENCODED = /[A-Za-z0-9+/=_-]{120,}/g

/** The text itself where there is nothing else in it. */
export function withoutEncoded(text: string): string {
  const words = text.replace(ENCODED, ' ')
  return words.trim() === '' ? text : words
}
