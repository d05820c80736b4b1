/**
 * A selection for the AI SDK. Every `execute` goes through the selection's own call, so whatever an app wires around it, the
 * pipeline decides. What waits is found by the SDK's `toolSearch` with any model, or the way a provider has it.
 */
import { dynamicTool, jsonSchema, type ModelMessage, type Tool, type ToolSet, toolSearch } from 'ai'
import { jsonOf } from '../calls/outcome-json.ts'
import type { JsonObject } from '../schema/json.ts'
import type { LoadoutEntry } from '../schema/loadout-entry.ts'
import { MOST_FOUND, SEARCH_ENTRY, SEARCH_TOOLS } from '../search/search-tools.ts'
import { type ModelOutput, referencedInMessages, toModelOutput, toReferences } from './ai-output.ts'
import { LIMITS, type LimitedProvider, limitWarnings } from './limits.ts'
import { type CallDoor, descriptionOf, foundNames, type ModelSelection, partsOf, SEARCH_NAME } from './model-call.ts'
import { namespacesOf, namespacesWithin, namespaceTool } from './openai-namespaces.ts'
import { planTools } from './plan-tools.ts'

/** `openai.tools.toolSearch` of `@ai-sdk/openai`. */
export type OpenAIToolSearch = (options: {
  execution?: 'server' | 'client'
  description?: string
  parameters?: Record<string, unknown>
  execute?: (input: { arguments?: unknown }, options: { abortSignal?: AbortSignal }) => Promise<{ tools: never[] }>
}) => Tool

/** How what waits is found. */
export type AISearch =
  /** The SDK's own `toolSearch`, which asks us: any model. What is found is sent with the next step. */
  | { by: 'ai-sdk' }
  /** Anthropic's references: ours finds, or the provider by its own tool (`anthropic.tools.toolSearchBm25_20251119()`). */
  | { by: 'anthropic'; tool?: Tool }
  /** OpenAI's `tool_search`: ours finds, or the provider in namespaces. */
  | { by: 'openai'; toolSearch: OpenAIToolSearch; execution?: 'client' | 'server' }

export interface ToAIOptions {
  /** @default { by: 'ai-sdk' } */
  search?: AISearch
  /** Whose limits hold. @default by the search; with the SDK's own, none */
  provider?: LimitedProvider
  /** The messages before this prompt: what they refer to at Anthropic must wait to be referred to. */
  messages?: readonly ModelMessage[]
}

export interface AIForm {
  tools: ToolSet
  /** Limits that are near, and what was left out. */
  warnings: string[]
}

/** A selection, and the one door to its tools. */
export type CallableSelection = ModelSelection & { call: CallDoor }

export function toAI(
  selection: CallableSelection,
  { search = { by: 'ai-sdk' }, provider = providerOf(search), messages = [] }: ToAIOptions = {},
): AIForm {
  const plan = planFor(selection, { search, provider, messages })
  const how = { search, door: selection.call, waiting: new Set(plan.waiting.map(({ modelName }) => modelName)) }
  const options = waitingOptions(search, plan.waiting)
  const tools: ToolSet = {}
  for (const entry of plan.shown) tools[entry.modelName] = toolOf(entry, selection.call)
  for (const entry of plan.waiting) {
    const one = toolOf(entry, selection.call, options(entry))
    tools[entry.modelName] = search.by === 'ai-sdk' ? { ...one, deferLoading: true } : one
  }
  if (plan.waiting.length > 0) Object.assign(tools, searchTool(how, [...plan.shown, ...plan.waiting]))
  return { tools, warnings: plan.warnings }
}

const providerOf = ({ by }: AISearch): LimitedProvider | undefined =>
  by === 'anthropic' ? 'anthropic' : by === 'openai' ? 'openai-responses' : undefined

interface Planned {
  shown: LoadoutEntry[]
  waiting: LoadoutEntry[]
  warnings: string[]
}

