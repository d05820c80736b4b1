/**
 * Selects the tools of a loadout that go to the model with one prompt. Pure. Invariants:
 *
 * - Only tools of the loadout are selected, each at most once.
 * - Order: never-deferred, `search_tools`, loaded in loading order, found. New tools are appended, so that the prompt
 *   caches of providers stay valid.
 * - `search_tools` is present whenever a tool was not selected. A loadout below `sendAllBelow`, or one that costs no
 *   more than the selection, is sent as a whole, in loadout order.
 * - With `maxTokens` the selection stays within it, and tools without room are reported. `search_tools` reserves room
 *   only when something is left to find and other tools still fit.
 */
import type { LoadoutEntry } from '../schema/toolkit/loadout-entry.ts'
import type { SelectedBy, SelectedTool } from '../schema/toolkit/selection.ts'
import type { Hit } from './search.ts'
import { SEARCH_ENTRY } from './search-tools.ts'

/** A tool that this thread or run loaded before. */
export interface LoadedTool {
  ref: string
  /** Kept until it is unloaded. */
  sticky: boolean
  /** Whether only an earlier prompt selected it. */
  byPrompt?: boolean | undefined
}

export interface SelectionInput {
  /** Tools of the loadout. */
  tools: readonly LoadoutEntry[]
  /** In loading order. */
  loaded: readonly LoadedTool[]
  /** Search hits, best first. */
  hits: readonly Hit[]
  /** Further search results, best first: they order the deferred tools. */
  rest?: readonly string[] | undefined
  /** Whether the whole loadout may be sent. @default true */
  mayTakeAll?: boolean | undefined
  /** Tokens up to which the whole loadout is sent. @default 0 */
  sendAllBelow?: number | undefined
  maxTokens?: number | undefined
  count: (entry: LoadoutEntry) => number
}

export interface SelectionResult {
  tools: SelectedTool[]
  deferred: LoadoutEntry[]
  dropped: Array<{ ref: string; reason: string }>
  tokens: number
}

export function selectTools(input: SelectionInput): SelectionResult {
  const { tools, maxTokens = Number.POSITIVE_INFINITY, count, mayTakeAll = true, sendAllBelow = 0 } = input
  const wanted = wantedOf(tools, input)
  const search = { entry: SEARCH_ENTRY, by: 'always' as const, reasons: [FINDS_MORE], tokens: count(SEARCH_ENTRY) }
  const { accepted, reserve } = fitting(wanted, { total: tools.length, search: search.tokens, maxTokens, count })
  const deferred = inOrder(
    tools.filter((entry) => !accepted.has(entry)),
    input,
  )
  const dropped = wanted
    .filter(({ entry }) => !accepted.has(entry))
    .sort(byRank)
    .map(({ entry }) => ({ ref: entry.ref, reason: noRoom(count(entry), maxTokens, reserve) }))
  const chosen: SelectedTool[] = wanted
    .filter(({ entry }) => accepted.has(entry))
    .map((tool) => ({ ...tool, tokens: count(tool.entry) }))
  const remaining = maxTokens - costOf(chosen)
  const always = chosen.filter(({ by }) => by === 'always').length
  if (deferred.length > 0 && search.tokens <= remaining) chosen.splice(always, 0, search)
  else if (deferred.length > 0) dropped.push({ ref: SEARCH_ENTRY.ref, reason: noRoom(search.tokens, maxTokens) })
  const tokens = costOf(chosen)
  const budget = Math.min(maxTokens, Math.max(tokens, sendAllBelow))
  const allTools = mayTakeAll ? allWithin(tools, { wanted, budget, count }) : undefined
  return allTools
    ? { tools: allTools, deferred: [], dropped: [], tokens: costOf(allTools) }
    : { tools: chosen, deferred, dropped, tokens }
}

const costOf = (tools: readonly SelectedTool[]) => tools.reduce((sum, tool) => sum + tool.tokens, 0)

const noRoom = (tokens: number, maxTokens: number, reserve = 0) =>
  `It costs ${tokens} tokens, and maxTokens is ${maxTokens}${reserve > 0 ? `, of which search_tools needs ${reserve}` : ''}.`

interface RoomInput {
  /** Number of tools in the loadout. */
  total: number
  /** Tokens of `search_tools`. */
  search: number
  maxTokens: number
  count: SelectionInput['count']
}

