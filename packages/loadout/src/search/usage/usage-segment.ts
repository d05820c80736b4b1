/**
 * Overlay segment of one user: the tools that they used, with the prompts of those uses. It replaces these tools in the
 * shared segments, which stay unchanged.
 */
import { LRUCache } from 'lru-cache'
import type { LoadoutEntry } from '../../schema/toolkit/loadout-entry.ts'
import type { Segment } from '../index/segment.ts'
import type { SlicedBuilder } from '../index/segments.ts'
import { type ScopeView, searchToolOf } from '../index/toolkits.ts'
import type { WordVectors } from '../vectors/word-vectors.ts'
import type { ToolUse, UserUses } from './tool-usage.ts'

/** Usage of a tool that the scope includes. */
export interface UsedTool {
  entry: LoadoutEntry
  use: ToolUse
}
/** By ref. */
export type UsedTools = ReadonlyMap<string, UsedTool>

/** Weight of usage beside the query. */
export const HABIT_SHARE = 0.05
const HALF_LIFE_MS = 14 * 86_400_000
const MAX_USERS = 2000
const NO_TOOLS: UsedTools = new Map()
/** Tools in the cached segments of all users. */
const MAX_TOOLS = 50_000

export class UsageSegments {
  readonly #builder: SlicedBuilder
  readonly #vectors: WordVectors | undefined
  readonly #cache = new LRUCache<string, { usedTools: UsedTools; segment: Segment }>({
    max: MAX_USERS,
    maxSize: MAX_TOOLS,
    sizeCalculation: ({ segment }) => segment.tools.length + 1,
  })

  constructor(vectors: WordVectors | undefined, builder: SlicedBuilder) {
    this.#vectors = vectors
    this.#builder = builder
  }

  /** Overlay of tools with example prompts; undefined without any. */
  async build(userId: string, used: UsedTools): Promise<Segment | undefined> {
    const usedTools = new Map([...used].filter(([, { use }]) => use.examples.length > 0))
    if (usedTools.size === 0) return undefined
    const cached = this.#cache.get(userId)
    if (cached && isSame(cached.usedTools, usedTools)) return cached.segment
    const tools = [...usedTools.values()].map(({ entry, use }) => searchToolOf(entry, use.examples))
    const segment = { ...(await this.#builder.build(tools, this.#vectors)), isOverlay: true }
    this.#cache.set(userId, { usedTools, segment })
    return segment
  }
}

/** By ref, in deterministic order. */
export function usedIn({ toolkits }: ScopeView, uses: UserUses): UsedTools {
  if (uses.length === 0) return NO_TOOLS
  const byKey = new Map(toolkits.map((toolkit) => [toolkit.indexed.key, toolkit]))
  const used: Array<[string, UsedTool]> = []
  for (const use of uses) {
    const { indexed, entries } = byKey.get(use.uscoId) ?? {}
    const at = indexed?.positions.get(`${entries?.[0]?.toolkit}.${use.tool}`)
    const entry = at === undefined ? undefined : entries?.[at]
    if (entry?.included) used.push([entry.ref, { entry, use }])
  }
  return new Map(used.sort(([a], [b]) => (a < b ? -1 : 1)))
}

function isSame(a: UsedTools, b: UsedTools): boolean {
  if (a.size !== b.size) return false
  const before = [...a]
  const after = [...b]
  return before.every(([ref, current], index) => {
    const [otherRef, other] = after[index] as [string, UsedTool]
    return ref === otherRef && isSameManifest(current, other) && isSameList(current.use.examples, other.use.examples)
  })
}

const isSameManifest = (a: UsedTool, b: UsedTool) =>
  a.entry.manifest === b.entry.manifest && a.entry.examples === b.entry.examples

const isSameList = (a: readonly string[], b: readonly string[]) =>
  a === b || (a.length === b.length && a.every((item, index) => item === b[index]))

/**
 * Usage score by ref, from 0 to 1: higher for recent and successful use. Recency is relative to the user's last use,
 * not to the clock, so the same state gives the same order.
 */
export function habitsOf(used: UsedTools): Map<string, number> {
  let latest = 0
  for (const { use } of used.values()) latest = Math.max(latest, use.lastUsedAt)
  const habits = new Map<string, number>()
  for (const [ref, { use }] of used) {
    const success = Math.min(1, (use.successes + 1) / (use.calls + 2))
    habits.set(ref, success * 2 ** ((use.lastUsedAt - latest) / HALF_LIFE_MS))
  }
  return habits
}
