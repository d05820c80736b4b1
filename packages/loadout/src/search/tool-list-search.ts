/**
 * Search without a host: over a list of tools from servers or files. Same index and ranking as in a thread; a list is
 * indexed once.
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

/** A tool of a list. Files use different spellings; unknown fields are ignored. */
export const plainTool = z
  .looseObject({
    id: name.optional(),
    name,
    title: text(1000).nullish(),
    description: text(1_000_000).nullish(),
    inputSchema: jsonObject.nullish(),
    input_schema: jsonObject.nullish(),
    /** Toolkit or server. */
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
/** A list of tools, or a whole response to `tools/list`. */
export type ToolListInput =
  | ReadonlyArray<z.input<typeof plainTool>>
  | { readonly tools: ReadonlyArray<z.input<typeof plainTool>> }

const MAX_TOOLS = 200_000
const toolList = z.array(plainTool).max(MAX_TOOLS)
const toolFile = z.union([z.looseObject({ tools: toolList }).transform(({ tools }) => tools), toolList])

/** Reads a list of tools, or a server's response to `tools/list`. */
export function readTools(json: unknown): ListedTool[] {
  const read = toolFile.safeParse(json)
  if (read.success) return read.data
  // Errors refer to the shape that the input has.
  const result = (Array.isArray(json) ? toolList : z.looseObject({ tools: toolList })).safeParse(json)
  throw result.success ? new HostError('invalid-input') : invalidInput(result.error)
}

export interface ListHit extends Hit {
  /** Id in the list. */
  id: string
  tool: ListedTool
}

export interface ListResult {
  hits: ListHit[]
  /** Strategy that was used. */
  strategy: Strategy
  warnings?: readonly string[]
}

export interface ToolIndex {
  search(query: string, options?: SearchInput): Promise<ListResult>
}

export interface ToolIndexOptions {
  /** Word vectors for offline semantic search; false disables them. @default the bundled vectors */
  vectors?: VectorSource | undefined
  /** Embedding model or function, preferred over word vectors. */
  embedder?: Embedder | EmbedTexts | undefined
  /** How long a search waits for the embedder, in ms. @default 1500 */
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
    // A toolkit id has no dot; duplicate names get distinct refs.
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

/** Searches a list once, without keeping its index. */
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
