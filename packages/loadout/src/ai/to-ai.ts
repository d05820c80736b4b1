/**
 * Converts a selection for the AI SDK 6 and 7; spread the result into `generateText`, `streamText` or `ToolLoopAgent`.
 * Every `execute` goes through the call pipeline, so an app wrapper cannot bypass policy. Deferred tools are found by
 * steps with any model, or by the provider's own search.
 */

import { dynamicTool, jsonSchema, type ModelMessage, type Tool, type ToolSet } from 'ai'
import type { ApprovalPreview } from '../calls/approval-request.ts'
import { outcomeToJson } from '../calls/records/outcome-json.ts'
import type { JsonObject } from '../schema/json.ts'
import type { ApprovalView } from '../schema/records/approval.ts'
import type { LoadoutEntry } from '../schema/toolkit/loadout-entry.ts'
import { MAX_RESULTS, SEARCH_ENTRY, SEARCH_TOOLS } from '../search/search-tools.ts'
import { instructionsFor } from './instructions.ts'
import { LIMITS, type LimitedProvider, limitWarnings } from './limits.ts'
import {
  type CallTool,
  callParts,
  descriptionOf,
  type ModelSelection,
  SEARCH_NAME,
  searchResultNames,
  withSearchTool,
} from './model-call.ts'
import { type ModelOutput, referencedInMessages, toModelOutput, toReferences } from './model-output.ts'
import { namespacesOf, namespacesWithin, namespaceTool } from './openai/namespaces.ts'
import { planTools } from './plan-tools.ts'
import { anthropicOptions, openaiSchemas } from './provider-options.ts'
import { formSchema, type LostInTool, lostIn, lostInOpenAI } from './schema/form-schema.ts'
import { restoreArguments } from './schema/restore-arguments.ts'
import type { SchemaProvider } from './schema/schema-rules.ts'
import { isVersion6, sdkToolSearch } from './sdk-version.ts'

export { type AnswerOptions, answerFromSdk, type SdkAnswer } from './answer-from-sdk.ts'

/** `openai.tools.toolSearch` of `@ai-sdk/openai`. */
export type OpenAIToolSearch = (options: {
  execution?: 'server' | 'client'
  description?: string
  parameters?: Record<string, unknown>
  execute?: (input: { arguments?: unknown }, options: { abortSignal?: AbortSignal }) => Promise<{ tools: never[] }>
}) => Tool

/** How deferred tools are found. */
export type AISearch =
  /**
   * `search_tools`, with any model. Hits are active from the next step on, within the token budget of the selection.
   */
  | { by: 'steps' }
  /** `toolSearch` of the SDK 7, backed by our search, with any model. Hits are sent with the next step. */
  | { by: 'ai-sdk' }
  /** Anthropic's references: our search, or the provider's tool (`anthropic.tools.toolSearchBm25_20251119()`). */
  | { by: 'anthropic'; tool?: Tool }
  /** OpenAI's `tool_search`: our search, or the provider's in namespaces. */
  | { by: 'openai'; toolSearch: OpenAIToolSearch; execution?: 'client' | 'server' }

export interface ToAIOptions {
  /** @default { by: 'steps' } */
  search?: AISearch
  /** Provider whose limits apply. @default by the search; none with any model */
  provider?: LimitedProvider
  /** Previous messages: tools that they reference at Anthropic must stay deferred. */
  messages?: readonly ModelMessage[]
  /**
   * Who shows approval requests. `wait`: a call waits until its request is answered. `sdk`: the generation ends with
   * the SDK's approval request; the stored request and its answer (`answerFromSdk`, or `ann.approvals`) decide when
   * the SDK continues. @default 'wait'
   */
  approvals?: 'wait' | 'sdk'
  /** Projects schemas for this provider; losses are reported. @default schemas as servers wrote them */
  schemas?: SchemaProvider | undefined
  /** Called when a call waits for approval. */
  onPending?: (toolCallId: string, approval: ApprovalView) => void
}

