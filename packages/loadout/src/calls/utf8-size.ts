/** How many bytes a text has in UTF-8, without making them: nothing costs a short text less, and nothing is held of a long one. */
export function utf8Size(text: string): number {
  let size = text.length
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code < 0x80) continue
    size += code < 0x800 ? 1 : 2
    // Its other half is counted with it: both together are four bytes.
    if (isHigh(code) && isLow(text.charCodeAt(at + 1))) at++
  }
  return size
}

const isHigh = (code: number) => code >= 0xd800 && code <= 0xdbff
const isLow = (code: number) => code >= 0xdc00 && code <= 0xdfff
