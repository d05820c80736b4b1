/** OpenAI Responses: a scripted turn as a response and as stream events. Items are stored for later requests. */
import type { JsonObject } from '../../schema/json.ts'
import { checkResponses, functionsIn, loadedIn, namespaceOf } from './responses-checks.ts'
import {
  checkResponsesPrograms,
  programItems,
  type ResponsesMemory,
  responsesCallableBy,
} from './responses-programs.ts'
import {
  type ApiForm,
  ApiProblem,
  assertVisible,
  type ModelRequest,
  type ModelTurn,
  type NewId,
  objects,
  pieces,
  type ScriptedCall,
  type ScriptedSearch,
  type StreamEvent,
  scriptedUsage,
} from './script.ts'

/** Stored state, unless `store` is false: items by id, and the history of each response. */
interface Memory extends ResponsesMemory {
  items: Map<string, JsonObject>
  responses: Map<string, JsonObject[]>
}

export function responsesForm(newId: NewId): ApiForm {
  const memory: Memory = {
    items: new Map(),
    responses: new Map(),
    programs: new Map(),
    callers: new Map(),
  }
  return {
    recall: (request) => recall(memory, request),
    check(request) {
      checkResponses(request)
      checkResponsesPrograms(request, memory)
    },
    answer(turn, request) {
      const response = responseOf(turn, request, { newId, memory })
      if (request.body.store !== false) remember(memory, request, response)
      return response
    },
    events: eventsOf,
    problem: ({ message, more: { type = 'invalid_request_error', code = null, param = null } }) => ({
      error: { message, type, param, code },
    }),
  }
}

function recall({ items, responses }: Memory, { body, history }: ModelRequest): JsonObject[] {
  const { previous_response_id: previous, input } = body
  const before = typeof previous === 'string' ? responses.get(previous) : []
  if (!before)
    throw new ApiProblem(`Previous response with id '${previous}' not found.`, {
      param: 'previous_response_id',
      code: 'previous_response_not_found',
    })
  const now = typeof input === 'string' ? [{ type: 'message', role: 'user', content: input }] : history
  return [
    ...before,
    ...now.map((item) => {
      if (item.type !== 'item_reference') return item
      const stored = items.get(String(item.id))
      if (!stored) throw new ApiProblem(`Item with id '${item.id}' not found.`, { status: 404, param: 'input' })
      return stored
    }),
  ]
}

function remember({ items, responses }: Memory, { history }: ModelRequest, response: JsonObject): void {
  const output = objects(response.output)
  for (const item of output) items.set(String(item.id), item)
  responses.set(String(response.id), [...history, ...output])
}

function responseOf(
  turn: ModelTurn,
  request: ModelRequest,
  { newId, memory }: { newId: NewId; memory: Memory },
): JsonObject {
  const { searches = [], blocks = [], text, calls = [] } = turn
  const found = searches.flatMap((search) => search.found ?? [])
  const upfront = functionsIn(request.tools).filter((tool) => tool.defer_loading !== true)
  const visible = new Set([...upfront.map(({ name }) => String(name)), ...loadedIn(request.history), ...found])
  assertVisible(calls, responsesCallableBy('direct', request, visible))
  const items = (call: ScriptedCall) => callItem(call, request, newId)
  const programs = programItems(turn, { request, visible, newId, memory, callItem: items })
  const output: JsonObject[] = [
    ...searches.flatMap((search) => searchItems(search, request, newId)),
    ...blocks,
    ...programs.ended,
    ...(text === undefined ? [] : [messageItem(text, newId)]),
    ...programs.calling,
    ...calls.map(items),
  ]
  const usage = scriptedUsage(turn, request)
  return {
    id: newId('resp'),
    object: 'response',
    created_at: 1_760_000_000,
    status: turn.stop ?? 'completed',
    error: null,
    incomplete_details: null,
    instructions: request.body.instructions ?? null,
    metadata: {},
    model: request.body.model,
    output,
    parallel_tool_calls: true,
    temperature: 1,
    top_p: 1,
    tool_choice: request.body.tool_choice ?? 'auto',
    tools: request.tools,
    previous_response_id: request.body.previous_response_id ?? null,
    usage: {
      input_tokens: usage.input,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: usage.output,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: usage.input + usage.output,
    },
    ...turn.more,
  }
}

