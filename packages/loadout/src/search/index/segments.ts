/**
 * Segments in which a scope is searched. Few toolkits have one each; many are grouped by a hash of their key, so a
 * toolkit that changes or is missing in a scope affects only its own segment. App toolkits are separate from user
 * toolkits, so shared tools are indexed once. Built on first use and cached.
 */

import { LRUCache } from 'lru-cache'
import { TIERS, type Tier } from '../../schema/scope.ts'
import type { SearchTool } from '../search.ts'
import type { WordVectors } from '../vectors/word-vectors.ts'
import { type Segment, segmentSteps } from './segment.ts'
import type { IndexedToolkit, ScopedToolkit, ScopeView } from './toolkits.ts'

/** Maximum segments per tier: each costs a lookup per word. Toolkits of a call do not change. */
const MAX_SEGMENTS: Record<Tier, number> = { app: 8, user: 6, thread: 1, call: 1 }
/** Tools in all cached segments. */
const MAX_TOOLS = 250_000

/** Toolkits of one segment. */
interface Group {
  key: string
  toolkits: readonly IndexedToolkit[]
}

export class SegmentStore {
  readonly #vectors: WordVectors | undefined
  readonly #builder: SlicedBuilder
  readonly #cache = new LRUCache<string, Segment>({
    maxSize: MAX_TOOLS,
    sizeCalculation: ({ tools }) => tools.length + 1,
  })
  readonly #groups = new WeakMap<ScopeView, readonly Group[]>()
  readonly #positions = new WeakMap<Segment, ReadonlyMap<string, number>>()
  readonly #building = new Map<string, Promise<Segment>>()

  constructor(vectors: WordVectors | undefined, builder: SlicedBuilder) {
    this.#vectors = vectors
    this.#builder = builder
  }

  /** Number of cached segments and their tools. */
  get size(): { segments: number; tools: number } {
    return {
      segments: this.#cache.size,
      tools: [...this.#cache.values()].reduce((sum, segment) => sum + segment.tools.length, 0),
    }
  }

  /** Segments of a scope, in an order that depends only on the toolkits. Synchronous when all are cached. */
  resolve(view: ScopeView): readonly Segment[] | Promise<Segment[]> {
    const found = this.#groupsOf(view).map(
      ({ key, toolkits }) => this.#cache.get(key) ?? this.#building.get(key) ?? this.#build(key, toolkits),
    )
    return found.some((segment) => segment instanceof Promise) ? Promise.all(found) : (found as Segment[])
  }

  /** Index of each tool in a segment, by ref. */
  positionsIn(segment: Segment): ReadonlyMap<string, number> {
    const positions = this.#positions.get(segment) ?? new Map(segment.tools.map(({ ref }, at) => [ref, at]))
    this.#positions.set(segment, positions)
    return positions
  }

  #groupsOf(view: ScopeView): readonly Group[] {
    const cached = this.#groups.get(view)
    if (cached) return cached
    const byTier = Map.groupBy(view.toolkits, ({ tier }) => tier)
    const groups = TIERS.flatMap((tier) => joinToolkits(byTier.get(tier) ?? [], MAX_SEGMENTS[tier])).map(
      (toolkits) => ({
        key: toolkits.map(({ number }) => number).join(),
        toolkits,
      }),
    )
    this.#groups.set(view, groups)
    return groups
  }

  #build(key: string, toolkits: readonly IndexedToolkit[]): Promise<Segment> {
    const tools = toolkits.flatMap((toolkit) => toolkit.tools)
    const building = this.#builder
      .build(tools, this.#vectors)
      .then((segment) => {
        this.#cache.set(key, segment)
        return segment
      })
      .finally(() => this.#building.delete(key))
    this.#building.set(key, building)
    return building
  }
}

function joinToolkits(views: readonly ScopedToolkit[], maxSegments: number): Array<readonly IndexedToolkit[]> {
  // Sorted by key, so that the order within a scope does not change the segments.
  const ordered = views.map(({ indexed }) => indexed).sort((a, b) => (a.key < b.key ? -1 : 1))
  if (ordered.length <= maxSegments) return ordered.map((toolkit) => [toolkit])
  return [...Map.groupBy(ordered, ({ key }) => bucketOf(key, maxSegments)).entries()]
    .sort(([a], [b]) => a - b)
    .map(([, group]) => group)
}

/** FNV-1a: equal in every process. */
function bucketOf(key: string, buckets: number): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < key.length; at++) hash = Math.imul(hash ^ key.charCodeAt(at), 0x01000193)
  return (hash >>> 0) % buckets
}

/** Slice length in ms, shared by all concurrent builds. */
const SLICE_MS = 10

/** Builds segments in slices of a few milliseconds, so that other work runs in between. */
export class SlicedBuilder {
  #since = 0
  #active = 0
  #turn: Promise<void> | undefined

  async build(tools: readonly SearchTool[], vectors?: WordVectors): Promise<Segment> {
    if (this.#active++ === 0) this.#since = performance.now()
    try {
      const steps = segmentSteps(tools, vectors)
      for (let step = steps.next(); ; step = steps.next()) {
        if (step.done) return step.value
        const turn = this.#yieldIfDue()
        if (turn) await turn
      }
    } finally {
      this.#active--
    }
  }

  #yieldIfDue(): Promise<void> | undefined {
    if (this.#turn || performance.now() - this.#since < SLICE_MS) return this.#turn
    this.#turn = new Promise((resolve) => {
      setTimeout(() => {
        this.#turn = undefined
        this.#since = performance.now()
        resolve()
      }, 0)
    })
    return this.#turn
  }
}
