/**
 * Converts a selection for OpenAI Responses. Loadout answers `tool_search` with definitions (`client`), or the provider
 * searches namespaces of deferred tools (`server`). A tool name is independent of its namespace.
 */
import { z } from 'zod'
import { type JsonObject, jsonObject } from '../../schema/json.ts'
import type { ProviderProgram } from '../../schema/records/program.ts'
import type { LoadoutEntry } from '../../schema/toolkit/loadout-entry.ts'
import type { Caller } from '../../schema/toolkit/tool.ts'
import { SEARCH_TOOLS } from '../../search/search-tools.ts'
import { LIMITS, limitWarnings } from '../limits.ts'
import {
  type CompletedCall,
  callAll,
  callParts,
  type ModelCall,
  type ModelSelection,
  programOf,
  readArguments,
  SEARCH_NAME,
  searchResultNames,
  withSearchTool,
} from '../model-call.ts'
import { planTools } from '../plan-tools.ts'
import { filePlaceholder, isFailure, type ModelResultPart, partText, resultParts, valueText } from '../result-parts.ts'
import { argumentsForTool, type LostInTool, lostInOpenAI } from '../schema/form-schema.ts'
import { answerOpenAIChat, readOpenAIChat, toOpenAIChat } from './chat.ts'
import { type OpenAIHistory, readHistory, toolsIn } from './history.ts'
import {
  functionOf,
  type Namespace,
  namespacesOf,
  namespacesWithin,
  namespaceTool,
  type OpenAIFunction,
  type OpenAINamespace,
} from './namespaces.ts'

export interface OpenAIOptions {
  /** Who searches: Loadout, or the provider. @default 'client' */
  search?: 'client' | 'server'
  /** Items of the request: tools that they loaded are not sent again and keep their namespace. */
  input?: readonly unknown[]
  /** Whether the provider runs programs that call tools. @default false */
  programs?: boolean
  /** Strict schemas for tools that support them. Pass it to `readOpenAI` and `answerOpenAI` too. @default none */
  schemas?: 'openai-strict' | undefined
}

export type OpenAISearchTool =
  | { type: 'tool_search' }
  | { type: 'tool_search'; execution: 'client'; description: string; parameters: JsonObject }

export interface OpenAIForm {
  tools: Array<OpenAIFunction | OpenAINamespace | OpenAISearchTool | { type: 'programmatic_tool_calling' }>
  /** Limits that are near or exceeded. */
  warnings: string[]
  /** Losses of strict schemas; a schema that would reject valid input is not strict. */
  lost: LostInTool[]
}

export function toOpenAI(
  selection: ModelSelection,
  { search = 'client', input = [], programs = false, schemas }: OpenAIOptions = {},
): OpenAIForm {
  const history = readHistory(input)
  const { selected, search: own } = callParts(selection)
  const needsSearch = own !== undefined || selection.deferred.length > 0 || history.hasSearched
  const formInput = { history, selected, needsSearch, programs, schemas }
  const form = search === 'client' ? clientSearchForm(selection, formInput) : serverSearchForm(selection, formInput)
  return programs ? { ...form, tools: [...form.tools, { type: 'programmatic_tool_calling' }] } : form
}

interface FormInput {
  history: OpenAIHistory
  selected: readonly LoadoutEntry[]
  needsSearch: boolean
  programs: boolean
  schemas: OpenAIOptions['schemas']
}

/** Entries that the form itself needs. */
const reservedFor = ({ needsSearch, programs }: FormInput) => (needsSearch ? 1 : 0) + (programs ? 1 : 0)

function clientSearchForm(selection: ModelSelection, formInput: FormInput): OpenAIForm {
  const { deferred } = selection
  const { history, selected, needsSearch, programs, schemas } = formInput
  const isLoaded = ({ modelName }: LoadoutEntry) => history.loaded.has(modelName) && !history.bare.has(modelName)
  const called = deferred.filter(({ modelName }) => history.loaded.has(modelName) && history.bare.has(modelName))
  const plan = planTools({
    provider: 'openai-responses',
    reserved: reservedFor(formInput),
    canPostpone: needsSearch,
    immediate: [...called, ...selected.filter((entry) => !isLoaded(entry))],
  })
  const { description = '', inputSchema } = SEARCH_TOOLS
  const search = { type: 'tool_search' as const, execution: 'client' as const, description, parameters: inputSchema }
  const { immediate } = plan
  const items: OpenAIForm['tools'] = immediate.map((entry) => functionOf(entry, { programs, schemas }))
  return {
    tools: needsSearch ? withSearchTool(selection, { immediate, items, search }) : items,
    warnings: plan.warnings,
    lost: lostInOpenAI(plan.immediate, schemas),
  }
}