const messageItem = (text: string, newId: NewId): JsonObject => ({
  id: newId('msg'),
  type: 'message',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text, annotations: [], logprobs: [] }],
})

function callItem(call: ScriptedCall, request: ModelRequest, newId: NewId): JsonObject {
  const namespace = call.namespace ?? namespaceOf(call.name, request)
  return {
    id: newId('fc'),
    type: 'function_call',
    call_id: call.id ?? newId('call'),
    name: call.name,
    arguments: JSON.stringify(call.arguments ?? {}),
    status: 'completed',
    ...(namespace === undefined ? {} : { namespace }),
    ...(call.caller ? { caller: call.caller } : {}),
  }
}

/** A client search has only the call; a provider search also has the definitions of its hits. */
function searchItems(search: ScriptedSearch, request: ModelRequest, newId: NewId): JsonObject[] {
  const tool = request.tools.find(({ type }) => type === 'tool_search')
  if (!tool) throw new Error('The request has no tool_search.')
  const execution = tool.execution === 'client' ? 'client' : 'server'
  const call_id = execution === 'client' ? (search.id ?? newId('call')) : null
  const call = {
    id: newId('tsc'),
    type: 'tool_search_call',
    execution,
    call_id,
    arguments: search.arguments,
    status: 'completed',
  }
  if (execution === 'client') return [call]
  const names = search.found ?? []
  const unexpected = names.filter((name) => !request.deferredNames.includes(name))
  if (unexpected.length > 0) throw new Error(`The provider cannot find what is not deferred: ${unexpected.join(', ')}.`)
  const tools = request.tools.flatMap((entry) => {
    if (entry.type !== 'namespace') return names.includes(String(entry.name)) ? [entry] : []
    const matching = objects(entry.tools).filter(({ name }) => names.includes(String(name)))
    return matching.length > 0 ? [{ ...entry, tools: matching }] : []
  })
  return [call, { id: newId('tso'), type: 'tool_search_output', execution, call_id: null, status: 'completed', tools }]
}

function eventsOf(answer: JsonObject): StreamEvent[] {
  let sequence_number = 0
  const event = (type: string, data: JsonObject): StreamEvent => ({
    event: type,
    data: { type, sequence_number: sequence_number++, ...data },
  })
  const initial = { ...answer, status: 'in_progress', output: [], usage: null }
  return [
    event('response.created', { response: initial }),
    event('response.in_progress', { response: initial }),
    ...objects(answer.output).flatMap((item, output_index) => itemEvents(item, output_index, event)),
    event(answer.status === 'incomplete' ? 'response.incomplete' : 'response.completed', { response: answer }),
  ]
}

type NewEvent = (type: string, data: JsonObject) => StreamEvent

function itemEvents(item: JsonObject, output_index: number, event: NewEvent): StreamEvent[] {
  const at = { item_id: item.id, output_index }
  const added = (changes: JsonObject) =>
    event('response.output_item.added', { output_index, item: { ...item, ...changes } })
  const done = () => event('response.output_item.done', { output_index, item })
  if (item.type === 'message') {
    const events = [added({ status: 'in_progress', content: [] })]
    objects(item.content).forEach((part, content_index) => {
      const text = String(part.text)
      const position = { ...at, content_index }
      events.push(event('response.content_part.added', { ...position, part: { ...part, text: '' } }))
      for (const delta of pieces(text))
        events.push(event('response.output_text.delta', { ...position, delta, logprobs: [] }))
      events.push(event('response.output_text.done', { ...position, text, logprobs: [] }))
      events.push(event('response.content_part.done', { ...position, part }))
    })
    return [...events, done()]
  }
  if (item.type === 'function_call') {
    const text = String(item.arguments)
    return [
      added({ status: 'in_progress', arguments: '' }),
      ...pieces(text).map((delta) => event('response.function_call_arguments.delta', { ...at, delta })),
      event('response.function_call_arguments.done', { ...at, arguments: text, name: item.name }),
      done(),
    ]
  }
  return [added('status' in item ? { status: 'in_progress' } : {}), done()]
}