/** Options of `generateText`, `streamText` and `ToolLoopAgent`. */
export interface AIForm {
  tools: ToolSet
  /** Active tools of the first step, when deferred tools are found by steps. */
  activeTools?: string[]
  /** Order of the tools in requests of the SDK 7. */
  toolOrder?: string[]
  /** Activates tools that were found since, and sends them after the others. */
  prepareStep?: () => { activeTools: string[]; toolOrder: string[] }
  /** Shows our approval requests in the SDK 7; in the SDK 6 the tools have `needsApproval`. `execute` still decides. */
  toolApproval?: (request: { toolCall: { toolName: string; toolCallId: string; input: unknown } }) => Promise<Approval>
  /** Tells the model how to find more tools, when there are more. */
  instructions?: string
  /** The same for `generateText` and `streamText` of the SDK 6, which have no `instructions`. */
  system?: string
  /** Approval requests of this form by tool call id, when the SDK shows them. */
  readonly approvals: ReadonlyMap<string, ApprovalView>
  /** Limits that are near or exceeded. */
  warnings: string[]
  /** Losses of projected schemas. Computed on access. */
  readonly lost: LostInTool[]
}

type Approval = undefined | { type: 'user-approval'; reason: string }

/** A selection with its call function. */
export type CallableSelection = ModelSelection & {
  call: CallTool
  /** The selection with tools that were found since. */
  next?: () => ModelSelection
  ask?: (call: { id: string; name: string; arguments: JsonObject }) => Promise<ApprovalPreview>
}

export function toAI(selection: CallableSelection, options: ToAIOptions = {}): AIForm {
  const { search = { by: 'steps' }, messages = [], schemas } = options
  const { provider = providerOf(search) } = options
  const plan = planFor(selection, { search, provider, messages })
  const approvals = new Map<string, ApprovalView>()
  const ask = options.approvals === 'sdk' ? askFor(selection, { approvals, onPending: options.onPending }) : undefined
  const settings: ToolSettings = { ...options, search, provider, ask, invokeTool: selection.call }
  const waitingNames = new Set(plan.waiting.map(({ modelName }) => modelName))
  const more = waitingOptions(search, plan.waiting)
  const entries = [...plan.immediate, ...plan.waiting]
  const items = plan.immediate.map((entry): NamedTool => [entry.modelName, toolOf(entry, settings)])
  const immediate =
    plan.waiting.length > 0
      ? withSearchTool(selection, {
          immediate: plan.immediate,
          items,
          search: searchTool({ ...settings, waiting: waitingNames }, entries),
        })
      : items
  const waiting = plan.waiting.map((entry): NamedTool => {
    const definition = toolOf(entry, settings, more(entry))
    return [entry.modelName, search.by === 'ai-sdk' ? { ...definition, deferLoading: true } : definition]
  })
  return {
    tools: Object.fromEntries([...immediate, ...waiting]),
    ...(search.by === 'steps' && plan.waiting.length > 0 ? byStepsOf(selection, { plan, provider }) : {}),
    ...(ask ? { toolApproval: approvalOf(ask) } : {}),
    ...hintFor(search, plan.waiting),
    approvals,
    warnings: plan.warnings,
    get lost() {
      return provider === 'anthropic' ? lostIn(entries, schemas) : lostInOpenAI(entries, schemas)
    },
  }
}

/** Active tools of the first step, and later also those that were found. */
function byStepsOf(
  selection: CallableSelection,
  { plan, provider }: { plan: Planned; provider: LimitedProvider | undefined },
): Required<Pick<AIForm, 'activeTools' | 'toolOrder' | 'prepareStep'>> {
  const maxTools = provider === undefined ? Number.POSITIVE_INFINITY : LIMITS[provider].tools - 1
  const namesOf = (entries: readonly LoadoutEntry[]) => entries.map(({ modelName }) => modelName)
  const active = (found: readonly string[]) => [
    ...[...namesOf(plan.immediate), ...found].slice(0, maxTools),
    SEARCH_NAME,
  ]
  // The SDK sends tools in the order of the tool set, where found tools are among the deferred ones.
  const immediate = withSearchTool(selection, {
    immediate: plan.immediate,
    items: namesOf(plan.immediate),
    search: SEARCH_NAME,
  })
  const order = (names: readonly string[]) => [...new Set([...immediate, ...names])]
  const before = new Set(namesOf(callParts(selection).selected))
  const foundSince = () =>
    namesOf(callParts(selection.next?.() ?? selection).selected).filter((name) => !before.has(name))
  const first = active([])
  const step = (activeTools: string[]) => ({ activeTools, toolOrder: order(activeTools) })
  return { ...step(first), prepareStep: () => step(active(foundSince())) }
}

