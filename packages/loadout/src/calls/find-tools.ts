/** Answers `search_tools`: finds in what the caller carries, loads what it found, and reaches no server. */
import { HostError } from '../errors.ts'
import type { Loadouts } from '../loadout/loadouts.ts'
import type { Loadout } from '../loadout/overlay.ts'
import type { Threads } from '../loadout/threads.ts'
import { parse } from '../schema/json.ts'
import type { LoadoutEntry } from '../schema/loadout-entry.ts'
import { USUALLY_FOUND } from '../schema/selection.ts'
import type { LoadedTools } from '../search/loaded-tools.ts'
import { foundText, schemasText, searchToolsInput, signatureOf } from '../search/search-tools.ts'
import type { Searcher } from '../search/searcher.ts'
import type { CallOutcome, ToolCall } from './call.ts'
import { failed } from './resolve.ts'

export interface FindParts {
  loadouts: Pick<Loadouts, 'of'>
  searcher: Searcher
  loaded: Pick<LoadedTools, 'load'>
  threads: Pick<Threads, 'settings'>
}

export async function findTools(parts: FindParts, call: ToolCall): Promise<CallOutcome> {
  const { userId, threadId } = call
  try {
    // Models write null for what they leave out.
    const given = Object.fromEntries(Object.entries(call.arguments).filter(([, value]) => value !== null))
    const { query, names = [], limit = USUALLY_FOUND } = parse(searchToolsInput, given)
    const loadout = call.carried ?? (await parts.loadouts.of({ userId, threadId }))
    const asked = byName(loadout, names)
    const hits = query?.trim() ? (await parts.searcher.search(loadout.entries, query, { userId, limit })).hits : []
    const found = hits.flatMap(({ ref }) => loadout.tools.filter((entry) => entry.ref === ref))
    const all = [...new Set([...asked.tools, ...found])]
    await load(parts, call, all)
    const text = [
      ...(query?.trim() ? [foundText(found)] : []),
      ...(names.length > 0 ? [schemasText(asked.tools, asked.unknown)] : []),
    ].join('\n\n')
    const tools = all.map((entry) => ({ name: entry.modelName, ref: entry.ref, signature: signatureOf(entry) }))
    return { status: 'ok', content: [{ type: 'text', text }], structuredContent: { tools } }
  } catch (error) {
    return failed(HostError.from(error))
  }
}

function byName({ tools }: Loadout, names: readonly string[]): { tools: LoadoutEntry[]; unknown: string[] } {
  const found = names.map((name) => tools.find((entry) => entry.modelName === name || entry.ref === name))
  return {
    tools: found.filter((entry) => entry !== undefined),
    unknown: names.filter((_, index) => found[index] === undefined),
  }
}

/** For the thread, unless it is set not to keep what is found; without a thread, whoever runs the steps keeps it. */
async function load({ loaded, threads }: FindParts, { userId, threadId }: ToolCall, tools: readonly LoadoutEntry[]) {
  const deferred = tools.filter((entry) => entry.deferred)
  if (threadId === undefined || deferred.length === 0) return
  const { keepFound = true } = await threads.settings(userId, threadId)
  if (keepFound)
    await loaded.load(
      { userId, threadId },
      deferred.map(({ ref }) => ref),
    )
}
