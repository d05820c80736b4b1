/** Provider-run programs of OpenAI Responses: items of a turn, and checks that they come back unchanged. */
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
} from './script.ts'

/** State that the API keeps between requests. */
export interface ResponsesMemory {
  /** Programs by call id. */
  programs: Map<string, JsonObject>
  /** Callers by call id. */
  callers: Map<string, JsonObject>
}

const functionsIn = (tools: readonly JsonObject[]): JsonObject[] =>
  tools.flatMap((tool) => (tool.type === 'namespace' ? objects(tool.tools) : tool.type === 'function' ? [tool] : []))
const callersOf = ({ allowed_callers: callers }: JsonObject): unknown[] =>
  Array.isArray(callers) ? callers : ['direct']
const isOn = (tools: readonly JsonObject[]) => tools.some(({ type }) => type === 'programmatic_tool_calling')
const isProgram = (caller: unknown): caller is JsonObject => isObject(caller) && caller.type === 'program'

/** Visible tools that this caller may call, from the request and from search outputs. */
export const responsesCallableBy = (
  caller: 'direct' | 'programmatic',
  { tools, history }: ModelRequest,
  visible: ReadonlySet<string>,
) => {
  const loaded = history.flatMap((item) => (item.type === 'tool_search_output' ? objects(item.tools) : []))
  const functions = functionsIn([...tools, ...loaded])
  const names = functions.filter((tool) => callersOf(tool).includes(caller)).map(({ name }) => String(name))
  return new Set(names.filter((name) => visible.has(name)))
}

export function checkResponsesPrograms({ tools, history }: ModelRequest, memory: ResponsesMemory): void {
  if (!isOn(tools) && functionsIn(tools).some((tool) => callersOf(tool).includes('programmatic')))
    throw new ApiProblem(
      "'allowed_callers' with 'programmatic' needs the 'programmatic_tool_calling' tool in 'tools'.",
      {
        param: 'tools',
      },
    )
  history.forEach((item, index) => {
    const param = `input[${index}]`
    if (item.type === 'program') checkProgram(item, { param, memory })
    if (item.type === 'function_call') checkCaller(item, { param, memory, before: history.slice(0, index) })
    if (item.type === 'function_call_output') checkAnswer(item, { param, before: history.slice(0, index) })
  })
}

function checkProgram(item: JsonObject, { param, memory }: { param: string; memory: ResponsesMemory }): void {
  for (const field of ['id', 'call_id', 'code', 'fingerprint'])
    if (typeof item[field] !== 'string')
      throw new ApiProblem(`Missing required parameter: '${param}.${field}'.`, {
        param: `${param}.${field}`,
        code: 'missing_required_parameter',
      })
  const recorded = memory.programs.get(String(item.call_id))
  if (recorded && (recorded.fingerprint !== item.fingerprint || recorded.code !== item.code))
    throw new ApiProblem(
      `The program '${item.call_id}' does not match its fingerprint. Round-trip the item unchanged.`,
      {
        param: `${param}.fingerprint`,
      },
    )
}

function checkCaller(
  { call_id, caller }: JsonObject,
  { param, memory, before }: { param: string; memory: ResponsesMemory; before: readonly JsonObject[] },
): void {
  const recorded = memory.callers.get(String(call_id))
  if (recorded && JSON.stringify(recorded) !== JSON.stringify(caller))
    throw new ApiProblem(`The caller of function call '${call_id}' is not what it was.`, { param: `${param}.caller` })
  if (!isProgram(caller)) return
  if (!before.some((item) => item.type === 'program' && item.call_id === caller.caller_id))
    throw new ApiProblem(`No program found for caller with caller_id ${caller.caller_id}.`, {
      param: `${param}.caller`,
    })
}

function checkAnswer(
  { call_id, caller }: JsonObject,
  { param, before }: { param: string; before: readonly JsonObject[] },
): void {
  const functionCall = before.find((item) => item.type === 'function_call' && item.call_id === call_id)
  const [expectedId, actualId] = [functionCall?.caller, caller].map((value) =>
    isProgram(value) ? value.caller_id : undefined,
  )
  if (expectedId !== actualId)
    throw new ApiProblem(`The output of function call '${call_id}' must carry the caller of its call.`, {
      param: `${param}.caller`,
    })
}

/** Id of the program without an output. */
function waitingIn(history: readonly JsonObject[]): string | undefined {
  const finished = new Set(history.flatMap((item) => (item.type === 'program_output' ? [item.call_id] : [])))
  const started = history.flatMap((item) => (item.type === 'program' ? [String(item.call_id)] : []))
  return started.findLast((id) => !finished.has(id))
}

export interface ResponsesContext {
  request: ModelRequest
  /** Tools that the model sees. */
  visible: ReadonlySet<string>
  newId: NewId
  memory: ResponsesMemory
  /** Builds the item of a call. */
  callItem(call: ScriptedCall): JsonObject
}

/** Items for the programs of a turn: ended ones before the text, calling ones after it. */
export function programItems(turn: ModelTurn, { request, visible, newId, memory, callItem }: ResponsesContext) {
  const ended: JsonObject[] = []
  const calling: JsonObject[] = []
  for (const { id, code, calls = [], output, error } of turn.programs ?? []) {
    if (!isOn(request.tools)) throw new Error('The request has no programmatic_tool_calling.')
    const call_id = id ?? (code === undefined ? waitingIn(request.history) : newId('call'))
    if (call_id === undefined) throw new Error('No program waits.')
    if (code !== undefined) {
      const program = { id: newId('prog'), type: 'program', call_id, code, fingerprint: newId('fp') }
      memory.programs.set(call_id, program)
      calling.push(program)
    }
    assertVisible(calls, responsesCallableBy('programmatic', request, visible))
    const caller = { type: 'program', caller_id: call_id }
    for (const call of calls) {
      const item = callItem({ caller, ...call })
      memory.callers.set(String(item.call_id), caller)
      calling.push(item)
    }
    if (output === undefined && error === undefined) continue
    const base = { id: newId('progout'), type: 'program_output', call_id, result: error ?? output }
    const result = { ...base, status: error === undefined ? 'completed' : 'incomplete' }
    // A program that starts and ends in one turn has its result after its start.
    if (code === undefined) ended.push(result)
    else calling.push(result)
  }
  return { ended, calling }
}
