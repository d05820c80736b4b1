/** Implements `search_tools`: searches the caller's loadout and loads the results. It reaches no server. */
import { HostError } from '../../errors.ts'
import type { Loadouts } from '../../loadout/loadouts.ts'
import type { LoadoutEntry } from '../../schema/toolkit/loadout-entry.ts'
import { DEFAULT_SELECTED } from '../../schema/toolkit/selection.ts'
import { type AllowedCaller, allowedCaller, type Caller } from '../../schema/toolkit/tool.ts'
import { mayBeCalledBy } from '../../search/index/toolkits.ts'
import type { LoadedTools } from '../../search/loaded-tools.ts'
import { formatResults, readSearchInput, schemasText, signatureOf } from '../../search/search-tools.ts'
import type { Searcher, SearchOptions } from '../../search/searcher.ts'
import { keepFound } from '../../search/selection-memory.ts'
import type { Threads } from '../../threads/threads.ts'
import type { CallOutcome, ToolCall } from '../call.ts'
import { failed } from '../call.ts'

export interface SearchToolsDeps {
  loadouts: Pick<Loadouts, 'resolve'>
  searcher: Searcher
  loaded: Pick<LoadedTools, 'load' | 'list'>
  threads: Pick<Threads, 'settings'>
}

export async function searchTools(deps: SearchToolsDeps, call: ToolCall): Promise<CallOutcome> {
  const { userId, threadId } = call
  try {
    const { query, names = [], limit = DEFAULT_SELECTED } = readSearchInput(call.arguments)
    const loadout = call.loadout ?? (await deps.loadouts.resolve({ userId, threadId }))
    const callers = call.callers ?? callersFor(call.caller)
    const tools = loadout.tools.filter((entry) => mayBeCalledBy(entry, callers))
    const requested = byName(tools, names)
    const visible = await findVisible(deps, call, tools)
    const searchText = query?.trim() ?? ''
    const options: SearchOptions = { userId, callers, limit, existing: visible }
    const hits = searchText ? (await deps.searcher.search(loadout.entries, searchText, options)).hits : []
    const byRef = new Map(tools.map((entry) => [entry.ref, entry]))
    const matches = hits.map(({ ref }) => byRef.get(ref)).filter((entry) => entry !== undefined)
    const newTools = matches.filter(({ ref }) => !visible.has(ref))
    const visibleMatches = matches.filter(({ ref }) => visible.has(ref)).slice(0, limit)
    const results = [...new Set([...requested.tools, ...newTools, ...visibleMatches])]
    await keepFound(deps, call, results)
    const text = [
      ...(searchText ? [formatResults(newTools, visibleMatches)] : []),
      ...(names.length > 0 ? [schemasText(requested.tools, requested.unknown)] : []),
    ].join('\n\n')
    const summaries = results.map((entry) => ({ name: entry.modelName, ref: entry.ref, signature: signatureOf(entry) }))
    return { status: 'ok', content: [{ type: 'text', text }], structuredContent: { tools: summaries } }
  } catch (error) {
    return failed(HostError.from(error))
  }
}

/** Workflows may call every tool of the loadout. */
const callersFor = ({ type }: Caller): readonly AllowedCaller[] =>
  type === 'workflow' ? allowedCaller.options : [type]

/** Refs that the model already has: tools that are not deferred, loaded tools, and refs of this step. */
async function findVisible(
  { loaded }: SearchToolsDeps,
  { userId, threadId, visibleRefs = [] }: ToolCall,
  tools: readonly LoadoutEntry[],
): Promise<Set<string>> {
  const all = threadId === undefined ? [] : await loaded.list({ userId, threadId })
  // `visibleRefs` has those that a prompt selected for this model.
  const loadedTools = all.filter(({ byPrompt }) => !byPrompt)
  const always = tools.filter((entry) => !entry.deferred)
  return new Set([...[...always, ...loadedTools].map(({ ref }) => ref), ...visibleRefs])
}

function byName(
  tools: readonly LoadoutEntry[],
  names: readonly string[],
): { tools: LoadoutEntry[]; unknown: string[] } {
  const found = names.map((name) => tools.find((entry) => entry.modelName === name || entry.ref === name))
  return {
    tools: found.filter((entry) => entry !== undefined),
    unknown: names.filter((_, index) => found[index] === undefined),
  }
}
