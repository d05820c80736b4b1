/** Gemini `generateContent`: its request checks, and a scripted turn as a response and as chunks. */
import type { JsonObject } from '../../schema/json.ts'
import { isObject } from '../../util/is-object.ts'
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

export const GOOGLE_PATH = /^\/v1beta\/models\/([\w.-]+):(generateContent|streamGenerateContent)$/

const NAME = /^[A-Za-z_][\w.:-]{0,63}$/
const MAX_TOOLS = 512
/** JSON Schema keywords that the API reference lists. */
const KEYWORDS = new Set([
  '$id',
  '$defs',
  '$ref',
  '$anchor',
  'type',
  'format',
  'title',
  'description',
  'enum',
  'items',
  'prefixItems',
  'minItems',
  'maxItems',
  'minimum',
  'maximum',
  'anyOf',
  'oneOf',
  'properties',
  'additionalProperties',
  'required',
  'propertyOrdering',
])

export function googleForm(newId: NewId): ApiForm {
  return {
    check,
    answer: (turn, request) => answerOf(turn, request, newId),
    events: chunksOf,
    problem: ({ message, status }) => ({
      error: { code: status, message, status: status === 401 ? 'UNAUTHENTICATED' : 'INVALID_ARGUMENT' },
    }),
  }
}

const partsIn = (content: JsonObject | undefined, word: string) =>
  objects(content?.parts).filter((part) => isObject(part[word]))

function check({ history, tools, path }: ModelRequest): void {
  if (history.length === 0) throw new ApiProblem('* GenerateContentRequest.contents: contents is not specified')
  if (tools.length > MAX_TOOLS)
    throw new ApiProblem(`At most ${MAX_TOOLS} function declarations can be specified, but got ${tools.length}.`)
  tools.forEach(checkDeclaration)
  const names = tools.map(({ name }) => name)
  const [twice] = names.filter((name, index) => names.indexOf(name) < index)
  if (twice !== undefined) throw new ApiProblem(`Duplicate function declaration found: ${twice}`)
  history.forEach((content, index) => {
    if (content.role !== 'user' && content.role !== 'model')
      throw new ApiProblem('Please use a valid role: user, model.')
    const calls = partsIn(content, 'functionCall')
    if (calls.length > 0 && partsIn(history[index + 1], 'functionResponse').length !== calls.length)
      throw new ApiProblem(
        'Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.',
      )
  })
  if (path.includes('/gemini-3')) checkSignatures(history)
}

/** Since Gemini 3, the first call of each step in the current turn must have its thought signature. */
function checkSignatures(history: readonly JsonObject[]): void {
  const from = history.findLastIndex(({ role, parts }) => role === 'user' && objects(parts).some(({ text }) => text))
  for (const content of history.slice(from + 1)) {
    const [first] = partsIn(content, 'functionCall')
    if (first && typeof first.thoughtSignature !== 'string')
      throw new ApiProblem('Function call is missing a thought_signature in functionCall parts.')
  }
}

function checkDeclaration({ name, parametersJsonSchema: schema }: JsonObject, index: number): void {
  const at = `tools[0].function_declarations[${index}]`
  if (!NAME.test(String(name)))
    throw new ApiProblem(
      `${at}.name: Invalid function name. Must start with a letter or an underscore. Must be alphanumeric (a-z, A-Z, 0-9), underscores (_), dots (.), colons (:), or dashes (-), with a maximum length of 64.`,
    )
  if (!isObject(schema) || schema.type !== 'object')
    throw new ApiProblem(`${at}.parameters_json_schema: schema should be of type OBJECT.`)
  checkSchema(schema, `${at}.parameters_json_schema`)
}

function checkSchema(schema: JsonObject, at: string): void {
  for (const [word, value] of Object.entries(schema)) {
    if (!KEYWORDS.has(word)) throw new ApiProblem(`${at}: "${word}" is not supported.`)
    if (word === 'enum' && Array.isArray(value) && value.some((item) => !['string', 'number'].includes(typeof item)))
      throw new ApiProblem(`${at}.enum: only strings and numbers are supported.`)
    const inside = word === 'properties' || word === '$defs' ? Object.values(value as JsonObject) : [value].flat()
    if (['properties', '$defs', 'items', 'prefixItems', 'anyOf', 'oneOf', 'additionalProperties'].includes(word))
      for (const inner of inside) if (isObject(inner)) checkSchema(inner, `${at}.${word}`)
  }
}

function answerOf(turn: ModelTurn, request: ModelRequest, newId: NewId): JsonObject {
  if (turn.searches?.length) throw new Error('Gemini has no tool search.')
  if (turn.programs?.length) throw new Error('Programs of Gemini are not scripted here.')
  assertVisible(turn.calls, new Set(request.toolNames))
  const calls = (turn.calls ?? []).map(({ name, arguments: args = {} }, index) => ({
    functionCall: { name, args },
    ...(index === 0 ? { thoughtSignature: btoa(newId('thought')) } : {}),
  }))
  const parts = [...(turn.text === undefined ? [] : [{ text: turn.text }]), ...calls]
  const { input, output } = scriptedUsage(turn, request)
  return {
    candidates: [{ index: 0, content: { role: 'model', parts }, finishReason: turn.stop ?? 'STOP' }],
    usageMetadata: { promptTokenCount: input, candidatesTokenCount: output, totalTokenCount: input + output },
    modelVersion: GOOGLE_PATH.exec(request.path)?.[1] ?? '',
    responseId: newId('response'),
    ...turn.more,
  }
}

/** Text is split into pieces; a call is one chunk. The last chunk has the finish reason and the usage. */
function chunksOf(answer: JsonObject): StreamEvent[] {
  const { candidates, usageMetadata, ...about } = answer
  const [candidate = {}] = objects(candidates)
  const parts = objects((candidate.content as JsonObject).parts).flatMap((part) =>
    typeof part.text === 'string' ? pieces(part.text).map((text) => ({ text })) : [part],
  )
  const chunk = (part: JsonObject | undefined, more: JsonObject, last: JsonObject): StreamEvent => {
    const content = { role: 'model', parts: part ? [part] : [] }
    return { data: { candidates: [{ index: 0, content, ...last }], ...about, ...more } }
  }
  return [
    ...parts.slice(0, -1).map((part) => chunk(part, {}, {})),
    chunk(parts.at(-1), { usageMetadata }, { finishReason: candidate.finishReason }),
  ]
}
