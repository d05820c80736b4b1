/** JSON as a text, counted before anything of it is read. Used inside sandboxes too: it imports nothing. */
export const [OPEN_ARRAY, OPEN_OBJECT, CLOSE_ARRAY, CLOSE_OBJECT, QUOTE] = [91, 123, 93, 125, 34]
const [BACKSLASH, COMMA, COLON] = [92, 44, 58]

/** Whether a text has more values and names than that, those inside others among them. None is read for it. */
export function hasMoreValues(text: string, most: number): boolean {
  // Each takes a character at least, and one that divides it from the next.
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

/** Where a string ends that begins before here. */
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
