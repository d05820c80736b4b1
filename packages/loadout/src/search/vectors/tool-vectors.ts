/**
 * Meaning by an embedder of the app. It never fails a search and never holds one up for long: what is not there in time is
 * made behind, and the search goes by words with a warning. Tools are embedded once, by what is said of them; what a user asked
 * for before is not sent along.
 */
import { LRUCache } from 'lru-cache'
import { APP_OWNER } from '../../schema/ids.ts'
import type { Storage } from '../../storage/storage.ts'
import { FIELDS, textsOf } from '../index/fields.ts'
import type { Segment } from '../index/segment.ts'
import type { IndexedToolkit, ScopeView, ToolkitView } from '../index/toolkits.ts'
import type { Scores } from '../rank/rank.ts'
import { bothEnds } from '../rank/truncate.ts'
import type { SearchTool } from '../search.ts'
import { type Embedder, likeness, readVectors, type Vector } from './embedder.ts'
import { createVectorStore, digest, type VectorStore } from './tool-vectors-store.ts'

export interface ToolVectors {
  /** How alike the tools of each segment and a text are, or why that is not known. */
  scores(asked: SemanticQuery): Promise<{ scores: Scores } | { warning: string }>
}

export interface SemanticQuery {
  segments: readonly Segment[]
  view: ScopeView
  text: string
  userId?: string | undefined
}

export interface ToolVectorsOptions {
  /** How long a search waits for it. @default 1500 */
  waitMs?: number | undefined
}