/** The approval request that a call needs, if it needs one. */
type Ask = (call: { id: string; name: string; arguments: JsonObject }) => Promise<ApprovalView | undefined>

/** The SDK shows only calls that need approval. Denied calls go to the pipeline, which rejects and logs them. */
function askFor(
  selection: CallableSelection,
  { approvals, onPending }: { approvals: Map<string, ApprovalView>; onPending: ToAIOptions['onPending'] },
): Ask | undefined {
  if (!selection.ask) return undefined
  const preview = selection.ask
  return async (call) => {
    const { decision, approval } = await preview(call)
    if (decision !== 'ask' || !approval) return undefined
    if (!approvals.has(call.id)) onPending?.(call.id, approval)
    approvals.set(call.id, approval)
    return approval
  }
}

const approvalOf =
  (ask: Ask): NonNullable<AIForm['toolApproval']> =>
  async ({ toolCall: { toolName: name, toolCallId: id, input } }) => {
    const approval = await ask({ id, name, arguments: input as JsonObject })
    return approval && { type: 'user-approval', reason: `${approval.reason} (${approval.id})` }
  }

/**
 * For the SDK 6; in the SDK 7 `toolApproval` takes precedence. Version 6 asks again about a call that was approved, and
 * makes it only if it still needs approval.
 */
const needsApprovalBy =
  (ask: Ask, name: string): NonNullable<Tool['needsApproval']> =>
  async (input: unknown, { toolCallId: id, messages }: { toolCallId: string; messages: readonly ModelMessage[] }) =>
    wasAsked(messages, id) || (await ask({ id, name, arguments: input as JsonObject })) !== undefined

const wasAsked = (messages: readonly ModelMessage[], toolCallId: string) =>
  messages.some(
    ({ content }) =>
      Array.isArray(content) &&
      content.some((part) => part.type === 'tool-approval-request' && part.toolCallId === toolCallId),
  )

