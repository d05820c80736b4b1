/**
 * Splits a long text into chunks and reads parts of it: by page, by line, or all. No chunk exceeds its size or splits a
 * character, and a read loads only the chunks that it needs.
 */
import { HostError } from '../../errors.ts'
import type { ResultChunkRow } from '../../schema/records/result.ts'

export type Chunk = Pick<ResultChunkRow, 'firstCharacter' | 'firstLine' | 'text'>

export interface Chunks {
  count: number
  /** Maximum length of a chunk. */
  size: number
  /** Total number of characters. */
  characters: number
  lines: number
  at(seq: number): Promise<Chunk | undefined>
}

export interface ResultRange {
  text: string
  /** Start of the next part, if there is more. */
  nextOffset?: number
  nextLine?: number
}

export interface LineRange {
  /** 1-based. */
  from: number
  lines: number
  /** Maximum number of characters per read. */
  most: number
}

export function divide(text: string, size: number): Chunk[] {
  const chunks: Chunk[] = []
  let firstLine = 0
  for (let at = 0; at < text.length; ) {
    const end = isPair(text, at + size) ? at + size - 1 : at + size
    // Characters that databases reject are replaced one for one, so that offsets stay valid.
    const chunk = text.slice(at, end).toWellFormed().replaceAll('\0', '\uFFFD')
    chunks.push({ firstCharacter: at, firstLine, text: chunk })
    firstLine += countLineEnds(chunk)
    at = end
  }
  return chunks
}

export function countLineEnds(text: string): number {
  let count = 0
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) count++
  return count
}

/** A page never ends inside a surrogate pair. */
export async function readPage(chunks: Chunks, offset: number, limit: number): Promise<ResultRange> {
  let text = await readCharacters(chunks, offset, limit)
  if (endsInPair(text)) text = text.length > 1 ? text.slice(0, -1) : await readCharacters(chunks, offset, 2)
  const end = offset + text.length
  return { text, ...(end < chunks.characters ? { nextOffset: end } : {}) }
}

export async function readCharacters(chunks: Chunks, offset: number, limit: number): Promise<string> {
  const read: string[] = []
  let left = Math.min(limit, chunks.characters - offset)
  // Chunks may be shorter than `size`, so the offset is in this chunk or a later one.
  for (let seq = Math.floor(offset / chunks.size); left > 0; seq++) {
    const { text, firstCharacter } = await chunkAt(chunks, seq)
    const from = Math.max(0, offset - firstCharacter)
    if (from >= text.length) continue
    const part = text.slice(from, from + left)
    read.push(part)
    left -= part.length
  }
  return read.join('')
}

/** A line that exceeds `most` is cut; `nextOffset` is where it continues. */
export async function readResultLines(chunks: Chunks, { from, lines, most }: LineRange): Promise<ResultRange> {
  if (from > chunks.lines || chunks.count === 0) return { text: '' }
  let seq = await findLineEnd(chunks, from - 1)
  let chunk = await chunkAt(chunks, seq)
  let at = 0
  for (let skip = from - 1 - chunk.firstLine; skip > 0; skip--) at = lineEnd(chunk.text, at)
  let text = ''
  for (let left = lines; left > 0; ) {
    if (at === chunk.text.length) {
      if (++seq === chunks.count) return { text }
      chunk = await chunkAt(chunks, seq)
      at = 0
    }
    const end = lineEnd(chunk.text, at)
    const room = most - text.length
    if (end - at > room) {
      const cut = isPair(chunk.text, at + room) ? room - 1 : room
      return { text: text + chunk.text.slice(at, at + cut), nextOffset: chunk.firstCharacter + at + cut }
    }
    text += chunk.text.slice(at, end)
    if (chunk.text[end - 1] === '\n') left--
    at = end
  }
  const next = from + lines
  return { text: text.slice(0, -1), ...(next <= chunks.lines ? { nextLine: next } : {}) }
}

/**
 * Finds the chunk with the given line end, by binary search for the last chunk with fewer line ends before it. If a
 * line spans several chunks, later ones have the same count.
 */
async function findLineEnd(chunks: Chunks, number: number): Promise<number> {
  let low = 0
  let high = chunks.count - 1
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if ((await chunkAt(chunks, middle)).firstLine < number) low = middle
    else high = middle - 1
  }
  return low
}

async function chunkAt(chunks: Chunks, seq: number): Promise<Chunk> {
  const chunk = await chunks.at(seq)
  if (!chunk) throw new HostError('not-found', { detail: 'The result is gone: it has expired.' })
  return chunk
}

/** Position after the next line end, or the end of the text. */
function lineEnd(text: string, from: number): number {
  const end = text.indexOf('\n', from)
  return end < 0 ? text.length : end + 1
}

const isHigh = (code: number) => code >= 0xd800 && code <= 0xdbff
const isLow = (code: number) => code >= 0xdc00 && code <= 0xdfff

/** Whether a cut here would split a surrogate pair. */
const isPair = (text: string, at: number) => isLow(text.charCodeAt(at)) && isHigh(text.charCodeAt(at - 1))
const endsInPair = (text: string) => isHigh(text.charCodeAt(text.length - 1))
