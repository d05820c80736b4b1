/**
 * Which tools of a loadout go to the model with one prompt. Pure: plain records in, plain records out. What holds of it:
 *
 * - Nothing is chosen that the loadout does not carry, and each tool at most once.
 * - What never waits comes first, then what is kept, what was loaded before, and what the prompt found: so the beginning of
 *   the list stays the same from one step to the next, as prompt caches want it.
 * - `search_tools` is the last, and there whenever something was not chosen. Where all that is carried costs no more than what
 *   would be sent, all of it is sent instead.
 * - With `maxTokens`, what is chosen costs at most that much, and what found no room says so. Room is kept for `search_tools`
 *   only where something is left to find, and where it does not take the room of everything else.
 */
import type { LoadoutEntry } from '../schema/toolkit/loadout-entry.ts'
import type { SelectedBy, SelectedTool } from '../schema/toolkit/selection.ts'
import type { Hit } from './search.ts'
import { SEARCH_ENTRY } from './search-tools.ts'

/** A tool that was loaded before, for this thread or in this run. */
export interface LoadedTool {
  ref: string
  /** Kept until somebody says otherwise. */
  sticky: boolean
}

export interface SelectionInput {
  /** What is carried. */
  tools: readonly LoadoutEntry[]
  /** In the order in which they were loaded. */
  loaded: readonly LoadedTool[]
  /** What the prompt found, best first. */
  hits: readonly Hit[]
  /** What came next in the search, best first: of many that wait, the best wait first. */
  rest?: readonly string[] | undefined
  /** Whether all may be sent where that costs no more. @default true */
  mayTakeAll?: boolean | undefined
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
  const { tools, maxTokens, count, mayTakeAll = true } = input
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
  const remaining = (maxTokens ?? Number.POSITIVE_INFINITY) - costOf(chosen)
  if (deferred.length > 0 && search.tokens <= remaining) chosen.push(search)
  else if (deferred.length > 0) dropped.push({ ref: SEARCH_ENTRY.ref, reason: noRoom(search.tokens, maxTokens) })
  const tokens = costOf(chosen)
  const allTools = mayTakeAll && deferred.length > 0 ? allWithin(tools, { wanted, tokens, count }) : undefined
  return allTools
    ? { tools: allTools, deferred: [], dropped: [], tokens: costOf(allTools) }
    : { tools: chosen, deferred, dropped, tokens }
}

const costOf = (tools: readonly SelectedTool[]) => tools.reduce((sum, tool) => sum + tool.tokens, 0)

const noRoom = (tokens: number, maxTokens: number | undefined, reserve = 0) =>
  `It costs ${tokens} tokens, and maxTokens is ${maxTokens}${reserve > 0 ? `, of which search_tools needs ${reserve}` : ''}.`

interface RoomInput {
  /** How many are carried. */
  total: number
  /** What `search_tools` costs. */
  search: number
  maxTokens: number | undefined
  count: SelectionInput['count']
}

/** What finds room, and how much of it was kept for `search_tools`. */
function fitting(
  wanted: readonly Wanted[],
  { total, search, maxTokens = Number.POSITIVE_INFINITY, count }: RoomInput,
): { accepted: Set<LoadoutEntry>; reserve: number } {
  const fitInto = (budget: number) => {
    const accepted = new Set<LoadoutEntry>()
    let remaining = budget
    // Who would be chosen first when not all find room.
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
  // Alone it would find what then has no room.
  return withSearch.size > 0 || accepted.size === 0
    ? { accepted: withSearch, reserve: search }
    : { accepted, reserve: 0 }
}

/** All that is carried, where it costs no more than what would be sent. */
function allWithin(
  tools: readonly LoadoutEntry[],
  { wanted, tokens, count }: Pick<SelectionInput, 'count'> & { wanted: readonly Wanted[]; tokens: number },
): SelectedTool[] | undefined {
  const wantedEntries = new Set(wanted.map(({ entry }) => entry))
  const others = tools
    .filter((entry) => !wantedEntries.has(entry))
    .map((entry) => ({ entry, by: 'always' as const, reasons: [ALL_FIT] }))
  const selected: SelectedTool[] = []
  let sum = 0
  for (const tool of [...wanted, ...others]) {
    const cost = count(tool.entry)
    sum += cost
    // Most catalogs are larger: this ends after a few.
    if (sum > tokens) return undefined
    selected.push({ ...tool, tokens: cost })
  }
  return selected
}

/** Few wait as they are carried, so that what is sent of them stays the same from one prompt to the next. */
function inOrder(deferred: LoadoutEntry[], { hits, rest = [] }: SelectionInput): LoadoutEntry[] {
  if (deferred.length <= MAX_UNSORTED) return deferred
  const positions = new Map([...hits.map(({ ref }) => ref), ...rest].map((ref, position) => [ref, position]))
  const positionOf = ({ ref }: LoadoutEntry) => positions.get(ref) ?? positions.size
  return deferred.sort((a, b) => positionOf(a) - positionOf(b))
}

/** Providers that take a list of what waits take more than these. */
const MAX_UNSORTED = 100
const ALL_FIT = 'All that is carried costs no more than the way to find it.'
const FINDS_MORE = 'It finds what is not here.'
/** What a small budget keeps first. */
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
  for (const { ref } of loaded.filter((tool) => tool.sticky)) add(byRef.get(ref), 'sticky', 'The thread keeps it.')
  for (const { ref } of loaded) add(byRef.get(ref), 'loaded', 'It was loaded before.')
  for (const { ref } of hits) add(byRef.get(ref), 'search', '')
  return [...wanted.values()]
}
