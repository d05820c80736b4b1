/**
 * A selection for the AI SDK: what it gives spreads into `generateText` and `streamText`. Every `execute` goes through the
 * selection's own call, so whatever an app wires around it, the pipeline decides. What waits is found by steps with any model,
 * or the way a provider has it.
 */

import { dynamicTool, jsonSchema, type ModelMessage, type Tool, type ToolSet, toolSearch } from 'ai'
import type { ApprovalPreview } from '../calls/approval-request.ts'
import { jsonOf } from '../calls/records/outcome-json.ts'
import type { JsonObject } from '../schema/json.ts'
import type { ApprovalView } from '../schema/records/approval.ts'
import type { LoadoutEntry } from '../schema/toolkit/loadout-entry.ts'
import { MAX_RESULTS, SEARCH_ENTRY, SEARCH_TOOLS } from '../search/search-tools.ts'
import { LIMITS, type LimitedProvider, limitWarnings } from './limits.ts'
import {
  type CallTool,
  descriptionOf,
  type ModelSelection,
  partsOf,
  SEARCH_NAME,
  searchResultNames,
} from './model-call.ts'
import { type ModelOutput, referencedInMessages, toModelOutput, toReferences } from './model-output.ts'
import { namespacesOf, namespacesWithin, namespaceTool } from './openai/namespaces.ts'
import { planTools } from './plan-tools.ts'
import { anthropicOptions, openaiSchemas } from './provider-options.ts'
import { formSchema, type LostInTool, lostIn, lostInOpenAI } from './schema/form-schema.ts'
import { restoreArguments } from './schema/restore-arguments.ts'
import type { SchemaProvider } from './schema/schema-rules.ts'

/** `openai.tools.toolSearch` of `@ai-sdk/openai`. */
export type OpenAIToolSearch = (options: {
  execution?: 'server' | 'client'
  description?: string
  parameters?: Record<string, unknown>
  execute?: (input: { arguments?: unknown }, options: { abortSignal?: AbortSignal }) => Promise<{ tools: never[] }>
}) => Tool

/** How what waits is found. */
export type AISearch =
  /** `search_tools`, with any model. What is found is active from the next step on, within the budget of the selection. */
  | { by: 'steps' }
  /** The SDK's own `toolSearch`, which asks us: any model. What is found is sent with the next step. */
  | { by: 'ai-sdk' }
  /** Anthropic's references: ours finds, or the provider by its own tool (`anthropic.tools.toolSearchBm25_20251119()`). */
  | { by: 'anthropic'; tool?: Tool }
  /** OpenAI's `tool_search`: ours finds, or the provider in namespaces. */
  | { by: 'openai'; toolSearch: OpenAIToolSearch; execution?: 'client' | 'server' }

export interface ToAIOptions {
  /** @default { by: 'steps' } */
  search?: AISearch
  /** Whose limits hold. @default by the search; with any model, none */
  provider?: LimitedProvider
  /** The messages before this prompt: what they refer to at Anthropic must wait to be referred to. */
  messages?: readonly ModelMessage[]
  /**
   * Who asks a person. `wait`: a call that must be approved waits for the answer, wherever that is given. `sdk`: the generation
   * ends with the SDK's approval request; the question is stored beside it, and its answer (`host.approvals.answer`) is what
   * counts when the SDK goes on. @default 'wait'
   */
  approvals?: 'wait' | 'sdk'
  /** Schemas as this provider takes them; what was lost is told. @default as servers wrote them */
  schemas?: SchemaProvider | undefined
  /** Told where a person must answer first, when the call waits. */
  onPending?: (toolCallId: string, approval: ApprovalView) => void
}

