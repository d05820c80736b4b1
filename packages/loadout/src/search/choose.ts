/**
 * Which tools of a loadout go to the model with one prompt. Pure: plain records in, plain records out. What holds of it:
 *
 * - Nothing is chosen that the loadout does not carry, and each tool at most once.
 * - What never waits comes first, then what is kept, what was loaded before, and what the prompt found: so the beginning of
 *   the list stays the same from one step to the next, as prompt caches want it.
 * - `search_tools` is the last, and there whenever something was not chosen.
 * - With `maxTokens`, what is chosen costs at most that much, and what found no room says so.
 */
import type { LoadoutEntry } from '../schema/loadout-entry.ts'
import type { ChosenBy, SelectedTool } from '../schema/selection.ts'
import type { Hit } from './search.ts'
import { SEARCH_ENTRY } from './search-tools.ts'

/** A tool that was loaded before, for this thread or in this run. */
export interface LoadedTool {
  ref: string
  /** Kept until somebody says otherwise. */
  sticky: boolean
}

export interface Choice {
  /** What is carried. */
  tools: readonly LoadoutEntry[]
  /** In the order in which they were loaded. */
  loaded: readonly LoadedTool[]
  /** What the prompt found, best first. */
  hits: readonly Hit[]
  maxTokens?: number | undefined
  count: (entry: LoadoutEntry) => number
}

export interface Chosen {
  tools: SelectedTool[]
  deferred: LoadoutEntry[]
  dropped: Array<{ ref: string; reason: string }>
  tokens: number
}

export function choose({ tools, loaded, hits, maxTokens, count }: Choice): Chosen {
  const wanted = wantedOf(tools, { loaded, hits })
  const chosen: SelectedTool[] = []
  const dropped: Chosen['dropped'] = []
  const search = { entry: SEARCH_ENTRY, by: 'always' as const, reasons: [FINDS_MORE], tokens: count(SEARCH_ENTRY) }
  const others = tools.length > wanted.length
  const most = maxTokens ?? Number.POSITIVE_INFINITY
  let left = most
  // Who would be chosen first when not all find room.
  for (const one of [...wanted].sort((a, b) => RANK[a.by] - RANK[b.by])) {
    const tokens = count(one.entry)
    // Room for `search_tools` is kept as soon as anything may be left to find.
    const needed = others || wanted.length > 1 ? tokens + search.tokens : tokens
    if (needed <= left) {
      chosen.push({ ...one, tokens })
      left -= tokens
    } else dropped.push({ ref: one.entry.ref, reason: `It costs ${tokens} tokens, and maxTokens is ${maxTokens}.` })
  }
  const kept = new Set(chosen.map(({ entry }) => entry))
  const deferred = tools.filter((entry) => !kept.has(entry))
  const ordered = wanted.flatMap(({ entry }) => chosen.filter((one) => one.entry === entry))
  if (deferred.length > 0) {
    if (search.tokens <= left) ordered.push(search)
    else
      dropped.push({
        ref: SEARCH_ENTRY.ref,
        reason: `It costs ${search.tokens} tokens, and maxTokens is ${maxTokens}.`,
      })
  }
  return { tools: ordered, deferred, dropped, tokens: ordered.reduce((sum, one) => sum + one.tokens, 0) }
}

const FINDS_MORE = 'It finds what is not here.'
/** What a small budget keeps first. */
const RANK: Record<ChosenBy, number> = { always: 0, sticky: 1, search: 2, loaded: 3 }

type Wanted = Omit<SelectedTool, 'tokens'>

function wantedOf(tools: readonly LoadoutEntry[], { loaded, hits }: Pick<Choice, 'loaded' | 'hits'>): Wanted[] {
  const carried = new Map(tools.map((entry) => [entry.ref, entry]))
  const found = new Map(hits.map((hit) => [hit.ref, hit]))
  const wanted = new Map<string, Wanted>()
  const add = (entry: LoadoutEntry | undefined, by: ChosenBy, why: string) => {
    if (!entry || wanted.has(entry.ref)) return
    const hit = found.get(entry.ref)
    wanted.set(entry.ref, {
      ...{ entry, by, reasons: by === 'search' ? [...(hit?.reasons ?? [])] : [why, ...(hit?.reasons ?? [])] },
      ...(hit ? { score: hit.score } : {}),
    })
  }
  for (const entry of tools) if (!entry.deferred) add(entry, 'always', 'It is always there.')
  for (const { ref } of loaded.filter((one) => one.sticky)) add(carried.get(ref), 'sticky', 'The thread keeps it.')
  for (const { ref } of loaded) add(carried.get(ref), 'loaded', 'It was loaded before.')
  for (const { ref } of hits) add(carried.get(ref), 'search', '')
  return [...wanted.values()]
}
