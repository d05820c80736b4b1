/**
 * Characters that cannot be seen and change what is read: controls, marks of direction, zero widths, tags. A person who decides by a
 * text must see that they are there. Line ends and tabs are honest, and so is what joins the parts of one emoji.
 */
const HIDDEN =
  /(?![\n\t])(?!(?<=\p{Extended_Pictographic}\uFE0F?)\u200D(?=\p{Extended_Pictographic}))[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Cs}\p{Zl}\p{Zp}]/gu

export interface TextSegment {
  text: string
  hidden: boolean
}

/** The text in pieces; what is hidden in it is written as JSON writes it. */
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
