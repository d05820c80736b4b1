/**
 * Results that are too large to hand on: kept in pieces for a while, read by page, by line or by a path into their JSON.
 * A piece is never larger than `CHUNK` characters, so that no read, page or line, holds more than it needs.
 */
import { HostError } from '../errors.ts'
import { newId } from '../schema/ids.ts'
import type { ResultChunkRow, ResultRow } from '../schema/result.ts'
import type { Storage } from '../storage/storage.ts'
import { selectPath } from './json-path.ts'

export interface NewResult {
  userId: string
  callId: string
  ref: string
  text: string
}

/** Which part: characters from a place, lines from a line, or what a path selects. */
export interface ResultPart {
  offset?: number | undefined
  limit?: number | undefined
  fromLine?: number | undefined
  lines?: number | undefined
  path?: string | undefined
}

export interface ReadResult {
  text: string
  /** Where the next part begins, where there is more. */
  nextOffset?: number
  nextLine?: number
  characters: number
  lines: number
}

export interface Results {
  keep(result: NewResult): Promise<ResultRow>
  /** `not-found` where it is not the user's, or has expired. */
  read(userId: string, id: string, part?: ResultPart): Promise<ReadResult>
}

const CHUNK = 262_144
const KEEP_MS = 24 * 3_600_000
const PAGE = 10_000
const MAX_PAGE = 100_000
const LINES = 200
const MAX_LINES = 2000
/** Beyond this, a path is not looked for: the whole would have to be held at once. */
const MAX_JSON = 64 * 1024 * 1024

export function createResults(storage: Storage, keepMs = KEEP_MS): Results {
  const own = async (userId: string, id: string): Promise<ResultRow> => {
    const row = await storage.transaction({ userId }, (tx) => tx.get('results', id))
    if (!row || row.expiresAt <= new Date())
      throw new HostError('not-found', { detail: 'There is no such result of yours, or it has expired.' })
    return row
  }
  const chunk = async (userId: string, resultId: string, seq: number): Promise<ResultChunkRow | undefined> => {
    const [row] = await storage.transaction({ userId }, (tx) =>
      tx.list('resultChunks', { where: { userId, resultId, seq } }),
    )
    return row
  }
  const readCharacters = async (row: ResultRow, offset: number, limit: number): Promise<string> => {
    let text = ''
    for (let seq = Math.floor(offset / CHUNK); text.length < limit && seq < row.chunks; seq++) {
      const piece = await chunk(row.userId, row.resultId, seq)
      if (!piece) break
      const from = Math.max(0, offset - piece.firstCharacter)
      text += piece.text.slice(from, from + limit - text.length)
    }
    return text
  }

  return {
    async keep({ userId, callId, ref, text }) {
      const pieces = divide(text)
      const row: ResultRow = {
        resultId: newId('result'),
        userId,
        callId,
        ref,
        bytes: new Blob([text]).size,
        characters: text.length,
        lines: countLines(text) + 1,
        chunks: pieces.length,
        isJson: looksJson(text),
        createdAt: new Date(),
        expiresAt: new Date(Date.now() + keepMs),
      }
      await storage.transaction({ userId }, async (tx) => {
        // In a host that was never made ready nobody else takes away what has expired.
        for (const old of await tx.list('results', { where: { userId } }))
          if (old.expiresAt <= row.createdAt) await tx.delete('results', old.resultId)
        await tx.insert('results', row)
        for (const [seq, piece] of pieces.entries())
          await tx.insert('resultChunks', { chunkId: newId('chunk'), userId, resultId: row.resultId, seq, ...piece })
      })
      return row
    },
    async read(userId, id, { offset = 0, limit, fromLine, lines, path } = {}) {
      const row = await own(userId, id)
      const size = { characters: row.characters, lines: row.lines }
      if (path !== undefined) {
        if (row.characters > MAX_JSON) throw tooLarge()
        const whole = await readCharacters(row, 0, row.characters)
        const text = selectPath(whole, path)
        const part = text.slice(offset, offset + bounded(limit, PAGE, MAX_PAGE))
        const end = offset + part.length
        return { ...size, text: part, characters: text.length, ...(end < text.length ? { nextOffset: end } : {}) }
      }
      if (fromLine !== undefined || lines !== undefined)
        return { ...size, ...(await readLines(row, fromLine ?? 1, { lines: bounded(lines, LINES, MAX_LINES), chunk })) }
      const text = await readCharacters(row, offset, bounded(limit, PAGE, MAX_PAGE))
      const end = offset + text.length
      return { ...size, text, ...(end < row.characters ? { nextOffset: end } : {}) }
    },
  }
}

const bounded = (value: number | undefined, usual: number, most: number) => Math.max(1, Math.min(value ?? usual, most))

const tooLarge = () =>
  new HostError('response-too-large', {
    detail: 'The result is too large to be looked into by a path.',
    action: 'Read it by page or by line.',
  })

type ChunkOf = (userId: string, resultId: string, seq: number) => Promise<ResultChunkRow | undefined>

/** Lines are counted from 1. A line that is longer than a page is cut, and says so by where it goes on. */
async function readLines(
  row: ResultRow,
  fromLine: number,
  { lines, chunk }: { lines: number; chunk: ChunkOf },
): Promise<{ text: string; nextLine?: number; nextOffset?: number }> {
  const first = await findChunk(row, fromLine - 1, chunk)
  let text = ''
  let left = lines
  let skip = first ? fromLine - 1 - first.firstLine : 0
  for (let piece = first; piece; piece = await chunk(row.userId, row.resultId, piece.seq + 1)) {
    let at = 0
    for (; skip > 0 && at < piece.text.length; skip--) at = after(piece.text, at)
    while (left > 0 && at < piece.text.length) {
      const end = after(piece.text, at)
      const room = MAX_PAGE - text.length
      if (end - at > room)
        return { text: text + piece.text.slice(at, at + room), nextOffset: piece.firstCharacter + at + room }
      text += piece.text.slice(at, end)
      at = end
      if (piece.text[end - 1] === '\n') left--
    }
    if (left === 0) break
  }
  const next = fromLine + lines
  return { text: text.replace(/\n$/, ''), ...(next <= row.lines ? { nextLine: next } : {}) }
}

const after = (text: string, from: number) => {
  const end = text.indexOf('\n', from)
  return end < 0 ? text.length : end + 1
}

/** The last piece that begins at or before a line: pieces are in the order of their lines. */
async function findChunk(row: ResultRow, line: number, chunk: ChunkOf): Promise<ResultChunkRow | undefined> {
  let [low, high] = [0, row.chunks - 1]
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    const piece = await chunk(row.userId, row.resultId, middle)
    if (piece && piece.firstLine <= line) low = middle
    else high = middle - 1
  }
  return chunk(row.userId, row.resultId, low)
}

function divide(text: string): Array<Pick<ResultChunkRow, 'firstCharacter' | 'firstLine' | 'text'>> {
  const pieces: Array<Pick<ResultChunkRow, 'firstCharacter' | 'firstLine' | 'text'>> = []
  let firstLine = 0
  for (let at = 0; at < text.length; at += CHUNK) {
    // A NUL cannot be stored; half a character would be lost at a border, so borders are mended when pieces are joined.
    const piece = text.slice(at, at + CHUNK)
    pieces.push({ firstCharacter: at, firstLine, text: piece.replaceAll('\0', '\uFFFD') })
    firstLine += countLines(piece)
  }
  return pieces
}

function countLines(text: string): number {
  let count = 0
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) count++
  return count
}

function looksJson(text: string): boolean {
  const start = text.trimStart()[0]
  return start === '{' || start === '['
}
