/** The last stage: the only place where a tool is called. */
import type { Connector } from '../connections/connector.ts'
import type { Functions } from '../toolkits/functions.ts'
import type { CallHandler, ResolvedCall } from './call.ts'
import { runFunction } from './run-function.ts'

const CALL_MS = 60_000
const TOTAL_MS = 600_000
const LONGEST_WAIT_MS = 30_000

export function executeCall(connector: Connector, functions: Functions): CallHandler<ResolvedCall> {
  return async (call) => {
    const { stored, found, userId, arguments: input, signal, onProgress, trace } = call
    const { timeouts } = stored.toolkit
    const { maxMs = Number.POSITIVE_INFINITY } = call
    const callMs = Math.min(timeouts.callMs ?? CALL_MS, maxMs)
    const totalMs = Math.min(timeouts.totalMs ?? TOTAL_MS, maxMs)
    if (stored.toolkit.server.type === 'custom') return runFunction(functions, call, { callMs })
    const { name, inputSchema, annotations } = found.manifest
    const result = await connector.use(stored, userId, {
      connectMs: timeouts.connectMs,
      signal,
      trace,
      patienceMs: Math.min(callMs, LONGEST_WAIT_MS),
      // A server's claim is enough here: where it is wrong, the harm of a repetition is the server's own.
      repeatable: annotations?.readOnlyHint === true || annotations?.idempotentHint === true,
      work: (connection) =>
        connection.callTool(
          { name, arguments: input, inputSchema },
          { signal, onProgress, timeoutMs: callMs, totalMs },
        ),
    })
    const { content, structuredContent, isError } = result
    return {
      status: isError ? 'tool-error' : 'ok',
      content,
      ...(structuredContent === undefined ? {} : { structuredContent }),
    }
  }
}
