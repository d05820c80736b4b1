/**
 * What one user did, laid over what all share: a segment of just the tools that they used, with the words that they used them
 * for. Each stands instead of the shared one; the shared segments stay as they are.
 */
import { LRUCache } from 'lru-cache'
import type { LoadoutEntry } from '../schema/loadout-entry.ts'
import type { SlicedBuilder } from './index-build.ts'
import { type ScopeView, searchToolOf } from './index-toolkits.ts'
import type { ToolUse, UserUses } from './learned.ts'
import type { Segment } from './segment.ts'
import type { WordVectors } from './word-vectors.ts'

export interface LearnedSegment {
  segment: Segment
  /** What each of its tools was made of, by ref. */
  made: ReadonlyMap<string, Made>
}

interface Made {
  entry: LoadoutEntry
  use: ToolUse
}

/** How much what a user did counts beside what they ask for. */
export const HABIT_SHARE = 0.05
const HALF_LIFE_MS = 14 * 86_400_000
const MOST_USERS = 2000
/** Tools in the segments of all users that are kept. */
const MOST_TOOLS = 50_000

export class LearnedSegments {
  readonly #builder: SlicedBuilder
  readonly #vectors: WordVectors | undefined
  readonly #kept = new LRUCache<string, LearnedSegment>({
    max: MOST_USERS,
    maxSize: MOST_TOOLS,
    sizeCalculation: ({ segment }) => segment.tools.length + 1,
  })

  constructor(vectors: WordVectors | undefined, builder: SlicedBuilder) {
    this.#vectors = vectors
    this.#builder = builder
  }

  /** Undefined where the user used nothing of what the scope carries. */
  async of(userId: string, uses: UserUses, view: ScopeView): Promise<LearnedSegment | undefined> {
    if (uses.length === 0) return undefined
    const made = usedIn(view, uses)
    if (made.size === 0) return undefined
    const known = this.#kept.get(userId)
    if (known && isSame(known.made, made)) {
      // Counts may be others; words are not.
      const same = { segment: known.segment, made }
      this.#kept.set(userId, same)
      return same
    }
    const tools = [...made.values()].map(({ entry, use }) => searchToolOf(entry, use.examples))
    const fresh = { segment: await this.#builder.build(tools, this.#vectors), made }
    this.#kept.set(userId, fresh)
    return fresh
  }
}

/** By ref, in an order that depends on nothing else. */
function usedIn({ toolkits }: ScopeView, uses: UserUses): Map<string, Made> {
  const byKey = new Map(toolkits.map((one) => [one.indexed.key, one]))
  const made: Array<[string, Made]> = []
  for (const use of uses) {
    const { indexed, entries } = byKey.get(use.uscoId) ?? {}
    const at = indexed?.positions.get(`${entries?.[0]?.toolkit}.${use.tool}`)
    const entry = at === undefined ? undefined : entries?.[at]
    if (entry?.included) made.push([entry.ref, { entry, use }])
  }
  return new Map(made.sort(([a], [b]) => (a < b ? -1 : 1)))
}

function isSame(a: ReadonlyMap<string, Made>, b: ReadonlyMap<string, Made>): boolean {
  if (a.size !== b.size) return false
  const [before, after] = [[...a], [...b]]
  return before.every(([ref, one], index) => {
    const [otherRef, other] = after[index] as [string, Made]
    return ref === otherRef && isSameManifest(one, other) && isSameList(one.use.examples, other.use.examples)
  })
}

const isSameManifest = (a: Made, b: Made) =>
  a.entry.manifest === b.entry.manifest && a.entry.examples === b.entry.examples

const isSameList = (a: readonly string[], b: readonly string[]) =>
  a === b || (a.length === b.length && a.every((one, index) => one === b[index]))

/**
 * From 0 to 1: more for what was used lately and went well. Lately is by the user's own last use and not by the clock, so that
 * the same state gives the same order.
 */
export function habitsOf({ segment, made }: LearnedSegment, uses: UserUses): Float32Array {
  let latest = 0
  for (const { lastUsedAt } of uses) latest = Math.max(latest, lastUsedAt)
  return Float32Array.from(segment.tools, ({ ref }) => {
    const use = made.get(ref)?.use
    if (!use) return 0
    const success = (use.successes + 1) / (use.calls + 2)
    return success * 2 ** (-Math.max(0, latest - use.lastUsedAt) / HALF_LIFE_MS)
  })
}
