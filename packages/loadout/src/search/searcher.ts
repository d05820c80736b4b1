/**
 * Searches the tools of a scope. The tools of a toolkit are indexed once and shared; the usage of a user is an overlay
 * for that user only. Only tools of the loadout are found, and the same state gives the same result.
 */
import { HostError } from '../errors.ts'
import type { LoadoutEntry } from '../schema/toolkit/loadout-entry.ts'
import type { AllowedCaller } from '../schema/toolkit/tool.ts'
import type { Segment } from './index/segment.ts'
import { SegmentStore, SlicedBuilder } from './index/segments.ts'
import { type ScopeView, ToolkitIndices } from './index/toolkits.ts'
import { isSmallTalk } from './index/words.ts'
import { hybridScores, lexicalScores, meaningScores, noScores, type Scores, top } from './rank/rank.ts'
import { explainHits } from './rank/reasons.ts'
import { regexScores } from './rank/regex.ts'
import { bothEnds, withoutEncoded } from './rank/truncate.ts'
import type { Hit, Strategy } from './search.ts'
import type { ToolUsage, UserUses } from './usage/tool-usage.ts'
import { HABIT_SHARE, habitsOf, UsageSegments, type UsedTool, type UsedTools, usedIn } from './usage/usage-segment.ts'
import type { ToolVectors } from './vectors/tool-vectors.ts'
import type { WordVectors } from './vectors/word-vectors.ts'

export interface SearchOptions {
  /** @default 'hybrid', or 'bm25' without a source of meaning */
  strategy?: Strategy | undefined
  /** @default 10 */
  limit?: number | undefined
  /** User whose usage counts. */
  userId?: string | undefined
  /** Previous text. It has a low weight. */
  context?: string | undefined
  /** Only tools that one of these callers may call. @default any */
  callers?: readonly AllowedCaller[] | undefined
  /** Refs that the caller already has; they do not count toward the limit. */
  existing?: ReadonlySet<string> | undefined
  /** Number of further refs to return after the hits. @default 0 */
  rest?: number | undefined
}

/** Public search options. */
export type SearchInput = Pick<SearchOptions, 'strategy' | 'limit' | 'context'>

export interface Searcher {
  /** Best hits first. */
  search(entries: readonly LoadoutEntry[], text: string, options?: SearchOptions): Promise<SearchResult>
}

export interface SearchResult {
  hits: Hit[]
  /** Refs after the hits, best first, when requested. */
  rest?: readonly string[]
  /** Strategy that was used. */
  strategy: Strategy
  /** Warnings, for example when the embedder does not respond. */
  warnings?: readonly string[]
}

export interface SearcherDeps {
  /** Word vectors for offline meaning. */
  vectors?: (() => Promise<WordVectors | undefined>) | undefined
  /** Embedder, preferred over word vectors. */
  embedded?: ToolVectors | undefined
  /** Usage of users. */
  learned?: Pick<ToolUsage, 'list'> | undefined
}

/** For measurements. */
export interface MeasuredSearcher extends Searcher {
  /** Number of shared segments and their tools. */
  size(): Promise<{ segments: number; tools: number }>
}

const MAX_QUERY_LENGTH = 20_000
const CUT_WARNING = 'The text is long: the first and the last 10,000 characters of it were searched with.'
const WORDS_ONLY_WARNING =
  'There is nothing to know meaning by, neither vectors nor an embedder. Words alone were used.'
const MAX_CONTEXT_LENGTH = 4000
const MAX_HITS = 1000
/** Retry delay after a failed read of the vectors, in ms. */
const RETRY_MS = 30_000
const NO_REFS: ReadonlySet<string> = new Set()
/** Weight of the previous text beside the query. */
const CONTEXT_SHARE = 0.15

export function createSearcher(deps: SearcherDeps = {}): MeasuredSearcher {
  return new IndexedSearcher(deps)
}

/** Created on first use, because vectors are loaded then. */
interface Index {
  vectors: WordVectors | undefined
  segments: SegmentStore
  learned: UsageSegments
  /** Set when vectors should exist but cannot be read. */
  warning?: string | undefined
}

/** State of one search. */
interface RunningSearch {
  text: string
  context: string
  strategy: Strategy
  userId: string | undefined
  view: ScopeView
  segments: readonly Segment[]
}

