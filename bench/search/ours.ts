/** Ours, as a user calls it: a list of tools, and one strategy. */

import { wordVectors } from '@loadout/core/node'
import { createToolIndex, readTools } from '@loadout/core/search'
import type { Strategy } from '@loadout/core/services'
import type { Contender } from './peers.ts'
import type { BenchTool } from './sets.ts'

/** A pattern is no longer than this. */
const LONGEST_PATTERN = 200
/** And an example no longer than this. */
const LONGEST_EXAMPLE = 1000

export function indexOf(tools: readonly BenchTool[]) {
  const read = readTools(
    tools.map(({ id, server, name, description, inputSchema, examples }) => ({
      id,
      server,
      name,
      description,
      inputSchema,
      ...(examples && examples.length > 0 ? { examples: examples.map((one) => one.slice(0, LONGEST_EXAMPLE)) } : {}),
    })),
  )
  return createToolIndex(read, { vectors: wordVectors })
}

const strategy = (name: string, of: Strategy, asked = (query: string) => query): Contender => ({
  name,
  ours: true,
  async build(tools) {
    const index = indexOf(tools)
    // The first search indexes.
    await index.search('anything', { strategy: of })
    return async (query, limit) => {
      const text = asked(query)
      if (text === '') return []
      return (await index.search(text, { strategy: of, limit })).hits.map(({ id }) => id)
    }
  },
})

/** The words of a query without what would make it a pattern. */
const keywords = (query: string) =>
  query
    .replaceAll(/[^\p{L}\p{N}\s]+/gu, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim()
    .slice(0, LONGEST_PATTERN)

export const OURS: readonly Contender[] = [
  strategy('**Loadout hybrid**', 'hybrid'),
  strategy('Loadout bm25', 'bm25'),
  strategy('Loadout semantic (built-in vectors)', 'semantic'),
  strategy('Loadout regex (as keywords)', 'regex', keywords),
]
