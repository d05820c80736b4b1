/**
 * A long text in pieces, and parts of it again: by page, by line, or all of it. No piece is longer than its size, none
 * cuts a character in two, and no read holds more pieces than it needs.
 */
import { HostError } from '../../errors.ts'
import type { ResultChunkRow } from '../../schema/records/result.ts'

export type Chunk = Pick<ResultChunkRow, 'firstCharacter' | 'firstLine' | 'text'>

export interface Chunks {
  count: number
  /** The longest that one is. */
  size: number
  /** How many characters and lines there are in all. */
  characters: number
  lines: number
  at(seq: number): Promise<Chunk | undefined>
}

export interface Part {
  text: string
  /** Where the next part begins, where there is more. */
  nextOffset?: number
  nextLine?: number
}

export interface LineRange {
  /** Counted from 1. */
  from: number
  lines: number
  /** The most characters of one answer. */
  most: number
}

export function divide(text: string, size: number): Chunk[] {
  const chunks: Chunk[] = []
  let firstLine = 0
  for (let at = 0; at < text.length; ) {
    const end = isPair(text, at + size) ? at + size - 1 : at + size
    // What no database keeps; each takes the place of one, so that all places stay right.
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

/** A page ends between two characters, also where one of them takes two places. */
export async function readPage(chunks: Chunks, offset: number, limit: number): Promise<Part> {
  let text = await readCharacters(chunks, offset, limit)
  if (endsInPair(text)) text = text.length > 1 ? text.slice(0, -1) : await readCharacters(chunks, offset, 2)
  const end = offset + text.length
  return { text, ...(end < chunks.characters ? { nextOffset: end } : {}) }
}

export async function readCharacters(chunks: Chunks, offset: number, limit: number): Promise<string> {
  const read: string[] = []
  let left = Math.min(limit, chunks.characters - offset)
  // Some pieces are a little shorter than their size: it begins in this one, or after it.
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

/** A line that is longer than an answer is cut, and says so by where it goes on. */
export async function readLines(chunks: Chunks, { from, lines, most }: LineRange): Promise<Part> {
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
 * The piece with the line end of this number: behind it the next line begins. The last piece that has fewer before it;
 * where a line is longer than a piece, those after it have as many before them, and there it only goes on.
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

/** Behind the next line end, or where the text ends. */
function lineEnd(text: string, from: number): number {
  const end = text.indexOf('\n', from)
  return end < 0 ? text.length : end + 1
}

const isHigh = (code: number) => code >= 0xd800 && code <= 0xdbff
const isLow = (code: number) => code >= 0xdc00 && code <= 0xdfff

/** Whether a cut here would part the two halves of a character. */
const isPair = (text: string, at: number) => isLow(text.charCodeAt(at)) && isHigh(text.charCodeAt(at - 1))
const endsInPair = (text: string) => isHigh(text.charCodeAt(text.length - 1))
