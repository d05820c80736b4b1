/**
 * Runs a tool of a custom toolkit: a function of the app here, code wherever the host runs it. What it gives becomes content;
 * what it throws is the tool's error, not ours.
 */
import { HostError } from '../errors.ts'
import { APP_OWNER } from '../schema/ids.ts'
import type { JsonObject } from '../schema/json.ts'
import type { CustomServer, CustomTool } from '../schema/toolkit/server.ts'
import { type Functions, HOST_FUNCTION, refName, type ToolFunction } from '../toolkits/functions.ts'
import type { CallOutcome, ResolvedCall } from './call.ts'

export interface FunctionLimits {
  callMs: number
  /** Told when that ran out, before the call fails. */
  onLate?(ms: number): void
}

export interface CustomDeps {
  functions: Functions
  /** What runs code, where the host has it. */
  runCode?: RunCode | undefined
}

/** Runs the code of a tool, somewhere else and within its limits. */
export type RunCode = (call: ResolvedCall, tool: CustomTool, limits: FunctionLimits) => Promise<CallOutcome>

/** A tool of a custom toolkit: a function of the app, by its name or its place, or code. */
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
  const clock = new AbortController()
  const callSignal = call.signal
  const { signal } = clock
  // Linked by hand: a signal made of two costs a call several times as much.
  const abort = () => clock.abort(callSignal?.reason)
  if (callSignal?.aborted) abort()
  else callSignal?.addEventListener('abort', abort, { once: true })
  const { userId, threadId, callId, caller } = call
  const { promise: ended, reject } = Promise.withResolvers<never>()
  const end = () => {
    if (!callSignal?.aborted) onLate?.(callMs)
    reject(callSignal?.aborted ? new HostError('cancelled') : timedOut(callMs))
  }
  if (signal.aborted) end()
  else signal.addEventListener('abort', end, { once: true })
  const timer = setTimeout(() => clock.abort(), callMs)
  try {
    const work = (async () => run(call.arguments as never, { userId, threadId, callId, caller, signal }))()
    return customResult(await Promise.race([work, ended]))
  } catch (error) {
    // The app speaks our language: an error of the table is told as it is.
    if (HostError.is(error)) throw error
    return { status: 'tool-error', content: [text(error instanceof Error ? error.message : String(error))] }
  } finally {
    clearTimeout(timer)
    // A signal may outlive many calls.
    callSignal?.removeEventListener('abort', abort)
    signal.removeEventListener('abort', end)
    ended.catch(() => {})
  }
}

const timedOut = (ms: number) =>
  new HostError('server-timeout', { detail: `The function did not answer within ${ms} ms.` })

const text = (value: string): JsonObject => ({ type: 'text', text: value })

/** What a function or code gave, as the result of its tool. */
export function customResult(value: unknown): CallOutcome {
  if (value === undefined || value === null) return { status: 'ok', content: [] }
  // A number is no text to who calculates with it.
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
  // Through JSON, so that what is kept and handed on is plain, whatever the function gave.
  const json = JSON.stringify(value)
  return { status: 'ok', content: [text(json)], structuredContent: JSON.parse(json) }
}
