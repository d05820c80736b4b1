/** Search in live scopes: what a user or a thread carries, and nothing else. */
import { HostError } from '../errors.ts'
import type { LoadoutScope, Loadouts } from '../loadout/loadouts.ts'
import type { LoadoutEntry } from '../schema/loadout-entry.ts'
import { type Hit, STRATEGIES, type Strategy } from './search.ts'
import type { Searcher, SearchOptions } from './searcher.ts'

export interface FoundTool extends Hit {
  entry: LoadoutEntry
}

export interface ToolSearch {
  /** The tools of a scope that fit best, best first. */
  search(
    scope: LoadoutScope,
    text: string,
    options?: Omit<SearchOptions, 'userId'>,
  ): Promise<{ tools: FoundTool[]; strategy: Strategy; warnings: readonly string[] }>
}

export function createToolSearch(parts: { loadouts: Pick<Loadouts, 'of'>; searcher: Searcher }): ToolSearch {
  return {
    async search(scope, text, options = {}) {
      if (options.strategy !== undefined && !STRATEGIES.includes(options.strategy))
        throw new HostError('invalid-input', {
          detail: `There is no such strategy. There are: ${STRATEGIES.join(', ')}.`,
          errors: [{ path: 'strategy', message: `must be one of ${STRATEGIES.join(', ')}` }],
        })
      const { entries } = await parts.loadouts.of(scope)
      // What was done before is that of who searches, whatever is asked for.
      const asked = { ...options, userId: scope.userId }
      const { hits, strategy, warnings = [] } = await parts.searcher.search(entries, text, asked)
      const carried = new Map(entries.filter((entry) => entry.included).map((entry) => [entry.ref, entry]))
      return {
        tools: hits.flatMap((hit) => {
          const entry = carried.get(hit.ref)
          return entry ? [{ ...hit, entry }] : []
        }),
        strategy,
        warnings,
      }
    },
  }
}
