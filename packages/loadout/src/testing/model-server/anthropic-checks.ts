/** Request checks of Anthropic Messages with its error messages: headers, tools, references and missing results. */
import type { JsonObject } from '../../schema/json.ts'
import { isObject } from '../../util/is-object.ts'
import { ApiProblem, type ModelRequest, objects } from './script.ts'

const NAME = /^[a-zA-Z0-9_-]{1,128}$/
/** `tool_reference` takes shorter names than a tool may have. */
const REFERENCED = /^[a-zA-Z0-9_-]{1,64}$/
const MAX_TOOLS = 10_000
const SEARCH = /^tool_search_tool_(bm25|regex)(_20251119)?$/

export const searchToolsOf = (tools: readonly JsonObject[]) => tools.filter(({ type }) => SEARCH.test(String(type)))

export function checkAnthropic({ headers, body, tools, history }: ModelRequest): void {
  if (!headers['anthropic-version']) throw new ApiProblem('anthropic-version: header is required')
  if (typeof body.model !== 'string') throw new ApiProblem('model: Field required')
  if (!Number.isInteger(body.max_tokens)) throw new ApiProblem('max_tokens: Field required')
  if (history.length === 0) throw new ApiProblem('messages: at least one message is required')
  checkTools(tools)
  checkMessages(history)
  checkReferences(history, tools)
}

function checkTools(tools: readonly JsonObject[]): void {
  tools.forEach((tool, index) => {
    const isCustom = tool.type === undefined || tool.type === 'custom'
    const at = `tools.${index}${isCustom ? '.custom' : ''}`
    if (!NAME.test(String(tool.name)))
      throw new ApiProblem(`${at}.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'`)
    if (isCustom && !isObject(tool.input_schema)) throw new ApiProblem(`${at}.input_schema: Field required`)
    if (isCustom && (tool.input_schema as JsonObject).type !== 'object')
      throw new ApiProblem(`${at}.input_schema.type: Input should be 'object'`)
    if (SEARCH.test(String(tool.type)) && tool.defer_loading === true)
      throw new ApiProblem(`${at}: a tool search tool must not have defer_loading set.`)
  })
  const names = tools.map(({ name }) => name)
  if (new Set(names).size < names.length) throw new ApiProblem('tools: Tool names must be unique.')
  const deferred = tools.filter((tool) => tool.defer_loading === true)
  if (tools.length > 0 && deferred.length === tools.length)
    throw new ApiProblem('All tools have defer_loading set. At least one tool must be non-deferred.')
  if (tools.length > MAX_TOOLS)
    throw new ApiProblem(`At most ${MAX_TOOLS} tools can be available.`, { code: 'available_tools_limit_exceeded' })
}

function checkMessages(messages: readonly JsonObject[]): void {
  if (messages[0]?.role !== 'user') throw new ApiProblem('messages: first message must use the "user" role')
  messages.forEach(({ role, content }, index) => {
    if (role !== 'user' && role !== 'assistant' && role !== 'system')
      throw new ApiProblem(`messages.${index}.role: Input should be 'user' or 'assistant'`)
    const blocks = objects(content)
    if (typeof content !== 'string' && blocks.length === 0)
      throw new ApiProblem(`messages.${index}: all messages must have non-empty content`)
    if (role === 'assistant') checkOwnSearches(blocks, index)
    checkPairs(messages, index)
  })
}

/** Each call needs its result in the next message, and each result its call in the previous one. */
function checkPairs(messages: readonly JsonObject[], index: number): void {
  const idsIn = (message: JsonObject | undefined, { type, key }: { type: string; key: string }) =>
    objects(message?.content).flatMap((block) => (block.type === type ? [String(block[key])] : []))
  const CALL = { type: 'tool_use', key: 'id' }
  const RESULT = { type: 'tool_result', key: 'tool_use_id' }
  const results = idsIn(messages[index + 1], RESULT)
  const missing = idsIn(messages[index], CALL).filter((id) => !results.includes(id))
  if (missing.length > 0)
    throw new ApiProblem(
      `messages.${index}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${missing.join(', ')}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`,
    )
  const calls = idsIn(messages[index - 1], CALL)
  const [unexpected] = idsIn(messages[index], RESULT).filter((id) => !calls.includes(id))
  if (unexpected !== undefined)
    throw new ApiProblem(
      `messages.${index}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${unexpected}. Each \`tool_result\` block must have a corresponding \`tool_use\` block in the previous message.`,
    )
}

/** Provider searches must come back complete: the call and its result in the same message. */
function checkOwnSearches(blocks: readonly JsonObject[], index: number): void {
  for (const { type, id, name } of blocks) {
    if (type !== 'server_tool_use' || !String(name).startsWith('tool_search_tool_')) continue
    if (!blocks.some((block) => block.type === 'tool_search_tool_result' && block.tool_use_id === id))
      throw new ApiProblem(
        `messages.${index}: \`${name}\` tool use with id \`${id}\` was found without a corresponding \`tool_search_tool_result\` block`,
      )
  }
}

function checkReferences(messages: readonly JsonObject[], tools: readonly JsonObject[]): void {
  const byName = new Map(tools.map((tool) => [tool.name, tool]))
  for (const name of referencedTools(messages)) {
    if (!REFERENCED.test(name))
      throw new ApiProblem(`tool_reference.tool_name: String should match pattern '^[a-zA-Z0-9_-]{1,64}$'`)
    const tool = byName.get(name)
    if (!tool) throw new ApiProblem(`Tool reference '${name}' has no corresponding tool definition`)
    if (tool.defer_loading !== true)
      throw new ApiProblem(`Tool reference '${name}' must have defer_loading set in its tool definition`)
  }
}

/** Tools that a history loads. */
export const referencedTools = (messages: readonly JsonObject[]) =>
  messages.flatMap(({ content }) => objects(content).flatMap(referencesIn))

function referencesIn(block: JsonObject): string[] {
  const searchReferences =
    block.type === 'tool_search_tool_result' && isObject(block.content) ? block.content.tool_references : []
  const resultContent = block.type === 'tool_result' ? block.content : []
  return [...objects(searchReferences), ...objects(resultContent)].flatMap(({ type, tool_name }) =>
    type === 'tool_reference' ? [String(tool_name)] : [],
  )
}