const WAIT_MS = 1500
/** For one answer of the embedder. */
const ANSWER_MS = 30_000
const BATCH = 96
const AT_ONCE = 2
/** After a failure nothing is asked for so long: for who met it, and for all where it is not theirs alone. */
const COOL_MS = 30_000
/** Questions of so many users fail, and none goes well between: then it is the embedder. */
const FAILING_USERS = 3
const MAX_TEXT_LENGTH = 4000
const KEPT_QUERIES = 500
const KEPT_FAILURES = 10_000
/** No user: their ids are not empty. */
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
  readonly #underWay = new Map<IndexedToolkit, Promise<void>>()
  readonly #queries = new LRUCache<string, Promise<Vector>>({ max: KEPT_QUERIES })
  readonly #free: Array<() => void> = []
  #running = 0
  /** By whom it was met; under `EVERYONE` for all. */
  readonly #failures = new LRUCache<string, Failure>({ max: KEPT_FAILURES })
  /** Whose questions failed since one went well. */
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
      const all = Promise.all([query, ...this.#ensure(view, userId)])
      const found = await within(all, this.#waitMs)
      if (!found) return this.#warning('has not answered in time; it goes on behind')
      const [wanted] = found
      // Beside a user's own words stands what all share.
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
    return [EVERYONE, userId].map((who) => this.#failures.get(who)).find((failure) => failure && failure.until > now)
  }

  #fail(who: string, error: unknown): void {
    this.#failures.set(who, { until: Date.now() + COOL_MS, message: messageOf(error) })
  }

  #query(text: string, userId = EVERYONE): Promise<Vector> {
    const known = this.#queries.get(text)
    if (known) return known
    const asked = this.#embed([text], true).then(([vector]) => vector as Vector)
    this.#queries.set(text, asked)
    asked.then(
      () => this.#failing.clear(),
      (error: unknown) => {
        this.#queries.delete(text)
        // What one user asks may be what the embedder refuses: the others go on asking.
        this.#failing.add(userId)
        const isOurs = this.#failing.size >= FAILING_USERS
        if (isOurs) this.#failing.clear()
        this.#fail(isOurs ? EVERYONE : userId, error)
      },
    )
    return asked
  }

  /** What is missing, together: toolkits are many and small, and a question of many texts costs as one of few. */
  #ensure(view: ScopeView, userId: string | undefined): Promise<void>[] {
    const waits: Promise<void>[] = []
    const fresh = new Map<string | undefined, IndexedToolkit[]>()
    for (const one of view.toolkits) {
      if (this.#complete.has(one.indexed)) continue
      const known = this.#underWay.get(one.indexed)
      if (known) waits.push(known)
      else {
        const owner = ownerOf(one, userId)
        fresh.set(owner, [...(fresh.get(owner) ?? []), one.indexed])
      }
    }
    for (const [owner, toolkits] of fresh) waits.push(this.#begin(toolkits, { owner, userId }))
    return waits
  }

  #begin(
    toolkits: readonly IndexedToolkit[],
    { owner, userId = EVERYONE }: { owner: string | undefined; userId: string | undefined },
  ): Promise<void> {
    const tools = toolkits.flatMap((one) => one.tools).filter((tool) => !this.#vectors.has(tool))
    const work = this.#embedAll(tools, owner)
      .then(() => {
        for (const one of toolkits) this.#complete.add(one)
      })
      .finally(() => {
        for (const one of toolkits) this.#underWay.delete(one)
      })
    for (const one of toolkits) this.#underWay.set(one, work)
    // Whoever waited may have gone on without it. Tools of the app fail for all, a user's own for that user.
    work.catch((error: unknown) => this.#fail(owner === APP_OWNER ? EVERYONE : userId, error))
    return work
  }

  async #embedAll(tools: readonly SearchTool[], owner: string | undefined): Promise<void> {
    const batches: SearchTool[][] = []
    for (let from = 0; from < tools.length; from += BATCH) batches.push(tools.slice(from, from + BATCH))
    const lane = async () => {
      for (let batch = batches.shift(); batch; batch = batches.shift()) await this.#embedBatch(batch, owner)
    }
    await Promise.all(Array.from({ length: AT_ONCE }, lane))
  }

  async #embedBatch(batch: readonly SearchTool[], owner: string | undefined): Promise<void> {
    const store = owner === undefined ? undefined : this.#store
    const texts = batch.map(embeddedText)
    const prints = await Promise.all(texts.map(digest))
    // A storage that is away costs time and money, not the search.
    const stored = await store?.read(owner as string, prints).catch(() => undefined)
    for (const [at, tool] of batch.entries()) this.#keep(tool, stored?.get(prints[at] as string))
    const rest = batch.flatMap((tool, at) => (this.#vectors.has(tool) ? [] : [at]))
    if (rest.length === 0) return
    const made = await this.#embed(rest.map((at) => texts[at] as string))
    for (const [index, at] of rest.entries()) this.#keep(batch[at] as SearchTool, made[index])
    const fresh = new Map(rest.map((at, index) => [prints[at] as string, made[index] as Vector]))
    // No search waits for it.
    void store?.write(owner as string, fresh).catch(() => {})
  }

  #keep(tool: SearchTool, vector: Vector | undefined): void {
    if (!vector) return
    const { dimensions } = this.#embedder
    if (dimensions === undefined || vector.bytes.length === dimensions) this.#vectors.set(tool, vector)
  }

  /** Few at once, each within its time; what somebody waits for comes first. */
  async #embed(texts: string[], isUrgent = false): Promise<Vector[]> {
    if (this.#running < AT_ONCE) this.#running++
    else await new Promise<void>((resolve) => (isUrgent ? this.#free.unshift(resolve) : this.#free.push(resolve)))
    const stop = new AbortController()
    try {
      const answer = Promise.resolve(this.#embedder.embed(texts, { signal: stop.signal }))
      const given = await within(answer, ANSWER_MS)
      if (!given) throw new DOMException('It took too long.', 'TimeoutError')
      return readVectors(this.#embedder, given, texts.length)
    } finally {
      stop.abort()
      // Whoever is next has the place.
      const next = this.#free.shift()
      if (next) next()
      else this.#running--
    }
  }
}

/** Messages of a service may quote what it was sent: only that it failed is told. */
const messageOf = (error: unknown) => `failed (${error instanceof Error ? error.name : 'unknown'})`

/** Who keeps the vectors of a toolkit: nobody where a call brought it. */
function ownerOf({ tier }: ToolkitView, userId: string | undefined): string | undefined {
  if (tier === 'app') return APP_OWNER
  return tier === 'call' ? undefined : userId
}

/** What an embedder gets of a tool. */
export function embeddedText(tool: SearchTool): string {
  const texts = textsOf(tool)
  const lines = FIELDS.map((field) => texts[field]).filter((text) => text !== '')
  return lines.join('\n').slice(0, MAX_TEXT_LENGTH).toWellFormed()
}

/** Undefined where it takes longer. What fails later fails nobody. */
async function within<T>(work: Promise<T>, ms: number): Promise<T | undefined> {
  let timer: ReturnType<typeof setTimeout> | number | undefined
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, ms)
  })
  work.catch(() => {})
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}
