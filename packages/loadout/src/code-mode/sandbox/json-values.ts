/** Scans JSON texts without parsing them. Used inside sandboxes too, so it imports nothing. */
export const OPEN_ARRAY = 91
export const OPEN_OBJECT = 123
export const CLOSE_ARRAY = 93
export const CLOSE_OBJECT = 125
export const QUOTE = 34
const BACKSLASH = 92
const COMMA = 44
const COLON = 58

/** True if a JSON text has more nested values and keys than `most`. */
export function hasMoreValues(text: string, most: number): boolean {
  // Each value takes at least one character and one separator.
  if (text.length < 2 * most) return false
  let values = 1
  for (let at = 0; at < text.length && values <= most; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) at = endOfString(text, at + 1)
    else if (code === COMMA || code === COLON) values++
    else if ((code === OPEN_ARRAY || code === OPEN_OBJECT) && !isEmpty(text, at)) values++
  }
  return values > most
}

const isEmpty = (text: string, at: number) => {
  const next = text.charCodeAt(at + 1)
  return next === CLOSE_ARRAY || next === CLOSE_OBJECT
}

/** Index of the closing quote of a string. */
export function endOfString(text: string, from: number): number {
  let at = text.indexOf('"', from)
  while (at > 0 && isEscaped(text, at)) at = text.indexOf('"', at + 1)
  return at < 0 ? text.length : at
}

function isEscaped(text: string, at: number): boolean {
  let slashes = 0
  while (text.charCodeAt(at - 1 - slashes) === BACKSLASH) slashes++
  return slashes % 2 === 1
}