/** What `generateText` and `streamText` take. */
export interface AIForm {
  tools: ToolSet
  /** What the first step shows, where what waits is found by steps. */
  activeTools?: string[]
  /** Shows what was found since. */
  prepareStep?: () => { activeTools: string[] }
  /** Our questions, shown by the SDK. Whatever is wired here, the pipeline decides behind `execute`. */
  toolApproval?: (request: { toolCall: { toolName: string; toolCallId: string; input: unknown } }) => Promise<Approval>
  /** How more is found, where there is more. */
  instructions?: string
  /** Limits that are near, and what was left out. */
  warnings: string[]
  /** What the schemas lost, where they were projected. Worked out when it is asked for. */
  readonly lost: LostInTool[]
}

type Approval = undefined | { type: 'user-approval'; reason: string }

/** A selection, and the one door to its tools. */
export type CallableSelection = ModelSelection & {
  call: CallTool
  /** With what was found since. */
  next?: () => ModelSelection
  ask?: (call: { id: string; name: string; arguments: JsonObject }) => Promise<ApprovalPreview>
}

export function toAI(selection: CallableSelection, options: ToAIOptions = {}): AIForm {
  const { search = { by: 'steps' }, messages = [], schemas } = options
  const { provider = providerOf(search) } = options
  const plan = planFor(selection, { search, provider, messages })
  const settings: ToolSettings = { ...options, search, provider, callTool: selection.call }
  const waitingNames = new Set(plan.waiting.map(({ modelName }) => modelName))
  const more = waitingOptions(search, plan.waiting)
  const tools: ToolSet = {}
  for (const entry of plan.immediate) tools[entry.modelName] = toolOf(entry, settings)
  for (const entry of plan.waiting) {
    const definition = toolOf(entry, settings, more(entry))
    tools[entry.modelName] = search.by === 'ai-sdk' ? { ...definition, deferLoading: true } : definition
  }
  const entries = [...plan.immediate, ...plan.waiting]
  if (plan.waiting.length > 0) Object.assign(tools, searchTool({ ...settings, waiting: waitingNames }, entries))
  return {
    tools,
    ...(search.by === 'steps' && plan.waiting.length > 0 ? byStepsOf(selection, { plan, provider }) : {}),
    ...(options.approvals === 'sdk' && selection.ask ? { toolApproval: approvalOf(selection.ask) } : {}),
    ...instructionsFor(search, plan.waiting),
    warnings: plan.warnings,
    get lost() {
      return provider === 'anthropic' ? lostIn(entries, schemas) : lostInOpenAI(entries, schemas)
    },
  }
}

/** What is shown at first, and from then on what was found beside it. */
function byStepsOf(
  selection: CallableSelection,
  { plan, provider }: { plan: Planned; provider: LimitedProvider | undefined },
): Required<Pick<AIForm, 'activeTools' | 'prepareStep'>> {
  const maxTools = provider === undefined ? Number.POSITIVE_INFINITY : LIMITS[provider].tools - 1
  const namesOf = (entries: readonly LoadoutEntry[]) => entries.map(({ modelName }) => modelName)
  const active = (found: readonly string[]) => [
    ...[...namesOf(plan.immediate), ...found].slice(0, maxTools),
    SEARCH_NAME,
  ]
  const before = new Set(namesOf(partsOf(selection).selected))
  const foundSince = () =>
    namesOf(partsOf(selection.next?.() ?? selection).selected).filter((name) => !before.has(name))
  return { activeTools: active([]), prepareStep: () => ({ activeTools: active(foundSince()) }) }
}

/**
 * Only what must be asked is the SDK's to show. What is denied goes on to the pipeline, which refuses it, says why, and has it in
 * the log.
 */
const approvalOf =
  (ask: NonNullable<CallableSelection['ask']>): NonNullable<AIForm['toolApproval']> =>
  async ({ toolCall: { toolName: name, toolCallId: id, input } }) => {
    const { decision, approval } = await ask({ id, name, arguments: input as JsonObject })
    if (decision !== 'ask' || !approval) return undefined
    return { type: 'user-approval', reason: `${approval.reason} (${approval.id})` }
  }

const MAX_NAMED = 30

