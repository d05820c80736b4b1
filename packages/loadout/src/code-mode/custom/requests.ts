/** Handles the requests of a custom tool's code: a fetch, or a call of a declared tool. */

import { builtInByName } from '../../calls/built-in/built-in-tools.ts'
import type { ResolvedCall } from '../../calls/call.ts'
import type { Calls } from '../../calls/calls.ts'
import { HostError } from '../../errors.ts'
import type { JsonObject } from '../../schema/json.ts'
import { isObject } from '../../util/is-object.ts'
import { resultOf } from '../bridge.ts'
import type { BridgeCall } from '../executor.ts'
import type { HostRequest, RequestResult } from './bridge.ts'
import { type CustomFetchOptions, customFetch } from './fetch.ts'
import type { DeclaredCustomTool } from './tools.ts'

export interface HostRequestDeps {
  calls: Pick<Calls, 'start'>
  /** The call that runs the code. */
  call: ResolvedCall
  declared: ReadonlyMap<string, DeclaredCustomTool>
  names: ReadonlyMap<string, ReadonlyMap<string, string>>
  inside: readonly string[]
  fetch: CustomFetchOptions
}

export function createRequestHandler(deps: HostRequestDeps): (call: BridgeCall) => HostRequest {
  return ({ object, name, arguments: args }) => {
    if (object === '' && name === 'fetch') return { outcome: toResult(customFetch(args, deps.fetch)) }
    if (object === '' && name === 'read_result') return callOf(deps, builtInByName(name), args[0])
    const ref = object === '' ? String(args[0]) : (deps.names.get(object)?.get(name) ?? '')
    const tool = deps.declared.get(ref)
    const input = object === '' ? args[1] : args[0]
    if (!tool)
      return refused('not-carried', `'${ref.slice(0, 100)}' is not among the \`tools\` that this tool declares.`)
    return callOf(deps, { toolkit: tool.address, tool: tool.tool }, input)
  }
}

interface Address {
  toolkit: string
  tool: string
}

function callOf({ calls, call, inside }: HostRequestDeps, to: Address | undefined, input: unknown = {}): HostRequest {
  if (!to) return refused('tool-not-found', 'There is no such tool.')
  if (!isObject(input)) return refused('invalid-input', `'${to.tool}' takes one object.`)
  const { userId, threadId, runId, callId, inlineToolkits, rules, signal, trace, trial } = call
  const running = calls.start({
    userId,
    threadId,
    runId,
    inlineToolkits,
    rules,
    signal,
    trace,
    inside,
    ...to,
    arguments: input as JsonObject,
    caller: { type: 'code', toolId: callId },
    // A test run allows only the tested tool.
    trial: trial && { allow: false },
  })
  // Forwards the approval request of an inner call to the caller of the outer call.
  const pending = running.pending.then((approval) => call.onPending?.(approval))
  let wasPending = false
  void pending.then(() => {
    wasPending = true
  })
  const outcome = running.outcome.then(async (outcome) => {
    if (wasPending) await call.onAllowed?.()
    return resultOf(outcome) as RequestResult
  })
  return { outcome: outcome.catch(problem), pending }
}

const toResult = (work: Promise<JsonObject>): Promise<RequestResult> => work.then((value) => ({ value }), problem)

function problem(error: unknown): RequestResult {
  const { code, message, action } = HostError.from(error)
  return { error: { code, message, data: { action } } }
}

const refused = (code: string, message: string): HostRequest => ({
  outcome: Promise.resolve({ error: { code, message } }),
})
