/**
 * Provider-run programs of Anthropic Messages: `code_execution` in a container, which waits at every tool call. Callers
 * and the container must come back unchanged, and a waiting program takes only results.
 */
import type { JsonObject } from '../../schema/json.ts'
import { isObject } from '../../util/is-object.ts'
import {
  ApiProblem,
  assertVisible,
  type ModelRequest,
  type ModelTurn,
  type NewId,
  objects,
  type ScriptedCall,
  type ScriptedProgram,
} from './script.ts'

const VERSION = /^code_execution_\d{8}$/
const EXPIRES = '2030-01-01T00:00:00Z'

/** State that the API keeps between requests. */
export interface AnthropicMemory {
  /** Containers by program id. */
  containers: Map<string, string>
  /** Callers by call id. */
  callers: Map<string, JsonObject>
}

const versionIn = (tools: readonly JsonObject[]) =>
  tools.map(({ type }) => String(type)).find((type) => VERSION.test(type))
const callersOf = ({ allowed_callers: callers }: JsonObject): unknown[] =>
  Array.isArray(callers) ? callers : ['direct']
const blocksOf = (history: readonly JsonObject[]) => history.flatMap(({ content }) => objects(content))
const isProgramCall = ({ type, caller }: JsonObject) =>
  type === 'tool_use' && isObject(caller) && VERSION.test(String(caller.type))

/** Visible tools that this caller may call: the model, or a code execution version. */
export const anthropicCallableBy = (caller: string, { tools }: ModelRequest, visible: ReadonlySet<string>) => {
  const names = tools.filter((tool) => callersOf(tool).includes(caller)).map(({ name }) => String(name))
  return new Set(names.filter((name) => visible.has(name)))
}

export function checkAnthropicPrograms(request: ModelRequest, memory: AnthropicMemory): void {
  checkCallers(request)
  checkContainer(request, memory)
  request.history.forEach((message, index) => {
    for (const block of objects(message.content))
      if (block.type === 'tool_use') checkCaller(block, { request, index, memory })
    if (objects(message.content).some(isProgramCall)) checkWaiting(request, index)
  })
}

function checkCallers({ tools, body }: ModelRequest): void {
  tools.forEach((tool, index) => {
    const versions = callersOf(tool).filter((caller) => caller !== 'direct')
    for (const version of versions)
      if (!tools.some(({ type }) => type === version))
        throw new ApiProblem(`tools.${index}.custom.allowed_callers: '${version}' needs a tool of type '${version}'.`)
    if (versions.length > 0 && tool.strict === true)
      throw new ApiProblem(`tools.${index}.custom: tools with \`strict: true\` cannot be called programmatically.`)
    if (versions.length > 0 && isObject(body.tool_choice) && body.tool_choice.disable_parallel_tool_use === true)
      throw new ApiProblem('tool_choice: `disable_parallel_tool_use` is not supported with programmatic tool calling.')
  })
}

const containerOf = ({ container }: JsonObject) => (isObject(container) ? container.id : (container ?? undefined))

function checkContainer({ body, history }: ModelRequest, { containers }: AnthropicMemory): void {
  const containerId = containerOf(body)
  if (containerId !== undefined && ![...containers.values()].includes(String(containerId)))
    throw new ApiProblem(`Container '${containerId}' not found.`, { status: 404, type: 'not_found_error' })
  const waiting = waitingIn(history)
  if (waiting !== undefined && containerId === undefined)
    throw new ApiProblem(`container: required while the program '${waiting}' waits for results.`)
  if (waiting !== undefined && containers.has(waiting) && containers.get(waiting) !== containerId)
    throw new ApiProblem(`container: the program '${waiting}' does not run in '${containerId}'.`)
}

/** Id of the program without a result. */
export function waitingIn(history: readonly JsonObject[]): string | undefined {
  const blocks = blocksOf(history)
  const finished = new Set(
    blocks.flatMap((block) => (block.type === 'code_execution_tool_result' ? [block.tool_use_id] : [])),
  )
  const started = blocks.filter(({ type, name }) => type === 'server_tool_use' && name === 'code_execution')
  return started.map(({ id }) => String(id)).findLast((id) => !finished.has(id))
}

