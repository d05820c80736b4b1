/** `loadout tools search`: searches the caller's tools or the tools in a catalog file. */
import { readFile } from 'node:fs/promises'
import { HostError } from '@loadout/core'
import { wordVectors } from '@loadout/core/node'
import { parse, STRATEGIES } from '@loadout/core/schema'
import { createToolIndex, readTools, type ToolIndex } from '@loadout/core/search'
import { defineCommand } from 'citty'
import { z } from 'zod'
import { assertOk, connect } from '../client.ts'
import { followStarts } from '../follow-starts.ts'
import { COMMON, configFrom } from '../options.ts'
import { print, table } from '../print.ts'

const limitOption = z.object({ limit: z.coerce.number().int().min(1).max(100) })
const queryFile = z.array(z.union([z.string(), z.looseObject({ query: z.string(), id: z.string().optional() })]))

const search = defineCommand({
  meta: { name: 'search', description: 'Find tools, exactly as a model finds them' },
  args: {
    query: { type: 'positional', description: 'What you want to do; a pattern for regex', required: false },
    catalog: { type: 'string', description: 'A file of tools instead of your own', valueHint: 'tools.json' },
    queries: { type: 'string', description: 'With --catalog: a file of many questions', valueHint: 'queries.json' },
    strategy: { type: 'enum', options: [...STRATEGIES], description: 'How to search' },
    limit: { type: 'string', description: 'How many', default: '10' },
    thread: { type: 'string', description: 'What this thread carries', valueHint: 'id' },
    ...COMMON,
  },
  run: ({ args }) =>
    print(args.json, async () => {
      const { limit } = parse(limitOption, { limit: args.limit })
      const strategy = STRATEGIES.find((value) => value === args.strategy)
      const options = { limit, ...(strategy ? { strategy } : {}) }
      assertCompatible(args)
      if (args.catalog !== undefined) {
        const index = createToolIndex(readTools(await readJson(args.catalog)), { vectors: wordVectors })
        return args.queries === undefined
          ? searchOnce(index, args.query, options)
          : searchMany(index, await readJson(args.queries), options)
      }
      await using connection = await connect(configFrom(args))
      const query = { q: requireQuery(args.query), limit: String(limit), ...(strategy ? { strategy } : {}) }
      const { client } = connection
      // The first search starts servers that were never listed.
      const answer = await followStarts(
        client,
        (line) => void (args.json || console.error(line)),
        () => client.api.tools.$get({ query: { ...query, ...(args.thread ? { threadId: args.thread } : {}) } }),
      )
      await assertOk(answer)
      const data = (await answer.json()) as { tools: FoundTool[]; strategy: string; warnings: string[] }
      return { data, text: formatTools(data) }
    }),
})

export const tools = defineCommand({
  meta: { name: 'tools', description: 'The tools that you carry' },
  subCommands: { search },
})

interface FoundTool {
  ref: string
  score: number
  description?: string | undefined
  reasons: readonly string[]
}

type SearchOptions = Parameters<ToolIndex['search']>[1]

async function searchOnce(index: ToolIndex, query: string | undefined, options: SearchOptions) {
  const { hits, strategy, warnings = [] } = await index.search(requireQuery(query), options)
  const found = hits.map(({ id, ref, score, reasons, tool }) => ({
    id,
    ref,
    name: tool.name,
    toolkit: tool.toolkit,
    score,
    reasons,
    ...(tool.description === undefined ? {} : { description: tool.description }),
  }))
  return { data: { tools: found, strategy, warnings }, text: formatTools({ tools: found, warnings }) }
}

interface Answer {
  id?: string
  query: string
  tools: Array<{ id: string; score: number }>
  /** Why the query failed. */
  error?: string
}

/** Searches one catalog with many queries. The catalog is indexed once, and a failed query does not stop the others. */
async function searchMany(index: ToolIndex, json: unknown, options: SearchOptions) {
  const results: Answer[] = []
  for (const entry of parse(queryFile, json)) {
    const { query, id } = typeof entry === 'string' ? { query: entry, id: undefined } : entry
    results.push({ ...(id === undefined ? {} : { id }), query, ...(await searchOrError(index, query, options)) })
  }
  const rows = results.map(({ query, tools: found, error }, at) => [
    String(at + 1),
    query.slice(0, 60),
    error ?? found.map((hit) => hit.id).join(' '),
  ])
  return { data: { results }, text: table(rows) }
}

async function searchOrError(
  index: ToolIndex,
  query: string,
  options: SearchOptions,
): Promise<Pick<Answer, 'tools' | 'error'>> {
  try {
    const { hits } = await index.search(query, options)
    return { tools: hits.map(({ id, score }) => ({ id, score })) }
  } catch (error) {
    if (!HostError.is(error)) throw error
    return { tools: [], error: error.message }
  }
}

/** Rejects flag combinations that would otherwise be ignored. */
function assertCompatible({ catalog, queries, thread }: { catalog?: string; queries?: string; thread?: string }): void {
  const wrong =
    catalog === undefined && queries !== undefined
      ? ['--queries', 'needs --catalog: a file of tools that are asked for']
      : catalog !== undefined && thread !== undefined
        ? ['--thread', 'goes not with --catalog: a file of tools is no thread']
        : undefined
  if (!wrong) return
  const [path = '', message = ''] = wrong
  throw new HostError('invalid-input', { detail: `${path} ${message}.`, errors: [{ path, message }] })
}

function requireQuery(query: string | undefined): string {
  if (query !== undefined && query.trim() !== '') return query
  throw new HostError('invalid-input', {
    detail: 'There is nothing to search for.',
    action: 'Say it behind the command: loadout tools search "send an e-mail"',
  })
}

async function readJson(path: string): Promise<unknown> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    // The error for a folder has no path.
    throw Object.assign(error, { path })
  })
  try {
    return JSON.parse(text)
  } catch {
    throw new HostError('invalid-input', { detail: `${path} is not JSON.`, action: 'Give a JSON file.' })
  }
}

const MAX_DESCRIPTION_LENGTH = 90

function formatTools({
  tools: found,
  warnings = [],
}: {
  tools: readonly FoundTool[]
  warnings?: readonly string[]
}): string {
  const warningLines = warnings.map((warning) => `Warning: ${warning}`)
  if (found.length === 0) return ['No tool fits.', ...warningLines].join('\n')
  const rows = table(
    found.map(({ ref, score, description = '', reasons }) => [
      score.toFixed(3),
      ref,
      (description.split('\n', 1)[0] ?? '').slice(0, MAX_DESCRIPTION_LENGTH),
      reasons.join('; '),
    ]),
  )
  return [rows, ...warningLines].join('\n')
}
