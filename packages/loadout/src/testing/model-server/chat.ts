/** OpenAI Chat Completions: its request checks, and a scripted turn as a completion and as chunks. */
import type { JsonObject } from '../../schema/json.ts'
import { isObject } from '../../util/is-object.ts'
import { checkName, checkParameters, checkToolList } from './responses-checks.ts'
import {
  type ApiForm,
  ApiProblem,
  assertVisible,
  type ModelRequest,
  type ModelTurn,
  type NewId,
  objects,
  pieces,
  type StreamEvent,
  scriptedUsage,
} from './script.ts'

export function chatForm(newId: NewId): ApiForm {
  return {
    check,
    answer: (turn, request) => completionOf(turn, request, newId),
    events: chunksOf,
    problem: ({ message, more: { type = 'invalid_request_error', code = null, param = null } }) => ({
      error: { message, type, param, code },
    }),
  }
}

function check({ body, tools, history }: ModelRequest): void {
  if (typeof body.model !== 'string') throw new ApiProblem('you must provide a model parameter')
  if (history.length === 0)
    throw new ApiProblem("Invalid 'messages': empty array. Expected an array with minimum length 1.", {
      param: 'messages',
      code: 'empty_array',
    })
  checkToolList(tools)
  tools.forEach((tool, index) => {
    const definition = isObject(tool.function) ? tool.function : {}
    checkName(definition.name, `tools[${index}].function.name`)
    checkParameters(definition.parameters, `tools[${index}].function.parameters`)
  })
  history.forEach((_, index) => {
    checkTurn(history, index)
  })
}

/** Tool messages must directly follow their calls, and answer all of them. */
function checkTurn(messages: readonly JsonObject[], index: number): void {
  const message = messages[index] as JsonObject
  if (message.role === 'tool') {
    let callIndex = index
    while (messages[callIndex]?.role === 'tool') callIndex--
    const callIds = objects(messages[callIndex]?.tool_calls).map(({ id }) => id)
    if (callIds.includes(message.tool_call_id)) return
    throw new ApiProblem(
      "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
      {
        param: `messages.[${index}].role`,
      },
    )
  }
  const callIds = objects(message.tool_calls).map(({ id }) => id)
  const resultIds: unknown[] = []
  for (let next = index + 1; messages[next]?.role === 'tool'; next++) resultIds.push(messages[next]?.tool_call_id)
  const unanswered = callIds.filter((id) => !resultIds.includes(id))
  if (unanswered.length > 0)
    throw new ApiProblem(
      `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${unanswered.join(', ')}`,
      { param: 'messages' },
    )
}

function completionOf(turn: ModelTurn, request: ModelRequest, newId: NewId): JsonObject {
  if (turn.searches?.length) throw new Error('Chat Completions has no tool search.')
  if (turn.programs?.length) throw new Error('Chat Completions runs no programs.')
  assertVisible(turn.calls, new Set(request.toolNames))
  const tool_calls = (turn.calls ?? []).map(({ id, name, arguments: input = {} }) => ({
    id: id ?? newId('call'),
    type: 'function',
    function: { name, arguments: JSON.stringify(input) },
  }))
  const message = {
    role: 'assistant',
    content: turn.text ?? null,
    refusal: null,
    annotations: [],
    ...(tool_calls.length > 0 ? { tool_calls } : {}),
  }
  const finish_reason = turn.stop ?? (tool_calls.length > 0 ? 'tool_calls' : 'stop')
  const usage = scriptedUsage(turn, request)
  return {
    id: newId('chatcmpl'),
    object: 'chat.completion',
    created: 1_760_000_000,
    model: request.body.model,
    choices: [{ index: 0, message, logprobs: null, finish_reason }],
    usage: {
      prompt_tokens: usage.input,
      completion_tokens: usage.output,
      total_tokens: usage.input + usage.output,
    },
    ...turn.more,
  }
}

function chunksOf(answer: JsonObject, { body }: ModelRequest): StreamEvent[] {
  const { id, created, model, choices, usage } = answer
  const [choice = {}] = objects(choices)
  const message = choice.message as JsonObject
  const base = { id, object: 'chat.completion.chunk', created, model }
  const chunk = (delta: JsonObject, finish_reason: unknown = null): StreamEvent => ({
    data: { ...base, choices: [{ index: 0, delta, logprobs: null, finish_reason }] },
  })
  const calls = objects(message.tool_calls).flatMap((call, index) => {
    const { name, arguments: text } = call.function as { name: string; arguments: string }
    return [
      chunk({ tool_calls: [{ ...call, index, function: { name, arguments: '' } }] }),
      ...pieces(text).map((piece) => chunk({ tool_calls: [{ index, function: { arguments: piece } }] })),
    ]
  })
  const wantsUsage = isObject(body.stream_options) && body.stream_options.include_usage === true
  return [
    chunk({ role: 'assistant', content: message.content === null ? null : '' }),
    ...(message.content === null ? [] : pieces(String(message.content)).map((content) => chunk({ content }))),
    ...calls,
    chunk({}, choice.finish_reason),
    ...(wantsUsage ? [{ data: { ...base, choices: [], usage } }] : []),
    { data: '[DONE]' },
  ]
}