function checkCaller(
  { id, caller }: JsonObject,
  { request, index, memory }: { request: ModelRequest; index: number; memory: AnthropicMemory },
): void {
  const recorded = memory.callers.get(String(id))
  if (recorded && JSON.stringify(recorded) !== JSON.stringify(caller))
    throw new ApiProblem(`messages.${index}: the \`caller\` of \`tool_use\` '${id}' is not what it was.`)
  if (!isObject(caller) || !VERSION.test(String(caller.type))) return
  if (
    !blocksOf(request.history.slice(0, index + 1)).some(
      (block) => block.type === 'server_tool_use' && block.id === caller.tool_id,
    )
  )
    throw new ApiProblem(`messages.${index}: \`caller.tool_id\` '${caller.tool_id}' names no \`server_tool_use\`.`)
}

/** While a program waits, the next message has only results, and these have only text. */
function checkWaiting({ history }: ModelRequest, index: number): void {
  const programCalls = objects(history[index]?.content).filter(isProgramCall)
  const answer = objects(history[index + 1]?.content)
  if (answer.some(({ type }) => type !== 'tool_result'))
    throw new ApiProblem(
      `messages.${index + 1}: while programmatic tool calls are pending, the message must contain only \`tool_result\` blocks.`,
    )
  const ids = programCalls.map(({ id }) => id)
  for (const { tool_use_id, content } of answer)
    if (ids.includes(tool_use_id) && objects(content).some(({ type }) => type !== 'text'))
      throw new ApiProblem(`messages.${index + 1}: results of programmatic tool calls hold text only.`)
}

/** Blocks for the programs of a turn: ended ones before the text, calling ones after it. */
export function programBlocks(turn: ModelTurn, { request, visible, newId, memory }: AnthropicContext) {
  const ended: JsonObject[] = []
  const calling: JsonObject[] = []
  const version = versionIn(request.tools)
  for (const program of turn.programs ?? []) {
    if (version === undefined) throw new Error('The request has no code_execution.')
    const id = program.id ?? (program.code === undefined ? waitingIn(request.history) : newId('srvtoolu'))
    if (id === undefined) throw new Error('No program waits.')
    if (program.code !== undefined) {
      memory.containers.set(id, String(containerOf(request.body) ?? newId('container')))
      const input = { code: program.code }
      calling.push({ type: 'server_tool_use', id, name: 'code_execution', input, caller: { type: 'direct' } })
    }
    assertVisible(program.calls, anthropicCallableBy(version, request, visible))
    for (const call of program.calls ?? [])
      calling.push(callBlock(call, { newId, memory, caller: { type: version, tool_id: id } }))
    const result = resultBlock(id, program)
    // A program that starts and ends in one turn has its result after its start.
    if (result) (program.code === undefined ? ended : calling).push(result)
  }
  return { ended, calling, container: containerFor(turn, { request, memory }) }
}

export interface AnthropicContext {
  request: ModelRequest
  /** Tools that the model sees. */
  visible: ReadonlySet<string>
  newId: NewId
  memory: AnthropicMemory
}

export function callBlock(
  { name, arguments: input = {}, id, caller: scriptedCaller }: ScriptedCall,
  { newId, memory, caller }: { newId: NewId; memory: AnthropicMemory; caller: JsonObject },
): JsonObject {
  const block = { type: 'tool_use', id: id ?? newId('toolu'), name, input, caller: scriptedCaller ?? caller }
  memory.callers.set(block.id, block.caller)
  return block
}

function resultBlock(id: string, { output, error }: ScriptedProgram): JsonObject | undefined {
  const result = { type: 'code_execution_tool_result', tool_use_id: id }
  if (error !== undefined)
    return {
      ...result,
      content: { type: 'code_execution_result', stdout: '', stderr: error, return_code: 1, content: [] },
    }
  if (output === undefined) return undefined
  return {
    ...result,
    content: { type: 'code_execution_result', stdout: output, stderr: '', return_code: 0, content: [] },
  }
}

function containerFor(
  turn: ModelTurn,
  { request, memory }: Pick<AnthropicContext, 'request' | 'memory'>,
): JsonObject | null {
  const last = [...memory.containers.values()].at(-1)
  const id = containerOf(request.body) ?? (turn.programs?.length ? last : undefined)
  return id === undefined ? null : { id, expires_at: EXPIRES, skills: null }
}
