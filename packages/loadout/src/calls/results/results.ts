/**
 * Stores results that are too large to return, in chunks and for a limited time, and reads them by page, line or JSON
 * path. No chunk exceeds `CHUNK_SIZE` characters, so that a read loads only what it needs.
 */
import { HostError } from '../../errors.ts'
import { newId } from '../../schema/ids.ts'
import type { JsonObject } from '../../schema/json.ts'
import type { ResultRow, ResultSection } from '../../schema/records/result.ts'
import type { ReadCache, Storage } from '../../storage/storage.ts'
import { utf8Size } from '../../util/byte-size.ts'
import {
  type Chunks,
  countLineEnds,
  divide,
  type ResultRange,
  readCharacters,
  readPage,
  readResultLines,
} from './chunks.ts'
import { notJson, readPath, type Step, select } from './json-path.ts'
import { outlineResult } from './outline.ts'

export interface NewResult {
  userId: string
  callId: string
  ref: string
  content: readonly JsonObject[]
  structuredContent?: unknown
}

/** Part of a result: characters from an offset, lines, or a path. */
export interface ResultPart {
  offset?: number | undefined
  limit?: number | undefined
  fromLine?: number | undefined
  lines?: number | undefined
  path?: string | undefined
}

export interface ReadResult extends ResultRange {
  characters: number
  lines: number
  /** Positions of the sections, if there is more than one. */
  sections?: ResultSection[]
}

/** A stored result with the beginning of its text. */
export interface StoredResult extends ResultRow {
  beginning: string
}

export interface Results {
  keep(result: NewResult): Promise<StoredResult>
  /** `not-found` if it belongs to another user or has expired. */
  read(userId: string, id: string, part?: ResultPart): Promise<ReadResult>
  /** Whether this user has a stored result. */
  hasAny(userId: string): Promise<boolean>
}

export interface ResultDeps {
  storage: Storage
  cache: ReadCache
  /** Retention in ms. @default one day */
  keepMs?: number | undefined
}

const CHUNK_SIZE = 262_144
const KEEP_MS = 24 * 3_600_000
const PAGE = 10_000
const MAX_PAGE = 100_000
const LINES = 200
const MAX_LINES = 2000
const BEGINNING = 2000
/**
 * From this size on, JSON paths are evaluated one at a time, because the whole value is in memory. Beyond `MAX_JSON`
 * they are refused.
 */
const LARGE_JSON = 4 * 1024 * 1024
const MAX_JSON = 128 * 1024 * 1024

