/**
 * Built-in tools of the host: `read_result` (in every selection that has tools, because any result may be truncated,
 * and in the loadout once a stored result exists), `search_tools` (present when tools are deferred) and `run_code` (if the host runs programs). They only reach data of their user, so no pin, loadout or
 * policy applies. Their calls are limited and logged like all others.
 */
import type { CatalogTool } from '../../catalog/catalog.ts'
import { BUILT_IN_NAMES, BUILT_IN_TOOLKIT, builtInEntry } from '../../loadout/built-in-entry.ts'
import type { Loadout } from '../../loadout/overlay.ts'
import { APP_OWNER } from '../../schema/ids.ts'
import type { LoadoutEntry } from '../../schema/toolkit/loadout-entry.ts'
import type { ToolManifest } from '../../schema/toolkit/tool.ts'
import { type Toolkit, toolkitOptions } from '../../schema/toolkit/toolkit.ts'
import { SEARCH_TOOLS } from '../../search/search-tools.ts'
import { createEphemeralToolkit } from '../../toolkits/ephemeral-toolkit.ts'
import type { CallHandler, CallOutcome, ResolvedCall, ToolCall } from '../call.ts'
import { READ_RESULT, readResult } from '../results/read-result.ts'
import type { Results } from '../results/results.ts'
import { type SearchToolsDeps, searchTools } from './search-tools.ts'

const toolkitOfTools = (): Toolkit => ({
  id: BUILT_IN_TOOLKIT,
  name: 'Loadout',
  enabled: true,
  server: { type: 'custom', tools: [] },
  ...toolkitOptions.parse({}),
})

export const READ_ENTRY = builtInEntry(READ_RESULT, 'The host adds it: it reads results that were truncated.')

export const isBuiltIn = ({ toolkit: id, tool }: Pick<ToolCall, 'toolkit' | 'tool'>) =>
  id === BUILT_IN_TOOLKIT && BUILT_IN_NAMES.has(tool)

/** Finds a built-in tool by its model name, in whichever loadout. */
export const builtInByName = (name: string) =>
  BUILT_IN_NAMES.has(name) ? { toolkit: BUILT_IN_TOOLKIT, tool: name } : undefined

export interface BuiltInTool {
  manifest: ToolManifest
  answer(call: ToolCall): Promise<CallOutcome>
  /** The path of its calls: `program` stores large results. @default 'built-in' */
  path?: 'built-in' | 'program' | undefined
}

export interface BuiltInDeps extends SearchToolsDeps {
  results: Results
  /** Builds the stages that a call of a built-in tool passes before its answer. */
  path(name: 'built-in' | 'program', answer: CallHandler<ResolvedCall>): CallHandler<ResolvedCall>
  /** Optional built-in tools, resolved lazily. */
  more(): readonly BuiltInTool[]
}

/** Handles calls of built-in tools and passes all others on. */
export function withBuiltInTools(deps: BuiltInDeps) {
  const builtInToolkit = createEphemeralToolkit(toolkitOfTools(), { userId: APP_OWNER, tier: 'app' })
  const standardTools: BuiltInTool[] = [
    { manifest: READ_RESULT, answer: ({ userId, arguments: input }) => readResult(deps.results, userId, input) },
    { manifest: SEARCH_TOOLS, answer: (call) => searchTools(deps, call) },
  ]
  const callBuiltIn = async (call: ToolCall, { manifest, answer, path = 'built-in' }: BuiltInTool) => {
    const stored = await builtInToolkit
    const found: CatalogTool = { uscoId: stored.uscoId, manifest, pin: '' }
    call.notes.found = { toolkit: BUILT_IN_TOOLKIT, tool: manifest.name }
    return deps.path(path, answer)({ ...call, stored, found })
  }
  return (next: CallHandler): CallHandler =>
    (call) => {
      if (!isBuiltIn(call) || call.inlineToolkits?.has(BUILT_IN_TOOLKIT)) return next(call)
      const tool = [...standardTools, ...deps.more()].find(({ manifest }) => manifest.name === call.tool)
      return tool ? callBuiltIn(call, tool) : next(call)
    }
}

/** Built-in tools of a selection. A truncated result of another tool names `read_result`. */
export const ownEntries = ({ tools }: Loadout): LoadoutEntry[] => (tools.length > 0 ? [READ_ENTRY] : [])

/** Adds `read_result` to a loadout. Limits and lists do not remove it. */
export function withReadResult(loadout: Loadout, hasAny: boolean): Loadout {
  if (!hasAny || loadout.entries.some(({ ref }) => ref === READ_ENTRY.ref)) return loadout
  return {
    ...loadout,
    tools: [...loadout.tools, READ_ENTRY],
    entries: [...loadout.entries, READ_ENTRY],
    tokens: loadout.tokens + READ_ENTRY.tokens,
  }
}