class IndexedSearcher implements MeasuredSearcher {
  readonly #deps: SearcherDeps
  readonly #toolkits = new ToolkitIndices()
  #index: Promise<Index> | undefined
  #retryAt = Number.POSITIVE_INFINITY

  constructor(deps: SearcherDeps) {
    this.#deps = deps
  }

  async size() {
    return (await this.#indexOf()).segments.size
  }

  async search(entries: readonly LoadoutEntry[], input: string, options: SearchOptions = {}): Promise<SearchResult> {
    const { text, isCut } = readText(input, options.strategy)
    const { userId, callers, context = '', existing = NO_REFS } = options
    const limit = boundedCount(options.limit ?? 10, 1)
    const rest = boundedCount(options.rest ?? 0, 0)
    const index = await this.#indexOf()
    const strategy = this.#resolveStrategy(options.strategy, index)
    const view = this.#toolkits.view(entries)
    const shared = await index.segments.resolve(view)
    const used = usedIn(view, await this.#usesOf(userId))
    const own = await index.learned.build(userId ?? '', used)
    const segments = own ? [own, ...shared] : shared
    const query = { text, context: context.slice(0, MAX_CONTEXT_LENGTH), strategy, userId, view, segments }
    const { scores, ...outcome } = await this.#scores(query, index)
    if (used.size > 0 && strategy !== 'regex') addHabits(scores, query, { used, index })
    const ranked = top(segments, scores, {
      text,
      limit: limit + existing.size + rest,
      // A tool with usage counts in the user's overlay segment only.
      allow: (ref, at) => view.has(ref, callers) && (!own || (at === 0) === hasWords(used.get(ref))),
    })
    const end = endOf(ranked, { limit, existing })
    const warnings = [
      ...(isCut ? [CUT_WARNING] : []),
      ...(options.strategy === 'hybrid' && strategy === 'bm25' ? [WORDS_ONLY_WARNING] : []),
      ...outcome.warnings,
    ]
    return {
      hits: explainHits(segments, ranked.slice(0, end), text),
      ...(rest > 0 ? { rest: ranked.slice(end, end + rest).map(({ ref }) => ref) } : {}),
      strategy: outcome.strategy,
      ...(warnings.length === 0 ? {} : { warnings }),
    }
  }

  /** A search continues without usage that cannot be read. */
  async #usesOf(userId: string | undefined): Promise<UserUses> {
    const { learned } = this.#deps
    return userId === undefined || !learned ? [] : learned.list(userId).catch(() => [])
  }

  #indexOf(): Promise<Index> {
    if (this.#index === undefined || Date.now() >= this.#retryAt) this.#index = this.#make(this.#index)
    return this.#index
  }

  /** A failed read does not fail a search: words are used meanwhile, and the read is retried. */
  async #make(before: Promise<Index> | undefined): Promise<Index> {
    this.#retryAt = Number.POSITIVE_INFINITY
    try {
      return indexWith(await this.#deps.vectors?.())
    } catch (error) {
      this.#retryAt = Date.now() + RETRY_MS
      // The path and the cause of the failure are not for users.
      const warning = `The word vectors cannot be read (${error instanceof Error ? error.name : 'unknown'}).`
      return (await before) ?? { ...indexWith(undefined), warning }
    }
  }

  #resolveStrategy(requested: Strategy | undefined, { vectors, warning }: Index): Strategy {
    const hasMeaning = vectors !== undefined || warning !== undefined || this.#deps.embedded !== undefined
    if (hasMeaning || requested === 'bm25' || requested === 'regex') return requested ?? 'hybrid'
    if (requested !== 'semantic') return 'bm25'
    throw new HostError('invalid-input', {
      detail: 'There are no vectors to search by meaning with.',
      errors: [{ path: 'strategy', message: 'needs vectors or an embedder' }],
    })
  }