function serverSearchForm(selection: ModelSelection, formInput: FormInput): OpenAIForm {
  const { deferred } = selection
  const { history, selected, needsSearch, programs, schemas } = formInput
  const reserved = reservedFor(formInput)
  const { tools: maxTools } = LIMITS['openai-responses']
  const namespaceByTool = new Map([...history.loaded, ...history.placed])
  // A tool that was loaded alone is in none of our namespaces.
  for (const [name, space] of namespaceByTool) if (space === name) namespaceByTool.delete(name)
  const keepsNamespace = ({ modelName }: LoadoutEntry) => namespaceByTool.has(modelName) && !history.bare.has(modelName)
  const called = deferred.filter(({ modelName }) => history.bare.has(modelName))
  const plan = planTools({
    provider: 'openai-responses',
    reserved,
    canPostpone: needsSearch,
    immediate: [...called, ...selected.filter((entry) => !keepsNamespace(entry))],
  })
  const waiting = [
    ...selected.filter(keepsNamespace),
    ...plan.postponed,
    ...deferred.filter(({ modelName }) => !history.bare.has(modelName)),
  ]
  const room = maxTools - plan.immediate.length - reserved
  const { fitting, dropped } = namespacesWithin(room, namespacesOf(waiting, namespaceByTool))
  const entries = plan.immediate.length + fitting.length + reserved
  const { immediate } = plan
  const items: OpenAIForm['tools'] = immediate.map((entry) => functionOf(entry, { programs, schemas }))
  const search = { type: 'tool_search' as const }
  return {
    tools: [
      ...(needsSearch ? withSearchTool(selection, { immediate, items, search }) : items),
      ...fitting.map((space) => namespaceTool(space, { programs, schemas })),
    ],
    warnings: [
      ...new Set([
        ...plan.warnings,
        ...limitWarnings({ provider: 'openai-responses', entries, names: namesOf(fitting), dropped }),
      ]),
    ],
    lost: lostInOpenAI([...plan.immediate, ...fitting.flatMap((space) => space.entries)], schemas),
  }
}

const namesOf = (spaces: readonly Namespace[]) =>
  spaces.flatMap(({ name, entries }) => [name, ...entries.map(({ modelName }) => modelName)])

export interface OpenAITurn {
  /** Tool calls, and client searches as calls of `search_tools`. */
  calls: ModelCall[]
  /** Programs that the provider runs: `selection.follow(turn.programs)` records them as runs. */
  programs: ProviderProgram[]
  /** Refs that the provider's search loaded: `thread.load(turn.loaded)` keeps them. */
  loaded: string[]
}

const functionCall = z.looseObject({
  type: z.literal('function_call'),
  call_id: z.string().max(500),
  name: z.string().max(500),
  arguments: z.unknown(),
  caller: z.looseObject({ type: z.string().max(100), caller_id: z.string().max(500).optional() }).nullish(),
})
const searchCall = z.looseObject({
  type: z.literal('tool_search_call'),
  execution: z.literal('client'),
  call_id: z.string().max(500),
  arguments: z.unknown(),
})
const startShape = z.looseObject({
  type: z.literal('program'),
  call_id: z.string().min(1).max(500),
  code: z.string().optional(),
})
const endShape = z.looseObject({
  type: z.literal('program_output'),
  call_id: z.string().min(1).max(500),
  result: z.string().optional(),
  status: z.string().max(100),
})
const searchOutput = z.looseObject({ type: z.literal('tool_search_output'), tools: z.array(z.unknown()) })

/** Reads the calls of a response. Send its items back unchanged: a call without its namespace is rejected. */
export function readOpenAI(
  selection: ModelSelection,
  output: readonly unknown[],
  { schemas }: Pick<OpenAIOptions, 'schemas'> = {},
): OpenAITurn {
  const entries = [...selection.tools.map(({ entry }) => entry), ...selection.deferred]
  const loaded = new Set(
    output.flatMap((item) => {
      const read = searchOutput.safeParse(item)
      return read.success ? toolsIn(read.data.tools).map(([name]) => name) : []
    }),
  )
  return {
    calls: output.flatMap((item): ModelCall[] => {
      const functionResult = functionCall.safeParse(item)
      const search = searchCall.safeParse(item)
      const read = functionResult.success ? functionResult.data : search.success ? search.data : undefined
      if (!read) return []
      const name = functionResult.success ? functionResult.data.name : SEARCH_NAME
      const written = readArguments(read.arguments)
      return [
        {
          id: read.call_id,
          name,
          ...written,
          arguments: argumentsForTool(written.arguments, { name, selection, schemas }),
          ...(functionResult.success ? callerOf(functionResult.data.caller) : {}),
          source: jsonObject.parse(item),
        },
      ]
    }),
    programs: programsIn(output),
    loaded: entries.filter(({ modelName }) => loaded.has(modelName)).map(({ ref }) => ref),
  }
}

