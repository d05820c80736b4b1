/**
 * Search without a host: over a list of tools as servers give them, or as files hold them. The same index and the same ranks
 * as in a thread; a list is indexed once, whatever is asked of it.
 */
import { z } from 'zod'
import { HostError } from '../errors.ts'
import { invalidInput, jsonObject, parse } from '../schema/json.ts'
import type { LoadoutEntry } from '../schema/toolkit/loadout-entry.ts'
import { searchInput } from '../schema/toolkit/selection.ts'
import { toolExamples } from '../schema/toolkit/tool.ts'
import { vectorsBy } from './create-search.ts'
import { toolkitTerms } from './index/toolkits.ts'
import type { Hit, Strategy } from './search.ts'
import { createSearcher, type Searcher, type SearchInput } from './searcher.ts'
import { type VectorSource, vectorsFrom } from './vectors/bundled-vectors.ts'
import type { Embedder, EmbedTexts } from './vectors/embedder.ts'

const text = (max: number) => z.string().max(max)
const name = text(500).min(1)

/** A tool of a list. Files differ in how they write it; what is not known is passed over. */
export const plainTool = z
  .looseObject({
    id: name.optional(),
    name,
    title: text(1000).nullish(),
    description: text(1_000_000).nullish(),
    inputSchema: jsonObject.nullish(),
    input_schema: jsonObject.nullish(),
    /** Its toolkit or server. */
    toolkit: text(500).nullish(),
    server: text(500).nullish(),
    toolkitTitle: text(500).nullish(),
    serverTitle: text(500).nullish(),
    examples: toolExamples.nullish(),
  })
  .transform(({ id, toolkit, server, toolkitTitle, serverTitle, inputSchema, input_schema: snake, ...tool }) => ({
    name: tool.name,
    toolkit: toolkit || server || '',
    inputSchema: inputSchema ?? snake ?? { type: 'object' },
    ...(toolkitTitle || serverTitle ? { toolkitTitle: toolkitTitle || serverTitle || '' } : {}),
    ...(tool.title ? { title: tool.title } : {}),
    ...(tool.description ? { description: tool.description } : {}),
    ...(tool.examples ? { examples: tool.examples } : {}),
    id: id ?? `${toolkit || server || ''}/${tool.name}`.replace(/^\//, ''),
  }))
export type ListedTool = z.output<typeof plainTool>
/** A list of tools as it was read, as a server lists them, or its whole answer to `tools/list`. */
export type ToolListInput =
  | ReadonlyArray<z.input<typeof plainTool>>
  | { readonly tools: ReadonlyArray<z.input<typeof plainTool>> }

const MAX_TOOLS = 200_000
const toolList = z.array(plainTool).max(MAX_TOOLS)
const toolFile = z.union([z.looseObject({ tools: toolList }).transform(({ tools }) => tools), toolList])

/** A file of tools: a list of them, or what a server answers to `tools/list`. */
export function readTools(json: unknown): ListedTool[] {
  const read = toolFile.safeParse(json)
  if (read.success) return read.data
  // Of the two shapes, errors are told of the one that it is.
  const result = (Array.isArray(json) ? toolList : z.looseObject({ tools: toolList })).safeParse(json)
  throw result.success ? new HostError('invalid-input') : invalidInput(result.error)
}

export interface ListHit extends Hit {
  /** As the list has it. */
  id: string
  tool: ListedTool
}

export interface ListResult {
  hits: ListHit[]
  /** The one that was used. */
  strategy: Strategy
  /** What did not go as asked. */
  warnings?: readonly string[]
}

export interface ToolIndex {
  search(query: string, options?: SearchInput): Promise<ListResult>
}

export interface ToolIndexOptions {
  /** Word vectors, for meaning offline; false: by words alone. @default those that come with the library */
  vectors?: VectorSource | undefined
  /** Any model that embeds, or a function of texts. It comes before word vectors. */
  embedder?: Embedder | EmbedTexts | undefined
  /** How long a search waits for the embedder. @default 1500 */
  embedderWaitMs?: number | undefined
}

export function createToolIndex(
  list: ToolListInput,
  { vectors, embedder, embedderWaitMs: waitMs }: ToolIndexOptions = {},
): ToolIndex {
  const searcher: Searcher = createSearcher({
    vectors: vectorsFrom(vectors),
    embedded: embedder && vectorsBy(embedder, { waitMs }),
  })
  const byRef = new Map<string, ListedTool>()
  const entries = readTools(list).map((tool) => {
    // A toolkit's id has no dot; two tools of one name stay two.
    const toolkit = toolkitTerms(tool.toolkit, tool.toolkitTitle).replaceAll('.', ' ')
    const first = `${toolkit}.${tool.name}`
    const ref = byRef.has(first) ? `${first} ${byRef.size}` : first
    byRef.set(ref, tool)
    return entryOf({ ...tool, toolkit }, ref)
  })
  return {
    async search(query, options = {}) {
      const { q, ...searchOptions } = parse(searchInput, { q: query, ...options })
      const { hits, strategy, warnings } = await searcher.search(entries, q, searchOptions)
      return {
        hits: hits.map((hit) => {
          const tool = byRef.get(hit.ref) as ListedTool
          return { ...hit, ref: refOf(tool), id: tool.id, tool }
        }),
        strategy,
        ...(warnings ? { warnings } : {}),
      }
    },
  }
}

/** Which of these tools fit? Indexes them, and forgets the index: for one question. */
export async function search({ query, tools, ...rest }: ListQuery): Promise<ListResult> {
  const { vectors, embedder, embedderWaitMs, ...options } = rest
  return createToolIndex(tools, { vectors, embedder, embedderWaitMs }).search(query, options)
}

export interface ListQuery extends SearchInput, ToolIndexOptions {
  query: string
  tools: ToolListInput
}

const refOf = ({ toolkit, name: toolName }: ListedTool) => (toolkit === '' ? toolName : `${toolkit}.${toolName}`)

function entryOf(tool: ListedTool, ref: string): LoadoutEntry {
  const { id: _, toolkitTitle: __, toolkit, examples, ...manifest } = tool
  return {
    ref,
    modelName: tool.name,
    tier: 'call',
    toolkit,
    tool: tool.name,
    manifest,
    included: true,
    reasons: [],
    deferred: true,
    allowedCallers: ['direct'],
    tokens: 0,
    ...(examples === undefined ? {} : { examples }),
  }
}
