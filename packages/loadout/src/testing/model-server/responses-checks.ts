/** Request checks of OpenAI Responses with its error messages: tools, namespaces and missing outputs. */
import type { JsonObject } from '../../schema/json.ts'
import { isObject } from '../../util/is-object.ts'
import { ApiProblem, type ModelRequest, objects } from './script.ts'

const MAX_TOOLS = 128
const MAX_NAME_LENGTH = 64
const NAME = /^[a-zA-Z0-9_-]+$/

export function checkResponses(request: ModelRequest): void {
  const { body, tools, history } = request
  if (typeof body.model !== 'string')
    throw new ApiProblem("Missing required parameter: 'model'.", { param: 'model', code: 'missing_required_parameter' })
  if (history.length === 0)
    throw new ApiProblem("Missing required parameter: 'input'.", { param: 'input', code: 'missing_required_parameter' })
  checkToolList(tools)
  tools.forEach((tool, index) => {
    if (tool.type === 'function') checkFunction(tool, `tools[${index}]`)
    if (tool.type !== 'namespace') return
    checkName(tool.name, `tools[${index}].name`)
    for (const field of ['description', 'tools'] as const) if (!tool[field]) throw missing(`tools[${index}].${field}`)
    objects(tool.tools).forEach((innerTool, inner) => {
      checkFunction(innerTool, `tools[${index}].tools[${inner}]`)
    })
  })
  const isSearched = tools.some(({ type }) => type === 'tool_search')
  if (functionsIn(tools).some((tool) => tool.defer_loading === true) && !isSearched)
    throw new ApiProblem("Tools with 'defer_loading' need the 'tool_search' tool in 'tools'.", { param: 'tools' })
  checkPairs(history)
  checkNamespaces(request)
}

export function checkToolList(tools: readonly JsonObject[]): void {
  if (tools.length > MAX_TOOLS)
    throw new ApiProblem(
      `Invalid 'tools': array too long. Expected an array with maximum length ${MAX_TOOLS}, but got an array with length ${tools.length} instead.`,
      { param: 'tools', code: 'array_above_max_length' },
    )
}

const missing = (param: string) =>
  new ApiProblem(`Missing required parameter: '${param}'.`, { param, code: 'missing_required_parameter' })

function checkFunction(tool: JsonObject, at: string): void {
  checkName(tool.name, `${at}.name`)
  checkParameters(tool.parameters, `${at}.parameters`)
}

export function checkName(name: unknown, param: string): void {
  if (typeof name !== 'string') throw missing(param)
  if (name.length > MAX_NAME_LENGTH)
    throw new ApiProblem(
      `Invalid '${param}': string too long. Expected a string with maximum length ${MAX_NAME_LENGTH}, but got a string with length ${name.length} instead.`,
      { param, code: 'string_above_max_length' },
    )
  if (!NAME.test(name))
    throw new ApiProblem(
      `Invalid '${param}': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.`,
      { param, code: 'invalid_value' },
    )
}

export function checkParameters(schema: unknown, param: string): void {
  if (schema === undefined || schema === null) return
  if (!isObject(schema) || schema.type !== 'object')
    throw new ApiProblem(`Invalid schema for function: schema must be a JSON Schema of 'type: "object"'.`, {
      param,
      code: 'invalid_function_parameters',
    })
}

const CALLS: Readonly<Record<string, string>> = {
  function_call: 'function_call_output',
  tool_search_call: 'tool_search_output',
}

/** Each client call needs an output, and each output its call. */
function checkPairs(history: readonly JsonObject[]): void {
  const ids = (type: string) =>
    history.flatMap((item) => (item.type === type && item.call_id ? [String(item.call_id)] : []))
  for (const [call, output] of Object.entries(CALLS)) {
    const callIds = ids(call)
    const outputIds = ids(output)
    const word = call.replaceAll('_', ' ')
    const unanswered = callIds.find((id) => !outputIds.includes(id))
    if (unanswered) throw new ApiProblem(`No tool output found for ${word} ${unanswered}.`, { param: 'input' })
    const unexpected = outputIds.find((id) => !callIds.includes(id))
    if (unexpected)
      throw new ApiProblem(`No tool call found for ${word} output with call_id ${unexpected}.`, { param: 'input' })
  }
}

/** A call of a namespaced tool must come back with its namespace. */
function checkNamespaces(request: ModelRequest): void {
  request.history.forEach((item, index) => {
    if (item.type !== 'function_call' || item.namespace !== undefined) return
    if (namespaceOf(String(item.name), request) === undefined) return
    throw new ApiProblem(
      `Missing namespace for function_call '${item.name}'. It does not exist in the default namespace. Round-trip the model's function_call item with its namespace field included.`,
      { param: `input[${index}].namespace` },
    )
  })
}

export const functionsIn = (tools: readonly JsonObject[]): JsonObject[] =>
  tools.flatMap((tool) => (tool.type === 'namespace' ? objects(tool.tools) : tool.type === 'function' ? [tool] : []))

const outputsIn = (history: readonly JsonObject[]) =>
  history.flatMap((item) =>
    item.type === 'tool_search_output' || item.type === 'additional_tools' ? objects(item.tools) : [],
  )

/** Tools that a history loads. */
export const loadedIn = (history: readonly JsonObject[]) =>
  functionsIn(outputsIn(history)).map(({ name }) => String(name))

/** Namespace of a tool; its own name when it was loaded alone; undefined for the default namespace. */
export function namespaceOf(
  name: string,
  { tools, history }: Pick<ModelRequest, 'tools' | 'history'>,
): string | undefined {
  const isUpfront = tools.some((tool) => tool.type === 'function' && tool.name === name && tool.defer_loading !== true)
  if (isUpfront) return undefined
  const loaded = outputsIn(history)
  for (const tool of [...tools, ...loaded])
    if (tool.type === 'namespace' && objects(tool.tools).some((innerTool) => innerTool.name === name))
      return String(tool.name)
  const isAlone = [...tools, ...loaded].some((tool) => tool.type === 'function' && tool.name === name)
  return isAlone ? name : undefined
}
