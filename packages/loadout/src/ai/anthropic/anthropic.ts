/**
 * Converts a selection for Anthropic Messages. Deferred tools are sent with `defer_loading` and cost no context;
 * `search_tools` returns references to them, or the provider searches. Pure.
 */

import { z } from 'zod'
import { type JsonObject, jsonObject } from '../../schema/json.ts'
import type { ProviderProgram } from '../../schema/records/program.ts'
import type { LoadoutEntry } from '../../schema/toolkit/loadout-entry.ts'
import type { Caller } from '../../schema/toolkit/tool.ts'
import { SEARCH_ENTRY } from '../../search/search-tools.ts'
import { assertSearch } from '../assert-search.ts'
import {
  type CompletedCall,
  callAll,
  callParts,
  descriptionOf,
  type ModelCall,
  type ModelSelection,
  readArguments,
  SEARCH_NAME,
  searchResultNames,
  withSearchTool,
} from '../model-call.ts'
import { planTools } from '../plan-tools.ts'
import { type AnthropicToolOptions, anthropicOptions, withinBreakpoints } from '../provider-options.ts'
import { filePlaceholder, isFailure, type ModelResultPart, resultParts, valueText } from '../result-parts.ts'
import { formSchema, type LostInTool, lostIn } from '../schema/form-schema.ts'
import { type AnthropicMessage, loadedBy, referencedIn, searchFailure, withoutLost } from './history.ts'
import {
  type AnthropicCaller,
  type AnthropicCodeTool,
  type AnthropicCodeVersion,
  type AnthropicToolChoice,
  anthropicCallers,
  containerIn,
  programsIn,
  programWarnings,
} from './programs.ts'

export interface AnthropicOptions {
  /** Who searches: Loadout with `search_tools`, or the provider. @default 'client' */
  search?: 'client' | 'bm25' | 'regex'
  /**
   * Messages of the request. Referenced tools keep their definitions. With client search no other deferred tool is
   * sent; without messages all are, in case they are found. @default all deferred tools are sent
   */
  messages?: readonly AnthropicMessage[]
  /** Code execution version for provider-run programs that call tools. @default none */
  programs?: AnthropicCodeVersion
  /** `tool_choice` of the request: settings that conflict with programs are warnings. */
  toolChoice?: AnthropicToolChoice
  /** Removes schema features that the API rejects; losses are reported. @default schemas as servers wrote them */
  schemas?: 'anthropic'
}

export interface AnthropicTool extends AnthropicToolOptions {
  name: string
  description?: string
  input_schema: JsonObject & { type: 'object' }
  defer_loading?: true
  allowed_callers?: AnthropicCaller[]
}

export type AnthropicSearchTool =
  | { type: 'tool_search_tool_bm25_20251119'; name: 'tool_search_tool_bm25' }
  | { type: 'tool_search_tool_regex_20251119'; name: 'tool_search_tool_regex' }

export interface AnthropicForm {
  tools: Array<AnthropicTool | AnthropicSearchTool | AnthropicCodeTool>
  /** Limits that are near or exceeded. */
  warnings: string[]
  /** Losses of projected schemas. */
  lost: LostInTool[]
}

const SEARCHES = {
  bm25: { type: 'tool_search_tool_bm25_20251119', name: 'tool_search_tool_bm25' },
  regex: { type: 'tool_search_tool_regex_20251119', name: 'tool_search_tool_regex' },
} as const satisfies Record<string, AnthropicSearchTool>

export function toAnthropic(
  selection: ModelSelection,
  { search = 'client', messages, programs, toolChoice, schemas }: AnthropicOptions = {},
): AnthropicForm {
  assertSearch(search, ['client', ...Object.keys(SEARCHES)])
  const { selected, search: searchEntry } = callParts(selection)
  const referenced = referencedIn(messages ?? [])
  const isReferenced = ({ modelName }: LoadoutEntry) => referenced.has(modelName)
  // A referenced tool must stay deferred, even when it is selected now.
  const bound = [...selected, ...selection.deferred].filter(isReferenced)
  const sendsAll = search !== 'client' || messages === undefined
  const plan = planTools({
    provider: 'anthropic',
    reserved: (searchEntry ? 1 : 0) + (programs ? 1 : 0),
    bound,
    immediate: selected.filter((entry) => !isReferenced(entry)),
    waiting: sendsAll ? selection.deferred.filter((entry) => !isReferenced(entry)) : [],
  })
  const deferred = [...plan.bound, ...plan.waiting].map(
    (entry): AnthropicTool => ({
      ...definition(entry, { programs, schemas }),
      defer_loading: true,
    }),
  )
  const items: AnthropicForm['tools'] = plan.immediate.map((entry) => definition(entry, { programs, schemas }))
  // At least one tool must not be deferred; a search tool never is.
  const needsSearch = searchEntry !== undefined || (items.length === 0 && deferred.length > 0)
  const searchTool = search === 'client' ? definition(SEARCH_ENTRY) : SEARCHES[search]
  const immediate = needsSearch
    ? withSearchTool(selection, { immediate: plan.immediate, items, search: searchTool })
    : items
  const sent = [...plan.immediate, ...plan.bound, ...plan.waiting]
  const lost = lostIn(sent, schemas)
  const { tools, warnings } = withinBreakpoints([...immediate, ...deferred])
  if (!programs) return { tools, warnings: [...plan.warnings, ...warnings], lost }
  return {
    lost,
    // `code_execution` is never deferred: programs start with it.
    tools: [{ type: programs, name: 'code_execution' }, ...tools],
    warnings: [...plan.warnings, ...warnings, ...programWarnings(sent, toolChoice)],
  }
}

