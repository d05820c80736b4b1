/**
 * Searches what a scope carries. A toolkit's tools are indexed once and shared by all who have them as they are; where a scope
 * has many toolkits, their indices are joined, once for all scopes that have the same. Only what is carried is found.
 */
import { LRUCache } from 'lru-cache'
import { HostError } from '../errors.ts'
import type { LoadoutEntry } from '../schema/loadout-entry.ts'
import type { ToolManifest } from '../schema/tool.ts'
import { hybridScores, lexicalScores, meaningScores, type Scores, top } from './rank.ts'
import { reasonsOf } from './reasons.ts'
import { regexScores } from './regex.ts'
import type { Hit, SearchTool, Strategy } from './search.ts'
import { buildSegment, type Segment } from './segment.ts'
import type { WordVectors } from './word-vectors.ts'

export interface SearchOptions {
  /** @default 'hybrid', or 'bm25' where there are no vectors */
  strategy?: Strategy | undefined
  /** @default 10 */
  limit?: number | undefined
}

export interface Searcher {
  /** The best of what is carried, best first. */
  search(entries: readonly LoadoutEntry[], text: string, options?: SearchOptions): Promise<Found>
}

export interface Found {
  hits: Hit[]
  /** The one that was used. */
  strategy: Strategy
}

export interface SearcherParts {
  /** Meaning, where there is a source of it. */
  vectors?: (() => Promise<WordVectors | undefined>) | undefined
  /** What users asked for when they used a tool, by its ref. */
  examples?: ((entry: LoadoutEntry) => readonly string[]) | undefined
}

const LONGEST_QUERY = 20_000
const MOST_HITS = 1000
/** More segments than this are joined: each of them costs a look for each word. */
const MOST_SEGMENTS = 32
const JOINED = 200

export function createSearcher(parts: SearcherParts = {}): Searcher {
  return new IndexedSearcher(parts)
}

interface Indexed {
  manifests: readonly ToolManifest[]
  segment: Segment
  /** For the name of what it is joined into. */
  number: number
}

class IndexedSearcher implements Searcher {
  readonly #parts: SearcherParts
  /** By the first of its manifests, which is another object whenever the catalog has it anew. */
  readonly #known = new WeakMap<ToolManifest, Indexed>()
  readonly #joined = new LRUCache<string, Segment>({ max: JOINED })
  #vectors: Promise<WordVectors | undefined> | undefined
  #count = 0

  constructor(parts: SearcherParts) {
    this.#parts = parts
  }

  async search(entries: readonly LoadoutEntry[], text: string, options: SearchOptions = {}): Promise<Found> {
    if (text.trim() === '')
      throw new HostError('invalid-input', {
        detail: 'There is nothing to search for.',
        errors: [{ path: 'q', message: 'must not be empty' }],
      })
    this.#vectors ??= this.#parts.vectors?.()
    const vectors = await this.#vectors
    const strategy = chosen(options.strategy, vectors)
    const segments = this.#segmentsOf(entries, vectors)
    const bounded = text.slice(0, LONGEST_QUERY)
    const scores = scoresOf(segments, bounded, { strategy, vectors })
    const carried = new Set(entries.filter((entry) => entry.included).map((entry) => entry.ref))
    const limit = Math.min(Math.max(1, options.limit ?? 10), MOST_HITS)
    const found = top(segments, scores, { text: bounded, limit, allow: (ref) => carried.has(ref) })
    return { hits: found.map((hit) => ({ ...hit, reasons: reasonsOf(segments, hit.ref, bounded) })), strategy }
  }

  #segmentsOf(entries: readonly LoadoutEntry[], vectors: WordVectors | undefined): Segment[] {
    const byToolkit = Map.groupBy(entries, (entry) => entry.uscoId ?? entry.toolkit)
    const indexed = [...byToolkit.values()].map((all) => this.#indexed(all, vectors))
    if (indexed.length <= MOST_SEGMENTS) return indexed.map(({ segment }) => segment)
    const name = indexed.map(({ number }) => number).join()
    const known = this.#joined.get(name)
    if (known) return [known]
    const joined = buildSegment(
      indexed.flatMap(({ segment }) => segment.tools),
      vectors,
    )
    this.#joined.set(name, joined)
    return [joined]
  }

  #indexed(entries: readonly LoadoutEntry[], vectors: WordVectors | undefined): Indexed {
    const manifests = entries.map((entry) => entry.manifest)
    const [first] = manifests
    const known = first && this.#known.get(first)
    if (known && isSame(known.manifests, manifests)) return known
    const tools = entries.map((entry) => toolOf(entry, this.#parts.examples?.(entry)))
    const fresh = { manifests, segment: buildSegment(tools, vectors), number: this.#count++ }
    if (first) this.#known.set(first, fresh)
    return fresh
  }
}

function chosen(wanted: Strategy | undefined, vectors: WordVectors | undefined): Strategy {
  if (vectors !== undefined || (wanted !== 'hybrid' && wanted !== 'semantic'))
    return wanted ?? (vectors ? 'hybrid' : 'bm25')
  if (wanted === 'hybrid') return 'bm25'
  throw new HostError('invalid-input', {
    detail: 'There are no vectors to search by meaning with.',
    errors: [{ path: 'strategy', message: 'needs vectors or an embedder' }],
  })
}

function scoresOf(
  segments: readonly Segment[],
  text: string,
  { strategy, vectors }: { strategy: Strategy; vectors: WordVectors | undefined },
): Scores {
  if (strategy === 'regex') return regexScores(segments, text)
  if (strategy === 'bm25' || !vectors) return lexicalScores(segments, text)
  const meaning = meaningScores(segments, text, vectors)
  return strategy === 'semantic' ? meaning : hybridScores(lexicalScores(segments, text), meaning)
}

const isSame = (a: readonly unknown[], b: readonly unknown[]) =>
  a.length === b.length && a.every((one, index) => one === b[index])

function toolOf({ ref, tool, toolkit, manifest }: LoadoutEntry, examples: readonly string[] | undefined): SearchTool {
  const { title, description, inputSchema } = manifest
  // A tool that was renamed is found by both of its names.
  const name = manifest.name === tool ? tool : `${manifest.name} ${tool}`
  return { ref, name, title, toolkit, description, inputSchema, examples }
}
