/** Runs an app's own function as a tool. What it gives becomes content; what it throws is the tool's error, not ours. */
import { HostError } from '../errors.ts'
import { APP_OWNER } from '../schema/ids.ts'
import type { JsonObject } from '../schema/json.ts'
import type { CustomServer } from '../schema/server.ts'
import { type Functions, HOST_FUNCTION, type ToolFunction } from '../toolkits/functions.ts'
import type { CallOutcome, ResolvedCall } from './call.ts'

export interface FunctionLimits {
  callMs: number
  /** Told when that ran out, before the call fails. */
  onLate?(ms: number): void
}

export async function runFunction(functions: Functions, call: ResolvedCall, limits: FunctionLimits) {
  const { stored, found } = call
  const tool = found.manifest.name
  const server = stored.toolkit.server as CustomServer
  const execute = server.tools.find((one) => one.name === tool)?.execute
  if (execute !== HOST_FUNCTION)
    throw new HostError('function-missing', {
      detail: `The code of '${stored.toolkit.id}.${tool}' cannot be run by this host.`,
    })
  const owner = stored.tier === 'app' ? APP_OWNER : stored.userId
  const run = functions.find({ userId: owner, toolkit: stored.toolkit.id, tool })
  if (!run) throw new HostError('function-missing', { detail: `'${stored.toolkit.id}.${tool}' has no function here.` })
  return within(limits, call, run)
}

async function within({ callMs, onLate }: FunctionLimits, call: ResolvedCall, run: ToolFunction): Promise<CallOutcome> {
  const clock = new AbortController()
  const given = call.signal
  const { signal } = clock
  // Linked by hand: a signal made of two costs a call several times as much.
  const giveUp = () => clock.abort(given?.reason)
  if (given?.aborted) giveUp()
  else given?.addEventListener('abort', giveUp, { once: true })
  const { userId, threadId, callId, caller } = call
  const { promise: ended, reject } = Promise.withResolvers<never>()
  const end = () => {
    if (!given?.aborted) onLate?.(callMs)
    reject(given?.aborted ? new HostError('cancelled') : late(callMs))
  }
  if (signal.aborted) end()
  else signal.addEventListener('abort', end, { once: true })
  const timer = setTimeout(() => clock.abort(), callMs)
  try {
    const work = (async () => run(call.arguments as never, { userId, threadId, callId, caller, signal }))()
    return resultOf(await Promise.race([work, ended]))
  } catch (error) {
    // The app speaks our language: an error of the table is told as it is.
    if (HostError.is(error)) throw error
    return { status: 'tool-error', content: [text(error instanceof Error ? error.message : String(error))] }
  } finally {
    clearTimeout(timer)
    // A signal may outlive many calls.
    given?.removeEventListener('abort', giveUp)
    signal.removeEventListener('abort', end)
    ended.catch(() => {})
  }
}

const late = (ms: number) => new HostError('server-timeout', { detail: `The function did not answer within ${ms} ms.` })

const text = (value: string): JsonObject => ({ type: 'text', text: value })

function resultOf(value: unknown): CallOutcome {
  if (value === undefined || value === null) return { status: 'ok', content: [] }
  if (typeof value !== 'object') return { status: 'ok', content: [text(String(value))] }
  const { content, structuredContent, isError } = value as JsonObject
  if (Array.isArray(content) && content.every((block) => typeof block?.type === 'string'))
    return {
      status: isError === true ? 'tool-error' : 'ok',
      content,
      ...(structuredContent === undefined ? {} : { structuredContent }),
    }
  // Through JSON, so that what is kept and handed on is plain, whatever the function gave.
  const plain = JSON.stringify(value)
  return { status: 'ok', content: [text(plain)], structuredContent: JSON.parse(plain) }
}