function planFor(
  selection: ModelSelection,
  { search, provider, messages }: Required<Omit<ToAIOptions, 'provider'>> & Pick<ToAIOptions, 'provider'>,
): Planned {
  const { selected } = partsOf(selection)
  const { deferred } = selection
  const referenced = search.by === 'anthropic' ? referencedInMessages(messages) : new Set<string>()
  const isReferenced = ({ modelName }: LoadoutEntry) => referenced.has(modelName)
  const bound = [...selected, ...deferred].filter(isReferenced)
  const shown = selected.filter((entry) => !isReferenced(entry))
  const waiting = deferred.filter((entry) => !isReferenced(entry))
  if (provider === undefined) return { shown, waiting: [...bound, ...waiting], warnings: [] }
  // What waits is in the request itself only where the provider defers it.
  const isSent = search.by === 'anthropic'
  const plan = planTools({
    ...{ provider, reserved: deferred.length > 0 ? 1 : 0, shown, bound },
    ...(isSent ? { waiting } : { canPostpone: true }),
  })
  const left = isSent ? plan.waiting : [...plan.postponed, ...waiting]
  if (search.by !== 'openai' || search.execution !== 'server')
    return { shown: plan.shown, waiting: [...plan.bound, ...left], warnings: plan.warnings }
  const { kept, dropped } = namespacesWithin(LIMITS[provider].tools - plan.shown.length - 1, namespacesOf(left))
  const entries = plan.shown.length + kept.length + 1
  return {
    shown: plan.shown,
    waiting: kept.flatMap((space) => space.entries),
    warnings: [...new Set([...plan.warnings, ...limitWarnings({ provider, entries, names: [], dropped })])],
  }
}

/** What the provider is told of a tool that waits. */
function waitingOptions(search: AISearch, waiting: readonly LoadoutEntry[]): (entry: LoadoutEntry) => JsonObject {
  if (search.by === 'anthropic') return () => ({ anthropic: { deferLoading: true } })
  if (search.by !== 'openai') return () => ({})
  // We bring its definition along when it is found.
  if (search.execution !== 'server') return () => ({ openai: { omitFromRequestTools: true } })
  const spaces = new Map(
    namespacesOf(waiting).flatMap(({ name, description, entries }) =>
      entries.map((entry) => [entry.modelName, { name, description }] as const),
    ),
  )
  return ({ modelName }) => ({ openai: { deferLoading: true, namespace: spaces.get(modelName) } })
}

function toolOf(entry: LoadoutEntry, door: CallDoor, more: JsonObject = {}) {
  const { modelName: name, manifest, ref, toolkit, tool, providerOptions } = entry
  const description = descriptionOf(entry)
  const options = merged(providerOptions, more)
  return dynamicTool({
    ...(description === undefined ? {} : { description }),
    inputSchema: jsonSchema(manifest.inputSchema),
    // Not sent to the model: for who shows or judges the call.
    metadata: { ref, toolkit, tool, annotations: { ...manifest.annotations } },
    ...(Object.keys(options).length > 0 ? { providerOptions: options as NonNullable<Tool['providerOptions']> } : {}),
    execute: async (input, { abortSignal }) =>
      jsonOf(await door({ name, arguments: input as JsonObject, ...(abortSignal ? { signal: abortSignal } : {}) })),
    toModelOutput,
  })
}

/** By provider; what waits must be said last. */
function merged(options: JsonObject = {}, more: JsonObject): JsonObject {
  const of = (value: unknown) => (typeof value === 'object' && value !== null ? (value as JsonObject) : {})
  const providers = new Set([...Object.keys(options), ...Object.keys(more)])
  return Object.fromEntries([...providers].map((name) => [name, { ...of(options[name]), ...of(more[name]) }]))
}

interface Searching {
  search: AISearch
  door: CallDoor
  waiting: ReadonlySet<string>
}

function searchTool({ search, door, waiting }: Searching, all: readonly LoadoutEntry[]): ToolSet {
  if (search.by === 'ai-sdk') {
    const find = async ({ query }: { query: string }) => foundIn(door, { query })
    return { [SEARCH_NAME]: toolSearch({ search: find, maxResults: MOST_FOUND }) }
  }
  if (search.by === 'anthropic') {
    if (search.tool) return { tool_search: search.tool }
    const toOutput = ({ output }: { output: unknown }): ModelOutput => toReferences(output, waiting)
    return { [SEARCH_NAME]: { ...toolOf(SEARCH_ENTRY, door), toModelOutput: toOutput } }
  }
  if (search.execution === 'server') return { tool_search: search.toolSearch({}) }
  const { description = '', inputSchema: parameters } = SEARCH_TOOLS
  return {
    tool_search: search.toolSearch({
      ...{ execution: 'client', description, parameters },
      async execute({ arguments: args }, { abortSignal: signal }) {
        const names = await foundIn(door, args as JsonObject, signal)
        const found = names.flatMap((name) => all.filter(({ modelName }) => modelName === name))
        return { tools: namespacesOf(found).map((space) => namespaceTool(space)) as never[] }
      },
    }),
  }
}

/** A search that failed is an error that the model reads, not a search that found nothing. */
async function foundIn(door: CallDoor, args: JsonObject, signal?: AbortSignal): Promise<string[]> {
  const outcome = await door({ name: SEARCH_NAME, arguments: args, ...(signal ? { signal } : {}) })
  if ('error' in outcome) throw outcome.error
  return foundNames(outcome)
}