/** Programs in a response; one that only ends here started in an earlier response. */
function programsIn(output: readonly unknown[]): ProviderProgram[] {
  const programs = new Map<string, ProviderProgram>()
  for (const item of output) {
    const startItem = startShape.safeParse(item)
    if (startItem.success) {
      const { call_id: id, code } = startItem.data
      programs.set(id, programOf({ provider: 'openai', id, code, status: 'running' }))
    }
    const endItem = endShape.safeParse(item)
    if (!endItem.success) continue
    const { call_id: id, result, status } = endItem.data
    const end =
      status === 'completed'
        ? { status: 'completed' as const, output: result }
        : { status: 'failed' as const, output: result, error: `It is ${status}. ${result ?? ''}`.trim() }
    programs.set(id, programOf({ ...programs.get(id), provider: 'openai', id, ...end }))
  }
  return [...programs.values()]
}

function callerOf(caller: { type: string; caller_id?: string | undefined } | null | undefined): { caller?: Caller } {
  if (!caller) return {}
  if (caller.type === 'direct') return { caller: { type: 'direct' } }
  return { caller: { type: 'code', ...(caller.caller_id === undefined ? {} : { toolId: caller.caller_id }) } }
}

export type OpenAIResultContent =
  | { type: 'input_text'; text: string }
  | { type: 'input_image'; detail: 'auto'; image_url: string }
  | { type: 'input_file'; filename: string; file_data: string }

export type OpenAICaller = { type: 'direct' } | { type: 'program'; caller_id: string }

export type OpenAIAnswerItem =
  | { type: 'function_call_output'; call_id: string; output: string | OpenAIResultContent[]; caller?: OpenAICaller }
  | {
      type: 'tool_search_output'
      call_id: string
      execution: 'client'
      status: 'completed' | 'incomplete'
      tools: Array<OpenAIFunction | OpenAINamespace>
    }

/** Items with the results of one turn. `selection` is the one of the request. */
export function answerOpenAI(
  selection: ModelSelection,
  completed: readonly CompletedCall[],
  { programs, schemas }: Pick<OpenAIOptions, 'programs' | 'schemas'> = {},
): OpenAIAnswerItem[] {
  const entries = [...callParts(selection).selected, ...selection.deferred]
  return completed.map(({ call, outcome }) => {
    if (call.source.type === 'tool_search_call') {
      const names = searchResultNames(outcome)
      const found = names.flatMap((name) => entries.filter(({ modelName }) => modelName === name))
      const tools = namespacesOf(found).map((space) => namespaceTool(space, { programs, schemas }))
      const status = isFailure(outcome) ? 'incomplete' : 'completed'
      return { type: 'tool_search_output', call_id: call.id, execution: 'client', status, tools }
    }
    const { caller } = call.source
    const parts = resultParts(outcome)
    const isText = parts.every(({ type }) => type === 'text')
    const content = isText ? partText(parts) : parts.map(contentOf)
    return {
      type: 'function_call_output',
      call_id: call.id,
      // A program reads data, as `output_schema` declares.
      output: call.caller?.type === 'code' && isText ? valueText(outcome) : content,
      // The result of a program call needs the caller of that call.
      ...(caller ? { caller: caller as OpenAICaller } : {}),
    }
  })
}

function contentOf(part: ModelResultPart): OpenAIResultContent {
  if (part.type === 'text') return { type: 'input_text', text: part.text }
  const { mediaType, data, name } = part
  const url = `data:${mediaType};base64,${data}`
  if (mediaType.startsWith('image/')) return { type: 'input_image', detail: 'auto', image_url: url }
  if (mediaType === 'application/pdf') return { type: 'input_file', filename: name ?? 'file.pdf', file_data: url }
  return { type: 'input_text', text: filePlaceholder(part) }
}

export {
  answerOpenAIChat,
  type CompletedCall,
  callAll,
  type ModelCall,
  type ModelSelection,
  readOpenAIChat,
  toOpenAIChat,
}