export function createResults({ storage, cache, keepMs = KEEP_MS }: ResultDeps): Results {
  const enqueue = createQueue()
  const findRow = async (userId: string, id: string): Promise<ResultRow> => {
    const row = await storage.transaction({ userId }, (tx) => tx.get('results', id))
    if (!row || row.expiresAt <= new Date())
      throw new HostError('not-found', { detail: 'There is no such result of yours, or it has expired.' })
    return row
  }
  const chunksOf = ({ userId, resultId, chunks, characters, lines }: ResultRow): Chunks => ({
    count: chunks,
    size: CHUNK_SIZE,
    characters,
    lines,
    async at(seq) {
      const [chunk] = await storage.transaction({ userId }, (tx) =>
        tx.list('resultChunks', { where: { userId, resultId, seq } }),
      )
      return chunk
    },
  })

  return {
    async keep({ userId, callId, ref, content, structuredContent }) {
      const { text, sections } = outlineResult(content, structuredContent)
      const chunks = divide(text, CHUNK_SIZE)
      const row: ResultRow = {
        resultId: newId('result'),
        userId,
        callId,
        ref,
        bytes: utf8Size(text),
        characters: text.length,
        lines: countLineEnds(text) + 1,
        chunks: chunks.length,
        sectionsJson: sections,
        isJson: sections.length === 0 ? looksJson(text) : sections.some(hasJson),
        createdAt: new Date(),
        expiresAt: new Date(Date.now() + keepMs),
      }
      await storage.transaction({ userId }, async (tx) => {
        // A host without `ready()` has no retention timer, so expired results are deleted here.
        for (const old of await tx.list('results', { where: { userId } }))
          if (old.expiresAt <= row.createdAt) await tx.delete('results', old.resultId)
        await tx.insert('results', row)
        for (const [seq, chunk] of chunks.entries())
          await tx.insert('resultChunks', { chunkId: newId('chunk'), userId, resultId: row.resultId, seq, ...chunk })
      })
      return { ...row, beginning: text.slice(0, BEGINNING) }
    },
    async read(userId, id, { offset = 0, limit, fromLine, lines, path } = {}) {
      const steps = path === undefined ? undefined : readPath(path)
      const row = await findRow(userId, id)
      const chunks = chunksOf(row)
      const { characters, sectionsJson: sections } = row
      const size = { characters, lines: row.lines, ...(sections.length > 0 ? { sections } : {}) }
      const most = bounded(limit, PAGE, MAX_PAGE)
      const selected = () => readSelected({ row, chunks, steps: steps ?? [] }, offset, most)
      if (steps) return { ...size, ...(await (characters > LARGE_JSON ? enqueue(selected) : selected())) }
      if (fromLine === undefined && lines === undefined) return { ...size, ...(await readPage(chunks, offset, most)) }
      const range = { from: fromLine ?? 1, lines: bounded(lines, LINES, MAX_LINES), most: MAX_PAGE }
      return { ...size, ...(await readResultLines(chunks, range)) }
    },
    async hasAny(userId) {
      const expiresAt = await cache.read({ userId, name: 'results' }, ['results'], async () => {
        const newest = { where: { userId }, order: 'desc', limit: 1 } as const
        const [row] = await storage.transaction({ userId }, (tx) => tx.list('results', newest))
        return row?.expiresAt
      })
      return expiresAt !== undefined && expiresAt > new Date()
    },
  }
}

/** Queue with concurrency 1, which limits memory use. */
function createQueue(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve()
  return (work) => {
    const turn = last.then(work, work)
    last = turn.catch(() => {})
    return turn
  }
}

const bounded = (value: number | undefined, fallback: number, most: number) =>
  Math.max(1, Math.min(value ?? fallback, most))

const hasJson = ({ isJson, field }: ResultSection) => isJson || field !== undefined

/** A page of the selection; `characters` is its full length. */
async function readSelected(
  { row, chunks, steps }: { row: ResultRow; chunks: Chunks; steps: readonly Step[] },
  offset: number,
  limit: number,
): Promise<ResultRange & { characters: number }> {
  const text = select(await readValue(row, chunks), steps)
  const whole: Chunks = {
    count: 1,
    size: Math.max(1, text.length),
    characters: text.length,
    lines: 0,
    at: async () => ({ firstCharacter: 0, firstLine: 0, text }),
  }
  return { ...(await readPage(whole, offset, limit)), characters: text.length }
}

/** The value that paths select from: structured content, or the first JSON section. */
async function readValue({ sectionsJson, characters }: ResultRow, chunks: Chunks): Promise<unknown> {
  const section =
    sectionsJson.find(({ what, field }) => what === 'structuredContent' || field !== undefined) ??
    sectionsJson.find(hasJson)
  if (sectionsJson.length > 0 && !section) throw notJson()
  const { firstCharacter, characters: length, field } = section ?? { firstCharacter: 0, characters }
  if (length > MAX_JSON) throw tooLarge()
  const text = await readCharacters(chunks, firstCharacter, length)
  if (field !== undefined) return { [field]: text }
  try {
    return JSON.parse(text)
  } catch {
    throw notJson()
  }
}

const tooLarge = () =>
  new HostError('response-too-large', {
    detail: 'The result is too large to be looked into by a path.',
    action: 'Read it by page or by line.',
  })

function looksJson(text: string): boolean {
  const start = text.trimStart()[0]
  return start === '{' || start === '['
}
