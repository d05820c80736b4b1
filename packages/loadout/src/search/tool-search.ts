/** Searches the loadout of a user or a thread. */
import type { LoadoutScope, Loadouts } from '../loadout/loadouts.ts'
import { parse } from '../schema/json.ts'
import type { LoadoutEntry } from '../schema/toolkit/loadout-entry.ts'
import { searchInput } from '../schema/toolkit/selection.ts'
import type { Hit, Strategy } from './search.ts'
import type { Searcher, SearchInput } from './searcher.ts'

export interface ToolHit extends Hit {
  entry: LoadoutEntry
}

export interface ToolSearch {
  /** Best matching tools of a scope, best first. */
  search(
    scope: LoadoutScope,
    text: string,
    options?: SearchInput,
  ): Promise<{ tools: ToolHit[]; strategy: Strategy; warnings: readonly string[] }>
}

export function createToolSearch(deps: { loadouts: Pick<Loadouts, 'resolve'>; searcher: Searcher }): ToolSearch {
  return {
    async search(scope, text, options = {}) {
      // Usage is always that of the searching user.
      const query = { ...parse(searchInput, { q: text, ...options }), userId: scope.userId }
      const { entries } = await deps.loadouts.resolve(scope)
      const { hits, strategy, warnings = [] } = await deps.searcher.search(entries, query.q, query)
      const byRef = new Map(entries.filter((entry) => entry.included).map((entry) => [entry.ref, entry]))
      return {
        tools: hits.flatMap((hit) => {
          const entry = byRef.get(hit.ref)
          return entry ? [{ ...hit, entry }] : []
        }),
        strategy,
        warnings,
      }
    },
  }
}