/** Search is called directly: its references cannot be read by a program. */
function definition(
  entry: LoadoutEntry,
  { programs, schemas }: { [K in 'programs' | 'schemas']?: AnthropicOptions[K] | undefined } = {},
): AnthropicTool {
  const description = descriptionOf(entry)
  return {
    name: entry.modelName,
    ...(description === undefined ? {} : { description }),
    input_schema: formSchema(entry, schemas).schema as AnthropicTool['input_schema'],
    ...anthropicOptions(entry),
    ...anthropicCallers(entry, programs),
  }
}

export interface AnthropicTurn {
  calls: ModelCall[]
  /** Programs that the provider runs: `selection.follow(turn.programs)` records them as runs. */
  programs: ProviderProgram[]
  /** Container of the programs. Send its id back as `container`; a waiting program needs it until it expires. */
  container?: { id: string; expiresAt?: Date }
  /** Refs that the provider's search loaded: `thread.load(turn.loaded)` keeps them. */
  loaded: string[]
  /** Errors of the provider's search: `too_many_requests`, `invalid_pattern`, … */
  searchErrors: Array<{ code: string; message?: string }>
}

const toolUse = z.looseObject({
  type: z.literal('tool_use'),
  id: z.string().max(500),
  name: z.string().max(500),
  input: z.unknown(),
  caller: z.looseObject({ type: z.string().max(100), tool_id: z.string().max(500).optional() }).nullish(),
})

/** A message, or only its content, which does not name the container. */
export type AnthropicReply = readonly unknown[] | { content: readonly unknown[]; container?: unknown }

/** Reads the calls of a model message. Send its content back unchanged: it contains provider blocks. */
export function readAnthropic(selection: ModelSelection, reply: AnthropicReply): AnthropicTurn {
  const content = 'content' in reply ? reply.content : reply
  const container = containerIn(reply)
  const loaded = new Set(content.flatMap(loadedBy))
  const entries = [...selection.tools.map(({ entry }) => entry), ...selection.deferred]
  return {
    calls: content.flatMap((block) => {
      const read = toolUse.safeParse(block)
      if (!read.success) return []
      const { id, name, input, caller } = read.data
      return [{ id, name, ...readArguments(input), ...callerOf(caller), source: jsonObject.parse(block) }]
    }),
    programs: programsIn(content),
    ...(container ? { container } : {}),
    loaded: entries.filter(({ modelName }) => loaded.has(modelName)).map(({ ref }) => ref),
    searchErrors: content.map(searchFailure).filter((failure) => failure !== undefined),
  }
}

function callerOf(caller: { type: string; tool_id?: string | undefined } | null | undefined): { caller?: Caller } {
  if (!caller) return {}
  if (caller.type === 'direct') return { caller: { type: 'direct' } }
  return { caller: { type: 'code', ...(caller.tool_id === undefined ? {} : { toolId: caller.tool_id }) } }
}

export type AnthropicResultContent =
  | { type: 'text'; text: string }
  | { type: 'tool_reference'; tool_name: string }
  | { type: 'image'; source: { type: 'base64'; media_type: ImageType; data: string } }
  | { type: 'document'; source: { type: 'base64'; media_type: 'application/pdf'; data: string } }

export interface AnthropicResult {
  type: 'tool_result'
  tool_use_id: string
  content: AnthropicResultContent[]
  is_error?: true
}

/** Message with the results of one turn. `selection` is the one of the request. */
export function answerAnthropic(
  selection: ModelSelection,
  completed: readonly CompletedCall[],
): { role: 'user'; content: AnthropicResult[] } {
  const waiting = new Set(selection.deferred.map(({ modelName }) => modelName))
  return { role: 'user', content: completed.map((completedCall) => resultOf(completedCall, waiting)) }
}

function resultOf({ call, outcome }: CompletedCall, waiting: ReadonlySet<string>): AnthropicResult {
  const isProgram = call.caller?.type === 'code'
  // A tool that is not deferred needs no reference and may have none.
  const found =
    call.name === SEARCH_NAME && !isProgram ? searchResultNames(outcome).filter((name) => waiting.has(name)) : []
  const content =
    found.length > 0
      ? found.map((tool_name) => ({ type: 'tool_reference' as const, tool_name }))
      : isProgram
        ? // A program takes only text results.
          [contentOf({ type: 'text', text: valueText(outcome) })]
        : resultParts(outcome).map(contentOf)
  return {
    type: 'tool_result',
    tool_use_id: call.id,
    content,
    ...(isFailure(outcome) ? { is_error: true } : {}),
  }
}

const IMAGES = ['image/jpeg', 'image/png', 'image/gif', 'image/webp'] as const
type ImageType = (typeof IMAGES)[number]

function contentOf(part: ModelResultPart): AnthropicResultContent {
  // The API rejects empty texts.
  if (part.type === 'text') return { type: 'text', text: part.text === '' ? '(empty)' : part.text }
  const { mediaType, data } = part
  const image = IMAGES.find((type) => type === mediaType)
  if (image) return { type: 'image', source: { type: 'base64', media_type: image, data } }
  if (mediaType === 'application/pdf')
    return { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data } }
  return { type: 'text', text: filePlaceholder(part) }
}

export {
  type AnthropicCodeVersion,
  type AnthropicMessage,
  type CompletedCall,
  callAll,
  type ModelCall,
  type ModelSelection,
  withoutLost,
}
