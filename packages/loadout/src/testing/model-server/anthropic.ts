/** Anthropic Messages: a scripted turn as a message and as stream events. */
import type { JsonObject } from '../../schema/json.ts'
import { checkAnthropic, referencedTools, searchToolsOf } from './anthropic-checks.ts'
import {
  type AnthropicContext,
  type AnthropicMemory,
  anthropicCallableBy,
  callBlock,
  checkAnthropicPrograms,
  programBlocks,
} from './anthropic-programs.ts'
import {
  type ApiForm,
  assertVisible,
  type ModelRequest,
  type ModelTurn,
  type NewId,
  objects,
  pieces,
  type ScriptedSearch,
  type StreamEvent,
  scriptedUsage,
} from './script.ts'

const DIRECT = { type: 'direct' }

export function anthropicForm(newId: NewId): ApiForm {
  const memory: AnthropicMemory = { containers: new Map(), callers: new Map() }
  return {
    check(request) {
      checkAnthropic(request)
      checkAnthropicPrograms(request, memory)
    },
    answer: (turn, request) => messageOf(turn, { request, newId, memory }),
    events: (answer) => eventsOf(answer),
    problem: ({ message, more: { type = 'invalid_request_error', code } }) => ({
      type: 'error',
      error: { type, message, ...(code ? { details: { error_code: code } } : {}) },
      request_id: newId('req'),
    }),
  }
}

function messageOf(turn: ModelTurn, context: Omit<AnthropicContext, 'visible'>): JsonObject {
  const { request, newId, memory } = context
  const found = (turn.searches ?? []).flatMap((search) => search.found ?? [])
  const undeferred = request.toolNames.filter((name) => !request.deferredNames.includes(name))
  const visible = new Set([...undeferred, ...referencedTools(request.history), ...found])
  assertVisible(turn.calls, anthropicCallableBy('direct', request, visible))
  const programs = programBlocks(turn, { ...context, visible })
  const content = [
    ...(turn.searches ?? []).flatMap((search) => searchBlocks(search, request, newId)),
    ...(turn.blocks ?? []),
    ...programs.ended,
    ...(turn.text === undefined ? [] : [{ type: 'text', text: turn.text, citations: null }]),
    ...programs.calling,
    ...(turn.calls ?? []).map((call) => callBlock(call, { newId, memory, caller: DIRECT })),
  ]
  const usage = scriptedUsage(turn, request)
  const waits = content.some((block) => block.type === 'tool_use')
  return {
    id: newId('msg'),
    type: 'message',
    role: 'assistant',
    model: request.body.model,
    content,
    stop_reason: turn.stop ?? (waits ? 'tool_use' : 'end_turn'),
    stop_sequence: null,
    container: programs.container,
    usage: {
      input_tokens: usage.input,
      output_tokens: usage.output,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 0,
      server_tool_use: null,
      service_tier: 'standard',
    },
    ...turn.more,
  }
}

/** Blocks of a provider search. Throws when the script finds a tool that is not deferred. */
function searchBlocks(search: ScriptedSearch, request: ModelRequest, newId: NewId): JsonObject[] {
  const [tool] = searchToolsOf(request.tools)
  if (!tool) throw new Error('The request has no tool search of the provider.')
  const unexpected = (search.found ?? []).filter((name) => !request.deferredNames.includes(name))
  if (unexpected.length > 0) throw new Error(`The provider cannot find what is not deferred: ${unexpected.join(', ')}.`)
  const id = search.id ?? newId('srvtoolu')
  const content = search.error
    ? { type: 'tool_search_tool_result_error', error_code: search.error, error_message: null }
    : {
        type: 'tool_search_tool_search_result',
        tool_references: (search.found ?? []).map((tool_name) => ({ type: 'tool_reference', tool_name })),
      }
  return [
    { type: 'server_tool_use', id, name: tool.name, input: search.arguments, caller: DIRECT },
    { type: 'tool_search_tool_result', tool_use_id: id, content },
  ]
}

function eventsOf(answer: JsonObject): StreamEvent[] {
  const { content, stop_reason, stop_sequence, container, usage, ...message } = answer as JsonObject & {
    usage: JsonObject
  }
  const event = (type: string, data: JsonObject): StreamEvent => ({ event: type, data: { type, ...data } })
  const empty = { ...message, content: [], stop_reason: null, stop_sequence: null, container: null }
  return [
    event('message_start', { message: { ...empty, usage: { ...usage, output_tokens: 1 } } }),
    event('ping', {}),
    ...objects(content).flatMap((block, index) => [
      event('content_block_start', { index, content_block: startOf(block) }),
      ...deltasOf(block).map((delta) => event('content_block_delta', { index, delta })),
      event('content_block_stop', { index }),
    ]),
    event('message_delta', { delta: { stop_reason, stop_sequence, container: container ?? null }, usage }),
    event('message_stop', {}),
  ]
}

const TYPED = ['tool_use', 'server_tool_use']

function startOf(block: JsonObject): JsonObject {
  if (block.type === 'text') return { ...block, text: '' }
  return TYPED.includes(String(block.type)) ? { ...block, input: {} } : block
}

function deltasOf(block: JsonObject): JsonObject[] {
  if (block.type === 'text') return pieces(String(block.text)).map((text) => ({ type: 'text_delta', text }))
  if (!TYPED.includes(String(block.type))) return []
  // The first delta is empty, as in the API.
  return ['', ...pieces(JSON.stringify(block.input))].map((partial_json) => ({
    type: 'input_json_delta',
    partial_json,
  }))
}
