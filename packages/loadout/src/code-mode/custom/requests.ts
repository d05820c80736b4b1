/** What a custom tool's code asks for: a fetch, or a call of a tool that it declares. */

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
import type { Declared } from './tools.ts'

export interface HostRequestDeps {
  calls: Pick<Calls, 'start'>
  /** The call whose code asks. */
  call: ResolvedCall
  declared: ReadonlyMap<string, Declared>
  names: ReadonlyMap<string, ReadonlyMap<string, string>>
  inside: readonly string[]
  fetch: CustomFetchOptions
}

export function errandsOf(parts: HostRequestDeps): (call: BridgeCall) => HostRequest {
  return ({ object, name, arguments: given }) => {
    if (object === '' && name === 'fetch') return { answered: answered(customFetch(given, parts.fetch)) }
    if (object === '' && name === 'read_result') return callOf(parts, builtInByName(name), given[0])
    const ref = object === '' ? String(given[0]) : (parts.names.get(object)?.get(name) ?? '')
    const tool = parts.declared.get(ref)
    const input = object === '' ? given[1] : given[0]
    if (!tool)
      return refused('not-carried', `'${ref.slice(0, 100)}' is not among the \`tools\` that this tool declares.`)
    return callOf(parts, { toolkit: tool.address, tool: tool.tool }, input)
  }
}

interface Address {
  toolkit: string
  tool: string
}

function callOf({ calls, call, inside }: HostRequestDeps, to: Address | undefined, input: unknown = {}): HostRequest {
  if (!to) return refused('tool-not-found', 'There is no such tool.')
  if (!isObject(input)) return refused('invalid-input', `'${to.tool}' takes one object.`)
  const { userId, threadId, runId, callId, inlineToolkits: brought, rules, signal, trace, trial } = call
  const running = calls.start({
    userId,
    threadId,
    runId,
    inlineToolkits: brought,
    rules,
    signal,
    trace,
    inside,
    ...to,
    arguments: input as JsonObject,
    caller: { type: 'code', toolId: callId },
    // Who tries a tool has allowed that one alone.
    trial: trial && { allow: false },
  })
  // Who waits for the outer call is told what it waits for, and when that is over.
  const asked = running.pending.then((approval) => call.onPending?.(approval))
  let wasAsked = false
  void asked.then(() => {
    wasAsked = true
  })
  const outcome = running.outcome.then(async (outcome) => {
    if (wasAsked) await call.onAllowed?.()
    return resultOf(outcome) as RequestResult
  })
  return { answered: outcome.catch(problem), asked }
}

const answered = (work: Promise<JsonObject>): Promise<RequestResult> => work.then((value) => ({ value }), problem)

function problem(error: unknown): RequestResult {
  const { code, message, action } = HostError.from(error)
  return { error: { code, message, data: { action } } }
}

const refused = (code: string, message: string): HostRequest => ({
  answered: Promise.resolve({ error: { code, message } }),
})
