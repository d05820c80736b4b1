/**
 * Semantic search with an embedder of the app. It never fails a search or delays it beyond `waitMs`: missing vectors
 * are computed in the background, and the search uses words with a warning. Tools are embedded once by their
 * definition; prompts of users are not included.
 */
import { LRUCache } from 'lru-cache'
import { APP_OWNER } from '../../schema/ids.ts'
import type { Storage } from '../../storage/storage.ts'
import { withTimeout } from '../../util/abort.ts'
import { sha256Hex } from '../../util/hash.ts'
import { SEARCH_FIELDS, textsOf } from '../index/fields.ts'
import type { Segment } from '../index/segment.ts'
import type { IndexedToolkit, ScopedToolkit, ScopeView } from '../index/toolkits.ts'
import type { Scores } from '../rank/rank.ts'
import { bothEnds } from '../rank/truncate.ts'
import type { SearchTool } from '../search.ts'
import { type Embedder, likeness, readVectors, type Vector } from './embedder.ts'
import { createVectorStore, type VectorStore } from './tool-vectors-store.ts'

export interface ToolVectors {
  /** Similarity of each tool to a text, or why it is unknown. */
  scores(query: SemanticQuery): Promise<{ scores: Scores } | { warning: string }>
}

export interface SemanticQuery {
  segments: readonly Segment[]
  view: ScopeView
  text: string
  userId?: string | undefined
}

export interface ToolVectorsOptions {
  /** How long a search waits, in ms. @default 1500 */
  waitMs?: number | undefined
}

const WAIT_MS = 1500
/** Timeout of one embedder request, in ms. */
const ANSWER_MS = 30_000
const BATCH = 96
const MAX_CONCURRENT = 2
/** Cooldown after a failure, in ms: for the affected user, or for all when the embedder itself fails. */
const COOLDOWN_MS = 30_000
/** Failing queries of this many users without a success between mean that the embedder fails. */
const FAILING_USERS = 3
const MAX_TEXT_LENGTH = 4000
const MAX_CACHED_QUERIES = 500
const MAX_CACHED_FAILURES = 10_000
/** Key for failures of all users; user ids are never empty. */
const EVERYONE = ''
const NO_TOOL: SearchTool = { ref: '', name: '', toolkit: '', inputSchema: {} }

export function createToolVectors(
  embedder: Embedder,
  storage: Storage | undefined,
  options: ToolVectorsOptions = {},
): ToolVectors {
  return new EmbeddedTools(embedder, storage && createVectorStore(storage, embedder.name.slice(0, 200)), options)
}

interface Failure {
  until: number
  message: string
}

class EmbeddedTools implements ToolVectors {
  readonly #embedder: Embedder
  readonly #store: VectorStore | undefined
  readonly #waitMs: number
  readonly #vectors = new WeakMap<SearchTool, Vector>()
  readonly #complete = new WeakSet<IndexedToolkit>()
  readonly #inProgress = new Map<IndexedToolkit, Promise<void>>()
  readonly #queries = new LRUCache<string, Promise<Vector>>({ max: MAX_CACHED_QUERIES })
  readonly #waiters: Array<() => void> = []
  #running = 0
  /** By user, or `EVERYONE`. */
  readonly #failures = new LRUCache<string, Failure>({ max: MAX_CACHED_FAILURES })
  /** Users whose queries failed since the last success. */
  readonly #failing = new Set<string>()

  constructor(embedder: Embedder, store: VectorStore | undefined, { waitMs = WAIT_MS }: ToolVectorsOptions) {
    this.#embedder = embedder
    this.#store = store
    this.#waitMs = waitMs
  }

  async scores({ segments, view, text, userId }: SemanticQuery): Promise<{ scores: Scores } | { warning: string }> {
    const failure = this.#failureFor(userId)
    if (failure) return this.#warning(failure.message)
    try {
      const query = this.#query(bothEnds(text, MAX_TEXT_LENGTH).toWellFormed(), userId)
      const work = Promise.all([query, ...this.#ensure(view, userId)])
      const found = await withTimeout(work, this.#waitMs)
      if (!found) return this.#warning('has not answered in time; it goes on behind')
      const [wanted] = found
      // Tools of the user's overlay use the vector of the shared tool.
      const vectorOf = ({ ref }: SearchTool) => this.#vectors.get(view.find(ref) ?? NO_TOOL)
      return {
        scores: segments.map(({ tools }) =>
          Float32Array.from(tools, (tool) => {
            const vector = this.#vectors.get(tool) ?? vectorOf(tool)
            return vector ? likeness(vector, wanted) : 0
          }),
        ),
      }
    } catch (error) {
      return this.#warning(messageOf(error))
    }
  }

  #warning(message: string) {
    return { warning: `The embedder "${this.#embedder.name.slice(0, 100)}" ${message}.` }
  }

  #failureFor(userId = EVERYONE): Failure | undefined {
    const now = Date.now()
    return [EVERYONE, userId]
      .map((failureKey) => this.#failures.get(failureKey))
      .find((failure) => failure && failure.until > now)
  }

  #fail(failureKey: string, error: unknown): void {
    this.#failures.set(failureKey, { until: Date.now() + COOLDOWN_MS, message: messageOf(error) })
  }

  #query(text: string, userId = EVERYONE): Promise<Vector> {
    const cached = this.#queries.get(text)
    if (cached) return cached
    const request = this.#embed([text], true).then(([vector]) => vector as Vector)
    this.#queries.set(text, request)
    request.then(
      () => this.#failing.clear(),
      (error: unknown) => {
        this.#queries.delete(text)
        // The embedder may reject one user's query, so other users continue.
        this.#failing.add(userId)
        const isEmbedderFailure = this.#failing.size >= FAILING_USERS
        if (isEmbedderFailure) this.#failing.clear()
        this.#fail(isEmbedderFailure ? EVERYONE : userId, error)
      },
    )
    return request
  }