  async #scores(query: RunningSearch, index: Index): Promise<Scored> {
    const { segments, text, strategy, context } = query
    if (strategy === 'regex') return { scores: regexScores(segments, text), strategy, warnings: [] }
    const { meaning, warnings = [] } = strategy === 'bm25' ? {} : await this.#meaning(query, index)
    const byWords =
      strategy === 'semantic' && meaning
        ? undefined
        : lexicalScores(segments, text, { weak: meaning !== undefined && bestOf(meaning) > 0 })
    const scores = byWords && meaning ? hybridScores(byWords, meaning) : ((byWords ?? meaning) as Scores)
    if (context.trim() !== '') addContext(scores, lexicalScores(segments, context))
    return { scores, strategy: meaning ? strategy : 'bm25', warnings }
  }

  async #meaning(query: RunningSearch, { vectors, warning }: Index): Promise<{ meaning?: Scores; warnings: string[] }> {
    // Most models find some similarity in small talk.
    if (isSmallTalk(query.text)) return { meaning: noScores(query.segments), warnings: [] }
    const found = await this.#deps.embedded?.scores(query)
    if (found && 'scores' in found) return { meaning: found.scores, warnings: [] }
    const missing = [...(found ? [found.warning] : []), ...(warning === undefined ? [] : [warning])]
    const fallbackWarnings = (instead: string) =>
      missing.length === 0 ? [] : [`${missing.join(' ')} ${instead} were used.`]
    if (!vectors) return { warnings: fallbackWarnings('Words alone') }
    return { meaning: meaningScores(query.segments, query.text, vectors), warnings: fallbackWarnings('Word vectors') }
  }
}

interface Scored {
  scores: Scores
  /** Strategy that was used in the end. */
  strategy: Strategy
  warnings: readonly string[]
}

function indexWith(vectors: WordVectors | undefined): Index {
  const builder = new SlicedBuilder()
  return { vectors, segments: new SegmentStore(vectors, builder), learned: new UsageSegments(vectors, builder) }
}

/** A pattern is never truncated. */
function readText(input: string, strategy: Strategy | undefined): { text: string; isCut: boolean } {
  const words = strategy === 'regex' ? input : withoutEncoded(input)
  const isCut = strategy !== 'regex' && words.length > MAX_QUERY_LENGTH
  const text = (isCut ? bothEnds(words, MAX_QUERY_LENGTH) : words).toWellFormed()
  if (text.trim() !== '') return { text, isCut }
  throw new HostError('invalid-input', {
    detail: 'There is nothing to search for.',
    errors: [{ path: 'q', message: 'must not be empty' }],
  })
}

const boundedCount = (count: number, least: number) => Math.min(Math.max(least, Math.floor(count) || least), MAX_HITS)

/** End of the hits: after `limit` refs that the caller does not have yet. */
function endOf(
  ranked: readonly { ref: string }[],
  { limit, existing }: { limit: number; existing: ReadonlySet<string> },
) {
  let remaining = limit
  for (const [at, { ref }] of ranked.entries()) {
    if (existing.has(ref)) continue
    if (remaining === 0) return at
    remaining--
  }
  return ranked.length
}

/** Recent successful tools rank slightly above equal ones. */
function addHabits(
  scores: Scores,
  { segments }: RunningSearch,
  { used, index }: { used: UsedTools; index: Index },
): void {
  const habits = habitsOf(used)
  scores.forEach((row, segment) => {
    const positions = index.segments.positionsIn(segments[segment] as Segment)
    for (let at = 0; at < row.length; at++) row[at] = (row[at] as number) / (1 + HABIT_SHARE)
    for (const [ref, habit] of habits) {
      const at = positions.get(ref)
      if (at !== undefined) row[at] = (row[at] as number) * (1 + HABIT_SHARE * habit)
    }
  })
}

const hasWords = (used: UsedTool | undefined) => used !== undefined && used.use.examples.length > 0

function addContext(scores: Scores, context: Scores): void {
  const best = bestOf(scores)
  const most = bestOf(context)
  if (most <= 0) return
  scores.forEach((row, segment) => {
    const other = context[segment] as Float32Array
    for (let at = 0; at < row.length; at++) {
      const queryScore = best > 0 ? Math.max(0, row[at] as number) / Math.max(1, best) : 0
      row[at] = (1 - CONTEXT_SHARE) * queryScore + (CONTEXT_SHARE * (other[at] as number)) / most
    }
  })
}

function bestOf(scores: Scores): number {
  let most = 0
  for (const row of scores) for (const value of row) if (value > most) most = value
  return most
}