/** Tools that fit, and the tokens reserved for `search_tools`. */
function fitting(
  wanted: readonly Wanted[],
  { total, search, maxTokens, count }: RoomInput,
): { accepted: Set<LoadoutEntry>; reserve: number } {
  const fitInto = (budget: number) => {
    const accepted = new Set<LoadoutEntry>()
    let remaining = budget
    // By rank, so that lower ranks are dropped first.
    for (const { entry } of [...wanted].sort(byRank)) {
      const tokens = count(entry)
      if (tokens > remaining) continue
      accepted.add(entry)
      remaining -= tokens
    }
    return accepted
  }
  const accepted = fitInto(maxTokens)
  if (accepted.size === total || search > maxTokens) return { accepted, reserve: 0 }
  const withSearch = fitInto(maxTokens - search)
  // `search_tools` alone would find tools that have no room.
  return withSearch.size > 0 || accepted.size === 0
    ? { accepted: withSearch, reserve: search }
    : { accepted, reserve: 0 }
}

/** The whole loadout in its own order, which no prompt changes, if it costs no more than the budget. */
function allWithin(
  tools: readonly LoadoutEntry[],
  { wanted, budget, count }: Pick<SelectionInput, 'count'> & { wanted: readonly Wanted[]; budget: number },
): SelectedTool[] | undefined {
  const byEntry = new Map(wanted.map((tool) => [tool.entry, tool]))
  const selected: SelectedTool[] = []
  let sum = 0
  for (const entry of tools) {
    const tokens = count(entry)
    sum += tokens
    // Most loadouts are larger, so this returns early.
    if (sum > budget) return undefined
    const tool = byEntry.get(entry) ?? { entry, by: 'always' as const, reasons: [ALL_SENT] }
    selected.push({ ...tool, tokens })
  }
  return selected
}

/** Short lists keep their order, so that requests stay equal between prompts. */
function inOrder(deferred: LoadoutEntry[], { hits, rest = [] }: SelectionInput): LoadoutEntry[] {
  if (deferred.length <= MAX_UNSORTED) return deferred
  const positions = new Map([...hits.map(({ ref }) => ref), ...rest].map((ref, position) => [ref, position]))
  const positionOf = ({ ref }: LoadoutEntry) => positions.get(ref) ?? positions.size
  return deferred.sort((a, b) => positionOf(a) - positionOf(b))
}

/** Providers with deferred lists take more than this. */
const MAX_UNSORTED = 100
const ALL_SENT = 'The loadout is small, so all of its tools are sent.'
const FINDS_MORE = 'It finds what is not here.'
/** Rank in a small budget. */
const RANK: Record<SelectedBy, number> = { always: 0, sticky: 1, search: 2, loaded: 3 }

type Wanted = Omit<SelectedTool, 'tokens'>

const byRank = (a: Wanted, b: Wanted) => RANK[a.by] - RANK[b.by]

function wantedOf(tools: readonly LoadoutEntry[], { loaded, hits }: Pick<SelectionInput, 'loaded' | 'hits'>): Wanted[] {
  const byRef = new Map(tools.map((entry) => [entry.ref, entry]))
  const found = new Map(hits.map((hit) => [hit.ref, hit]))
  const wanted = new Map<string, Wanted>()
  const add = (entry: LoadoutEntry | undefined, by: SelectedBy, reason: string) => {
    if (!entry || wanted.has(entry.ref)) return
    const hit = found.get(entry.ref)
    wanted.set(entry.ref, {
      entry,
      by,
      reasons: by === 'search' ? [...(hit?.reasons ?? [])] : [reason, ...(hit?.reasons ?? [])],
      ...(hit ? { score: hit.score } : {}),
    })
  }
  for (const entry of tools) if (!entry.deferred) add(entry, 'always', 'It is always there.')
  // One pass keeps the loading order, whatever the reasons are now.
  for (const { ref, sticky, byPrompt = false } of loaded)
    if (sticky) add(byRef.get(ref), 'sticky', 'The thread keeps it.')
    else if (byPrompt) add(byRef.get(ref), found.has(ref) ? 'search' : 'loaded', 'An earlier prompt selected it.')
    else add(byRef.get(ref), 'loaded', 'It was loaded before.')
  for (const { ref } of hits) add(byRef.get(ref), 'search', '')
  return [...wanted.values()]
}