  /** Embeds missing tools in batches: toolkits are many and small, and a batch costs as much as one request. */
  #ensure(view: ScopeView, userId: string | undefined): Promise<void>[] {
    const waits: Promise<void>[] = []
    const fresh = new Map<string | undefined, IndexedToolkit[]>()
    for (const toolkit of view.toolkits) {
      if (this.#complete.has(toolkit.indexed)) continue
      const running = this.#inProgress.get(toolkit.indexed)
      if (running) waits.push(running)
      else {
        const owner = ownerOf(toolkit, userId)
        fresh.set(owner, [...(fresh.get(owner) ?? []), toolkit.indexed])
      }
    }
    for (const [owner, toolkits] of fresh) waits.push(this.#begin(toolkits, { owner, userId }))
    return waits
  }

  #begin(
    toolkits: readonly IndexedToolkit[],
    { owner, userId = EVERYONE }: { owner: string | undefined; userId: string | undefined },
  ): Promise<void> {
    const tools = toolkits.flatMap((toolkit) => toolkit.tools).filter((tool) => !this.#vectors.has(tool))
    const work = this.#embedAll(tools, owner)
      .then(() => {
        for (const toolkit of toolkits) this.#complete.add(toolkit)
      })
      .finally(() => {
        for (const toolkit of toolkits) this.#inProgress.delete(toolkit)
      })
    for (const toolkit of toolkits) this.#inProgress.set(toolkit, work)
    // The search may have continued without it. App tools fail for all users, user tools for their user.
    work.catch((error: unknown) => this.#fail(owner === APP_OWNER ? EVERYONE : userId, error))
    return work
  }

  async #embedAll(tools: readonly SearchTool[], owner: string | undefined): Promise<void> {
    const batches: SearchTool[][] = []
    for (let from = 0; from < tools.length; from += BATCH) batches.push(tools.slice(from, from + BATCH))
    const worker = async () => {
      for (let batch = batches.shift(); batch; batch = batches.shift()) await this.#embedBatch(batch, owner)
    }
    await Promise.all(Array.from({ length: MAX_CONCURRENT }, worker))
  }

  async #embedBatch(batch: readonly SearchTool[], owner: string | undefined): Promise<void> {
    const store = owner === undefined ? undefined : this.#store
    const texts = batch.map(embeddedText)
    const fingerprints = await Promise.all(texts.map((text) => sha256Hex(text)))
    // Unavailable storage costs time and money, but does not fail the search.
    const stored = await store?.read(owner as string, fingerprints).catch(() => undefined)
    for (const [at, tool] of batch.entries()) this.#cache(tool, stored?.get(fingerprints[at] as string))
    const rest = batch.flatMap((tool, at) => (this.#vectors.has(tool) ? [] : [at]))
    if (rest.length === 0) return
    const made = await this.#embed(rest.map((at) => texts[at] as string))
    for (const [index, at] of rest.entries()) this.#cache(batch[at] as SearchTool, made[index])
    const fresh = new Map(rest.map((at, index) => [fingerprints[at] as string, made[index] as Vector]))
    // Not awaited by searches.
    void store?.write(owner as string, fresh).catch(() => {})
  }

  #cache(tool: SearchTool, vector: Vector | undefined): void {
    if (!vector) return
    const { dimensions } = this.#embedder
    if (dimensions === undefined || vector.bytes.length === dimensions) this.#vectors.set(tool, vector)
  }

  /** Bounded concurrency and time; queries run before tools. */
  async #embed(texts: string[], isUrgent = false): Promise<Vector[]> {
    if (this.#running < MAX_CONCURRENT) this.#running++
    else await new Promise<void>((resolve) => (isUrgent ? this.#waiters.unshift(resolve) : this.#waiters.push(resolve)))
    const stop = new AbortController()
    try {
      const answer = Promise.resolve(this.#embedder.embed(texts, { signal: stop.signal }))
      const vectors = await withTimeout(answer, ANSWER_MS)
      if (!vectors) throw new DOMException('It took too long.', 'TimeoutError')
      return readVectors(this.#embedder, vectors, texts.length)
    } finally {
      stop.abort()
      // The next waiter takes the slot.
      const next = this.#waiters.shift()
      if (next) next()
      else this.#running--
    }
  }
}

/** Service messages may quote the request, so only the error name is reported. */
const messageOf = (error: unknown) => `failed (${error instanceof Error ? error.name : 'unknown'})`

/** Owner of a toolkit's vectors; undefined for toolkits of a call. */
function ownerOf({ tier }: ScopedToolkit, userId: string | undefined): string | undefined {
  if (tier === 'app') return APP_OWNER
  return tier === 'call' ? undefined : userId
}

/** Text of a tool for the embedder. */
export function embeddedText(tool: SearchTool): string {
  const texts = textsOf(tool)
  const lines = SEARCH_FIELDS.map((field) => texts[field]).filter((text) => text !== '')
  return lines.join('\n').slice(0, MAX_TEXT_LENGTH).toWellFormed()
}