/** A model that is not told that there is more says that it cannot. */
function instructionsFor({ by }: AISearch, waiting: readonly LoadoutEntry[]): Pick<AIForm, 'instructions'> {
  if (waiting.length === 0 || by === 'anthropic' || by === 'openai') return {}
  const toolkits = [...new Set(waiting.map(({ toolkit }) => toolkit))]
  const toolkitNames = `${toolkits.slice(0, MAX_NAMED).join(', ')}${toolkits.length > MAX_NAMED ? ', …' : ''}`
  return {
    instructions: `There are ${waiting.length} more tools than you are shown, of: ${toolkitNames}. Find them with ${SEARCH_NAME} before you say that something cannot be done; what it finds you can call in your next step.`,
  }
}

const providerOf = ({ by }: AISearch): LimitedProvider | undefined =>
  by === 'anthropic' ? 'anthropic' : by === 'openai' ? 'openai-responses' : undefined

interface Planned {
  immediate: LoadoutEntry[]
  waiting: LoadoutEntry[]
  warnings: string[]
}

function planFor(
  selection: ModelSelection,
  {
    search,
    provider,
    messages,
  }: Required<Pick<ToAIOptions, 'search' | 'messages'>> & { provider: LimitedProvider | undefined },
): Planned {
  const { selected } = partsOf(selection)
  const { deferred } = selection
  const referenced = search.by === 'anthropic' ? referencedInMessages(messages) : new Set<string>()
  const isReferenced = ({ modelName }: LoadoutEntry) => referenced.has(modelName)
  const bound = [...selected, ...deferred].filter(isReferenced)
  const immediate = selected.filter((entry) => !isReferenced(entry))
  const waiting = deferred.filter((entry) => !isReferenced(entry))
  if (provider === undefined) return { immediate, waiting: [...bound, ...waiting], warnings: [] }
  // What waits is in the request itself only where the provider defers it.
  const isSent = search.by === 'anthropic'
  const plan = planTools({
    provider,
    reserved: deferred.length > 0 ? 1 : 0,
    immediate,
    bound,
    ...(isSent ? { waiting } : { canPostpone: true }),
  })
  const deferredEntries = isSent ? plan.waiting : [...plan.postponed, ...waiting]
  if (search.by !== 'openai' || search.execution !== 'server')
    return { immediate: plan.immediate, waiting: [...plan.bound, ...deferredEntries], warnings: plan.warnings }
  const { fitting, dropped } = namespacesWithin(
    LIMITS[provider].tools - plan.immediate.length - 1,
    namespacesOf(deferredEntries),
  )
  const entries = plan.immediate.length + fitting.length + 1
  return {
    immediate: plan.immediate,
    waiting: fitting.flatMap((space) => space.entries),
    warnings: [...new Set([...plan.warnings, ...limitWarnings({ provider, entries, names: [], dropped })])],
  }
}

