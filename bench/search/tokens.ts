/** What tools cost a model: all of them upfront, or the few that a prompt needs and the tool that finds more. */
import { SEARCH_TOOLS, tokenizerOf } from 'loadout'
import { qualityOf } from './measures.ts'
import { indexOf } from './ours.ts'
import { plainBm25 } from './plain-bm25.ts'
import type { BenchSet, BenchTool } from './sets.ts'

const LIMIT = 5
/** "77K → 8.7K tokens", as Anthropic published of its tool search. */
const PUBLISHED = 0.15

export interface TokenRow {
  what: string
  tokens: number
  share: number
  recall: string
}

export async function tokenRows(set: BenchSet): Promise<{ rows: TokenRow[]; tokenizer: string; searchTools: number }> {
  const { name: tokenizer, count } = await tokenizerOf('openai')
  const costOf = ({ name, description = '', inputSchema }: Pick<BenchTool, 'name' | 'description' | 'inputSchema'>) =>
    count(JSON.stringify({ name, description, input_schema: inputSchema ?? { type: 'object' } }))
  const costs = new Map(set.tools.map((tool) => [tool.id, costOf(tool)]))
  const all = [...costs.values()].reduce((sum, one) => sum + one, 0)
  const searchTools = costOf(SEARCH_TOOLS)
  const index = indexOf(set.tools)
  const found = await Promise.all(
    set.reported.map(async ({ query }) => (await index.search(query, { limit: LIMIT })).hits.map(({ id }) => id)),
  )
  const each = found.map((ids) => ids.reduce((sum, id) => sum + (costs.get(id) ?? 0), searchTools))
  const mean = each.reduce((sum, one) => sum + one, 0) / each.length
  const recallOf = (ids: ReadonlyArray<readonly string[]>) => {
    const { recall, interval } = qualityOf(set.reported, ids)
    return `${recall[LIMIT].toFixed(1)} [${interval.map((one) => one.toFixed(1)).join('–')}]`
  }
  const plain = plainBm25(set.tools, false)
  const standIn = recallOf(set.reported.map(({ query }) => plain(query, LIMIT)))
  const most = Math.max(...each)
  const ours = recallOf(found)
  return {
    tokenizer,
    searchTools,
    rows: [
      { what: `all ${set.tools.length} tools upfront`, tokens: all, share: 1, recall: '100' },
      {
        what: 'Anthropic’s published −85 %, of that',
        tokens: all * PUBLISHED,
        share: PUBLISHED,
        recall: `not published for this set; plain BM25: ${standIn}`,
      },
      { what: `Loadout, limit ${LIMIT}, mean of the reported prompts`, tokens: mean, share: mean / all, recall: ours },
      { what: `Loadout, limit ${LIMIT}, the dearest of them`, tokens: most, share: most / all, recall: ours },
    ],
  }
}