/** The provider's search tools need no hint. */
function hintFor({ by }: AISearch, waiting: readonly LoadoutEntry[]): Pick<AIForm, 'instructions' | 'system'> {
  if (by === 'anthropic' || by === 'openai') return {}
  const { instructions } = instructionsFor(waiting)
  if (instructions === undefined) return {}
  return isVersion6 ? { instructions, system: instructions } : { instructions }
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
  const { selected } = callParts(selection)
  const { deferred } = selection
  const referenced = search.by === 'anthropic' ? referencedInMessages(messages) : new Set<string>()
  const isReferenced = ({ modelName }: LoadoutEntry) => referenced.has(modelName)
  const bound = [...selected, ...deferred].filter(isReferenced)
  const immediate = selected.filter((entry) => !isReferenced(entry))
  const waiting = deferred.filter((entry) => !isReferenced(entry))
  if (provider === undefined) return { immediate, waiting: [...bound, ...waiting], warnings: [] }
  // Deferred tools are part of the request only when the provider defers them.
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

/** Provider options of a deferred tool. */
function waitingOptions(search: AISearch, waiting: readonly LoadoutEntry[]): (entry: LoadoutEntry) => JsonObject {
  // The provider rejects caching of deferred tools.
  if (search.by === 'anthropic')
    return () => ({ anthropic: { deferLoading: true, cacheControl: undefined, cache_control: undefined } })
  if (search.by !== 'openai') return () => ({})
  // The definition is sent when the tool is found.
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
  invokeTool: CallTool
  ask?: Ask | undefined
}

/** The SDK has one `strict` flag: the provider decides whose options set it. */
function strictnessOf(entry: LoadoutEntry, { provider, schemas }: Pick<ToolSettings, 'provider' | 'schemas'>) {
  if (provider === 'anthropic') return { as: schemas, strict: anthropicOptions(entry).strict === true }
  const as = openaiSchemas(entry, schemas)
  // Few deferred tools are ever sent, so only those that may be strict are projected here.
  return { as, strict: as === 'openai-strict' && formSchema(entry, as).strict }
}

function toolOf(entry: LoadoutEntry, settings: ToolSettings, more: JsonObject = {}) {
  const { invokeTool, approvals, onPending, ask } = settings
  const { modelName: name, manifest, ref, toolkit, tool, providerOptions } = entry
  const description = descriptionOf(entry)
  const options = mergeOptions(providerOptions, more)
  const { as, strict } = strictnessOf(entry, settings)
  return dynamicTool({
    ...(description === undefined ? {} : { description }),
    inputSchema: jsonSchema(() => formSchema(entry, as).schema),
    ...(strict ? { strict } : {}),
    // Metadata is not sent to the model; it is for apps that show or judge the call.
    metadata: { ref, toolkit, tool, annotations: { ...manifest.annotations } },
    ...(Object.keys(options).length > 0 ? { providerOptions: options as NonNullable<Tool['providerOptions']> } : {}),
    ...(ask ? { needsApproval: needsApprovalBy(ask, name) } : {}),
    execute: async (input, { abortSignal, toolCallId: id }) => {
      const args =
        as === 'openai-strict' && strict
          ? restoreArguments(manifest.inputSchema, input as JsonObject)
          : (input as JsonObject)
      const outcome = await invokeTool({
        id,
        name,
        arguments: args,
        ...(approvals === 'sdk' ? { asked: true } : {}),
        ...(abortSignal ? { signal: abortSignal } : {}),
        ...(onPending && approvals !== 'sdk' ? { onPending: (approval) => onPending(id, approval) } : {}),
      })
      return outcomeToJson(outcome)
    },
    toModelOutput,
  })
}

/** Merges by provider; deferred options take precedence. */
function mergeOptions(options: JsonObject = {}, more: JsonObject): JsonObject {
  const asObject = (value: unknown) => (typeof value === 'object' && value !== null ? (value as JsonObject) : {})
  const providers = new Set([...Object.keys(options), ...Object.keys(more)])
  return Object.fromEntries(
    [...providers].map((name) => [name, { ...asObject(options[name]), ...asObject(more[name]) }]),
  )
}

type NamedTool = [name: string, tool: Tool]

function searchTool(
  settings: ToolSettings & { waiting: ReadonlySet<string> },
  entries: readonly LoadoutEntry[],
): NamedTool {
  const { search, invokeTool, waiting, schemas, provider } = settings
  const searchDefinition = toolOf(SEARCH_ENTRY, { search, invokeTool, schemas, provider })
  if (search.by === 'steps') return [SEARCH_NAME, searchDefinition]
  if (search.by === 'ai-sdk') {
    const find = async ({ query }: { query: string }) => foundIn(invokeTool, { query })
    return [SEARCH_NAME, sdkToolSearch()({ search: find, maxResults: MAX_RESULTS })]
  }
  if (search.by === 'anthropic') {
    if (search.tool) return ['tool_search', search.tool]
    const toOutput = ({ output }: { output: unknown }): ModelOutput => toReferences(output, waiting)
    return [SEARCH_NAME, { ...searchDefinition, toModelOutput: toOutput }]
  }
  if (search.execution === 'server') return ['tool_search', search.toolSearch({})]
  const { description = '', inputSchema: parameters } = SEARCH_TOOLS
  const tool = search.toolSearch({
    execution: 'client',
    description,
    parameters,
    async execute({ arguments: args }, { abortSignal: signal }) {
      const names = await foundIn(invokeTool, args as JsonObject, signal)
      const found = names.flatMap((name) => entries.filter(({ modelName }) => modelName === name))
      return { tools: namespacesOf(found).map((space) => namespaceTool(space)) as never[] }
    },
  })
  return ['tool_search', tool]
}

/** A failed search is an error for the model, not an empty result. */
async function foundIn(invokeTool: CallTool, args: JsonObject, signal?: AbortSignal): Promise<string[]> {
  const outcome = await invokeTool({ name: SEARCH_NAME, arguments: args, ...(signal ? { signal } : {}) })
  if ('error' in outcome) throw outcome.error
  return searchResultNames(outcome)
}