/** What the provider is told of a tool that waits. */
function waitingOptions(search: AISearch, waiting: readonly LoadoutEntry[]): (entry: LoadoutEntry) => JsonObject {
  // What waits is not cached: the provider refuses both at once.
  if (search.by === 'anthropic')
    return () => ({ anthropic: { deferLoading: true, cacheControl: undefined, cache_control: undefined } })
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

interface ToolSettings extends Pick<ToAIOptions, 'approvals' | 'schemas' | 'onPending'> {
  provider: LimitedProvider | undefined
  search: AISearch
  callTool: CallTool
}

/** The SDK has one word for a strict tool: whose options say so depends on whose model it is. */
function strictnessOf(entry: LoadoutEntry, { provider, schemas }: Pick<ToolSettings, 'provider' | 'schemas'>) {
  if (provider === 'anthropic') return { as: schemas, strict: anthropicOptions(entry).strict === true }
  const as = openaiSchemas(entry, schemas)
  // Of many that wait, few are ever sent: only those that may be strict are looked at before.
  return { as, strict: as === 'openai-strict' && formSchema(entry, as).strict }
}

function toolOf(entry: LoadoutEntry, settings: ToolSettings, more: JsonObject = {}) {
  const { callTool, approvals, onPending } = settings
  const { modelName: name, manifest, ref, toolkit, tool, providerOptions } = entry
  const description = descriptionOf(entry)
  const options = mergeOptions(providerOptions, more)
  const { as, strict } = strictnessOf(entry, settings)
  return dynamicTool({
    ...(description === undefined ? {} : { description }),
    inputSchema: jsonSchema(() => formSchema(entry, as).schema),
    ...(strict ? { strict } : {}),
    // Not sent to the model: for who shows or judges the call.
    metadata: { ref, toolkit, tool, annotations: { ...manifest.annotations } },
    ...(Object.keys(options).length > 0 ? { providerOptions: options as NonNullable<Tool['providerOptions']> } : {}),
    execute: async (input, { abortSignal, toolCallId: id }) => {
      const args =
        as === 'openai-strict' && strict
          ? restoreArguments(manifest.inputSchema, input as JsonObject)
          : (input as JsonObject)
      const outcome = await callTool({
        id,
        name,
        arguments: args,
        ...(approvals === 'sdk' ? { asked: true } : {}),
        ...(abortSignal ? { signal: abortSignal } : {}),
        ...(onPending ? { onPending: (approval) => onPending(id, approval) } : {}),
      })
      return jsonOf(outcome)
    },
    toModelOutput,
  })
}

/** By provider; what waits must be said last. */
function mergeOptions(options: JsonObject = {}, more: JsonObject): JsonObject {
  const asObject = (value: unknown) => (typeof value === 'object' && value !== null ? (value as JsonObject) : {})
  const providers = new Set([...Object.keys(options), ...Object.keys(more)])
  return Object.fromEntries(
    [...providers].map((name) => [name, { ...asObject(options[name]), ...asObject(more[name]) }]),
  )
}

function searchTool(
  settings: ToolSettings & { waiting: ReadonlySet<string> },
  entries: readonly LoadoutEntry[],
): ToolSet {
  const { search, callTool, waiting, schemas, provider } = settings
  const searchDefinition = toolOf(SEARCH_ENTRY, { search, callTool, schemas, provider })
  if (search.by === 'steps') return { [SEARCH_NAME]: searchDefinition }
  if (search.by === 'ai-sdk') {
    const find = async ({ query }: { query: string }) => foundIn(callTool, { query })
    return { [SEARCH_NAME]: toolSearch({ search: find, maxResults: MAX_RESULTS }) }
  }
  if (search.by === 'anthropic') {
    if (search.tool) return { tool_search: search.tool }
    const toOutput = ({ output }: { output: unknown }): ModelOutput => toReferences(output, waiting)
    return { [SEARCH_NAME]: { ...searchDefinition, toModelOutput: toOutput } }
  }
  if (search.execution === 'server') return { tool_search: search.toolSearch({}) }
  const { description = '', inputSchema: parameters } = SEARCH_TOOLS
  return {
    tool_search: search.toolSearch({
      execution: 'client',
      description,
      parameters,
      async execute({ arguments: args }, { abortSignal: signal }) {
        const names = await foundIn(callTool, args as JsonObject, signal)
        const found = names.flatMap((name) => entries.filter(({ modelName }) => modelName === name))
        return { tools: namespacesOf(found).map((space) => namespaceTool(space)) as never[] }
      },
    }),
  }
}

/** A search that failed is an error that the model reads, not a search that found nothing. */
async function foundIn(callTool: CallTool, args: JsonObject, signal?: AbortSignal): Promise<string[]> {
  const outcome = await callTool({ name: SEARCH_NAME, arguments: args, ...(signal ? { signal } : {}) })
  if ('error' in outcome) throw outcome.error
  return searchResultNames(outcome)
}
