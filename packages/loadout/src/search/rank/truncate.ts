/**
 * Truncates queries: keeps the beginning and the end of a long text, which contain the request, and removes encoded
 * data.
 */

/** Keeps half of the characters from either end. */
export function bothEnds(text: string, max: number): string {
  if (text.length <= max) return text
  const half = Math.floor((max - 1) / 2)
  return `${text.slice(0, half)}\n${text.slice(-half)}`
}

/** Same for a list. */
export function bothEndsOf<T>(items: readonly T[], max: number): readonly T[] {
  if (items.length <= max) return items
  const half = Math.floor(max / 2)
  return [...items.slice(0, max - half), ...items.slice(-half)]
}

/** Encoded images and keys are no words. */
const ENCODED = /[A-Za-z0-9+/=_-]{120,}/g

/** Returns the text unchanged when it contains nothing else. */
export function withoutEncoded(text: string): string {
  const words = text.replace(ENCODED, ' ')
  return words.trim() === '' ? text : words
}
