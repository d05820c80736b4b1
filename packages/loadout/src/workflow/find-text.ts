/** Where a text is in another one. Its time grows with both lengths and never with their product, whatever they are. */

/** Up to here the engine's own search is fast, whatever it looks for. */
const SHORT = 64

/** As `whole.indexOf(part, from)`. */
export function findText(whole: string, part: string, from = 0): number {
  return part.length <= SHORT ? whole.indexOf(part, from) : finder(part)(whole, from)
}

/** As `whole.split(by)`. */
export function splitText(whole: string, by: string): string[] {
  if (by.length <= SHORT) return whole.split(by)
  const find = finder(by)
  const parts: string[] = []
  let from = 0
  for (let at = find(whole, 0); at >= 0; at = find(whole, from)) {
    parts.push(whole.slice(from, at))
    from = at + by.length
  }
  return [...parts, whole.slice(from)]
}

/** Knuth, Morris and Pratt: no character of the whole is gone back to. */
function finder(part: string): (whole: string, from: number) => number {
  const known = new Uint32Array(part.length)
  for (let at = 1, length = 0; at < part.length; at++) {
    while (length > 0 && part.charCodeAt(at) !== part.charCodeAt(length)) length = known[length - 1] as number
    if (part.charCodeAt(at) === part.charCodeAt(length)) length++
    known[at] = length
  }
  return (whole, from) => {
    for (let at = from, length = 0; at < whole.length; at++) {
      while (length > 0 && whole.charCodeAt(at) !== part.charCodeAt(length)) length = known[length - 1] as number
      if (whole.charCodeAt(at) === part.charCodeAt(length)) length++
      if (length === part.length) return at + 1 - length
    }
    return -1
  }
}
