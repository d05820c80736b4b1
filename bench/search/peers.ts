/** The peers, as their documentation sets them up. Each indexes the tools, and gives the ids that it finds for a query. */
import { create, insertMultiple, search } from '@orama/orama'
import lunr from 'lunr'
import MiniSearch from 'minisearch'
import bm25 from 'wink-bm25-text-search'
import model from 'wink-eng-lite-web-model'
import winkNLP from 'wink-nlp'
import { argumentsOf, plainBm25 } from './plain-bm25.ts'
import type { BenchTool } from './sets.ts'

export type Find = (query: string, limit: number) => readonly string[] | Promise<readonly string[]>

export interface Contender {
  name: string
  ours: boolean
  /** Indexes; everything that a first search would wait for is in it. */
  build(tools: readonly BenchTool[]): Find | Promise<Find>
}

const described = ({ description = '', examples = [] }: BenchTool) => [description, ...examples].join('\n')

const miniSearch = (name: string, fields: string[]): Contender => ({
  name,
  ours: false,
  build(tools) {
    const index = new MiniSearch<{ id: number }>({ fields })
    index.addAll(
      tools.map((tool, id) => ({
        id,
        name: fields.length > 2 ? `${tool.server} ${tool.name}` : tool.name,
        description: described(tool),
        ...argumentsOf(tool.inputSchema),
      })),
    )
    return (query, limit) =>
      index
        .search(query)
        .slice(0, limit)
        .map(({ id }) => (tools[id] as BenchTool).id)
  },
})

const orama: Contender = {
  name: 'Orama (name, description)',
  ours: false,
  async build(tools) {
    const index = create({ schema: { tool: 'string', name: 'string', description: 'string' } as const })
    await insertMultiple(
      index,
      tools.map((tool) => ({ tool: tool.id, name: tool.name, description: described(tool) })),
    )
    return async (query, limit) => {
      const { hits } = await search(index, { term: query, limit, properties: ['name', 'description'] })
      return hits.map(({ document }) => document.tool)
    }
  },
}

const lunrContender: Contender = {
  name: 'lunr (name, description)',
  ours: false,
  build(tools) {
    const index = lunr(function () {
      this.field('name')
      this.field('description')
      tools.forEach((tool, id) => {
        this.add({ id, name: tool.name, description: described(tool) })
      })
    })
    return (query, limit) => {
      // As terms, not in its query language: people write colons and dashes.
      const found = index.query((asked) => {
        for (const token of lunr.tokenizer(query)) asked.term(token.toString(), {})
      })
      return found.slice(0, limit).map(({ ref }) => (tools[Number(ref)] as BenchTool).id)
    }
  },
}

/** Once: a second one would enlarge the model that both share. */
const nlp = winkNLP(model)

const wink: Contender = {
  name: 'wink-bm25 (name ×2, description)',
  ours: false,
  build(tools) {
    const { its } = nlp
    // As in its documentation: words that are no stop words, stemmed, negations marked.
    const prepare = (text: string) => {
      const words: string[] = []
      nlp
        .readDoc(text)
        .tokens()
        .filter((token) => token.out(its.type) === 'word' && !token.out(its.stopWordFlag))
        .each((token) => {
          words.push(`${token.out(its.negationFlag) ? '!' : ''}${token.out(its.stem)}`)
        })
      return words
    }
    const engine = bm25()
    engine.defineConfig({ fldWeights: { name: 2, description: 1 } })
    engine.definePrepTasks([prepare])
    tools.forEach((tool, id) => {
      engine.addDoc({ name: tool.name.replaceAll(/[_-]/g, ' '), description: described(tool) }, id)
    })
    engine.consolidate()
    return (query, limit) => engine.search(query, limit).map(([id]) => (tools[Number(id)] as BenchTool).id)
  },
}

const plain = (withServer: boolean): Contender => ({
  name: `plain BM25 (${withServer ? 'server, ' : ''}name, description, arguments)`,
  ours: false,
  build: (tools) => plainBm25(tools, withServer),
})

export const PEERS: readonly Contender[] = [
  miniSearch('MiniSearch (name, description)', ['name', 'description']),
  miniSearch('MiniSearch (server and name, description, arguments)', ['name', 'description', 'names', 'descriptions']),
  orama,
  lunrContender,
  wink,
  plain(false),
  plain(true),
]
