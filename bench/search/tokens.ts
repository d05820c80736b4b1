/** What tools cost a model: all of them upfront, or the few that a prompt needs and the tool that finds more. */
import { SEARCH_TOOLS } from '@loadout/core'
import { wordVectors } from '@loadout/core/node'
import { createServices, type HostServices } from '@loadout/core/services'
import { qualityOf } from './measures.ts'
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

/** A toolkit a server, as a user would have them. Which tool of the set a ref means. */
async function registerAll(host: HostServices, tools: readonly BenchTool[]): Promise<Map<string, string>> {
  const idOf = new Map<string, string>()
  for (const [server, own] of Map.groupBy(tools, (tool) => tool.server)) {
    const functions = own.map(({ name, description = '', inputSchema = { type: 'object' } }) => ({
      name,
      description,
      inputSchema,
      execute: () => '',
    }))
    const { stored } = await host.toolkits.register({ name: server, tools: functions }, { tier: 'app' })
    for (const { id, name } of own) idOf.set(`${stored.toolkit.id}.${name}`, id)
  }
  return idOf
}

export async function tokenRows(set: BenchSet): Promise<{ rows: TokenRow[]; tokenizer: string; searchTools: number }> {
  await using host = createServices({ search: { vectors: wordVectors } })
  const idOf = await registerAll(host, set.tools)
  await host.preferences.update('bench', { maxServersPerThread: 100 })
  const found: string[][] = []
  const each: number[] = []
  let [tokenizer, all, searchTools] = ['', 0, 0]
  for (const [at, { query }] of set.reported.entries()) {
    // A thread keeps the tools of its earlier prompts.
    const thread = host.thread({ userId: 'bench', threadId: `tokens ${at}` })
    const { tools, tokens } = await thread.select({ prompt: query, limit: LIMIT, model: 'openai:gpt-5' })
    found.push(tools.flatMap(({ entry }) => idOf.get(entry.ref) ?? []))
    each.push(tokens.after)
    if (tokens.exact) all = tokens.before
    tokenizer = tokens.tokenizer
    searchTools = tools.find(({ entry }) => entry.modelName === SEARCH_TOOLS.name)?.tokens ?? searchTools
  }
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
