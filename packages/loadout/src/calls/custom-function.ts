/**
 * Runs a tool of a custom toolkit: a function of the app, or code in the executor. The return value becomes content; a
 * thrown error becomes the error of the tool.
 */

import { HostError } from '../errors.ts'
import { APP_OWNER } from '../schema/ids.ts'
import type { JsonObject } from '../schema/json.ts'
import type { CustomServer, CustomTool } from '../schema/toolkit/server.ts'
import { type Functions, HOST_FUNCTION, refName, type ToolFunction } from '../toolkits/functions.ts'
import { linkedController, onAbort } from '../util/abort.ts'
import type { CallOutcome, ResolvedCall } from './call.ts'

export interface FunctionLimits {
  callMs: number
  /** Called when `callMs` runs out, before the call fails. */
  onLate?(ms: number): void
}

export interface CustomDeps {
  functions: Functions
  /** Runs code tools, if the host has an executor. */
  runCode?: RunCode | undefined
}

/** Runs the code of a tool in the executor, within its limits. */
export type RunCode = (call: ResolvedCall, tool: CustomTool, limits: FunctionLimits) => Promise<CallOutcome>

/** Runs a function of the app, found by name or by its position in the toolkit, or code. */
export async function runCustom(deps: CustomDeps, call: ResolvedCall, limits: FunctionLimits): Promise<CallOutcome> {
  const { stored, found } = call
  const name = found.manifest.name
  const ref = `${stored.toolkit.id}.${name}`
  const tool = (stored.toolkit.server as CustomServer).tools.find((candidate) => candidate.name === name)
  if (!tool) throw new HostError('function-missing', { detail: `'${ref}' has nothing that runs.` })
  const named = refName(tool.execute)
  if (named === undefined) {
    if (!deps.runCode) throw noExecutor(ref)
    return deps.runCode(call, tool, limits)
  }
  const run = functionOf(deps.functions, call, tool)
  if (run) return runWithTimeout(limits, call, run)
  const detail =
    tool.execute === HOST_FUNCTION
      ? `'${ref}' has no function here.`
      : `'${ref}' names the function '${named}', which this app does not have.`
  throw new HostError('function-missing', { detail })
}

function functionOf(functions: Functions, { stored }: ResolvedCall, { name, execute }: CustomTool) {
  if (execute !== HOST_FUNCTION) return functions.named(refName(execute) ?? '')
  const userId = stored.tier === 'app' ? APP_OWNER : stored.userId
  return functions.find({ userId, toolkit: stored.toolkit.id, tool: name })
}

const noExecutor = (ref: string) =>
  new HostError('function-missing', {
    detail: `The tool '${ref}' is code, and this host runs none.`,
    action: 'Give the host an executor: createHost({ executor: quickjs() }).',
  })

async function runWithTimeout(
  { callMs, onLate }: FunctionLimits,
  call: ResolvedCall,
  run: ToolFunction,
): Promise<CallOutcome> {
  const callSignal = call.signal
  const { controller: clock, unlink } = linkedController(callSignal)
  const { signal } = clock
  const { userId, threadId, callId, caller } = call
  const { promise: ended, reject } = Promise.withResolvers<never>()
  const end = () => {
    if (!callSignal?.aborted) onLate?.(callMs)
    reject(callSignal?.aborted ? new HostError('cancelled') : timedOut(callMs))
  }
  const stopListening = onAbort(signal, end)
  const timer = setTimeout(() => clock.abort(), callMs)
  try {
    const work = (async () => run(call.arguments as never, { userId, threadId, callId, caller, signal }))()
    return customResult(await Promise.race([work, ended]))
  } catch (error) {
    // A `HostError` thrown by the app is passed on unchanged.
    if (HostError.is(error)) throw error
    return { status: 'tool-error', content: [text(error instanceof Error ? error.message : String(error))] }
  } finally {
    clearTimeout(timer)
    // The signal may live longer than the call, so its listener must be removed.
    unlink()
    stopListening()
    ended.catch(() => {})
  }
}

const timedOut = (ms: number) =>
  new HostError('server-timeout', { detail: `The function did not answer within ${ms} ms.` })

const text = (value: string): JsonObject => ({ type: 'text', text: value })

/** Converts a return value to a tool result. */
export function customResult(value: unknown): CallOutcome {
  if (value === undefined || value === null) return { status: 'ok', content: [] }
  // Programs need the number itself, not its text.
  if (typeof value === 'boolean' || Number.isFinite(value))
    return { status: 'ok', content: [text(String(value))], structuredContent: value }
  if (typeof value !== 'object') return { status: 'ok', content: [text(String(value))] }
  const { content, structuredContent, isError } = value as JsonObject
  if (Array.isArray(content) && content.every((block) => typeof block?.type === 'string'))
    return {
      status: isError === true ? 'tool-error' : 'ok',
      content,
      ...(structuredContent === undefined ? {} : { structuredContent }),
    }
  // Serialized, so that the stored result is plain JSON.
  const json = JSON.stringify(value)
  return { status: 'ok', content: [text(json)], structuredContent: JSON.parse(json) }
}
