/**
 * Finds invisible characters that change how text reads: controls, direction marks, zero-width characters and tags.
 * Users who decide by a text must see them. Line breaks, tabs and emoji joiners are allowed.
 */
const HIDDEN =
  /(?![\n\t])(?!(?<=\p{Extended_Pictographic}\uFE0F?)\u200D(?=\p{Extended_Pictographic}))[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Cs}\p{Zl}\p{Zp}]/gu

export interface TextSegment {
  text: string
  hidden: boolean
}

/** Splits a text into segments; hidden characters are escaped as in JSON. */
export function segmentsOf(text: string): TextSegment[] {
  const pieces: TextSegment[] = []
  let from = 0
  for (const { 0: found, index } of text.matchAll(HIDDEN)) {
    if (index > from) pieces.push({ text: text.slice(from, index), hidden: false })
    const last = pieces.at(-1)
    if (last?.hidden) last.text += written(found)
    else pieces.push({ text: written(found), hidden: true })
    from = index + found.length
  }
  if (from < text.length) pieces.push({ text: text.slice(from), hidden: false })
  return pieces
}

const written = (character: string) =>
  Array.from(
    { length: character.length },
    (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`,
  ).join('')
