/** Last stage of the pipeline: the only code that calls a tool. */
import type { Connector } from '../connections/connector.ts'
import { HostError } from '../errors.ts'
import { claimsOf } from '../loadout/transform/tighten.ts'
import type { AppConfig } from '../schema/app-config.ts'
import { isTrusted } from '../toolkits/stored-toolkit.ts'
import type { CallHandler, CallOutcome, ResolvedCall } from './call.ts'
import { isHarmless } from './call.ts'
import { type CustomDeps, runCustom } from './custom-function.ts'

const CALL_MS = 60_000
const TOTAL_MS = 600_000
const MAX_WAIT_MS = 30_000

export interface ExecuteDeps extends CustomDeps {
  connector: Connector
  app: { get(): Promise<AppConfig> }
}

export function executeCall(deps: ExecuteDeps): CallHandler<ResolvedCall> {
  return async (call) => {
    let lateMs: number | undefined
    const onLate = (ms: number) => {
      lateMs = ms
    }
    try {
      return await execute(deps, call, onLate)
    } catch (error) {
      if (lateMs !== undefined && lateMs === call.maxMs) return timedOut(lateMs)
      if (isToolError(error)) return { status: 'tool-error', content: [{ type: 'text', text: error.message }] }
      throw error
    }
  }
}

/** Many servers report a tool's own failure as a JSON-RPC error. Invalid arguments stay an error: they name what to correct. */
const isToolError = (error: unknown): error is HostError =>
  HostError.is(error) && error.code === 'refused-by-server' && error.status !== 422

/** The operator's `callMs` ran out, not the timeout of the toolkit. */
const timedOut = (ms: number): CallOutcome => ({
  status: 'limited',
  error: new HostError('limit-reached', {
    detail: `callMs is ${ms}: the call took longer, and was given up.`,
    action: 'Ask the tool for less at once, or the operator for more time.',
  }),
})

async function execute(deps: ExecuteDeps, call: ResolvedCall, onLate: (ms: number) => void): Promise<CallOutcome> {
  const { stored, found, userId, arguments: input, signal, onProgress, onLog, trace } = call
  const { timeouts } = stored.toolkit
  const { maxMs = Number.POSITIVE_INFINITY } = call
  const callMs = Math.min(timeouts.callMs ?? CALL_MS, maxMs)
  const totalMs = Math.min(timeouts.totalMs ?? TOTAL_MS, maxMs)
  if (stored.toolkit.server.type === 'custom') return runCustom(deps, call, { callMs, onLate })
  const { name, inputSchema } = found.manifest
  const result = await deps.connector.use(stored, userId, {
    connectMs: timeouts.connectMs,
    signal,
    trace,
    maxRetryAfterMs: Math.min(callMs, MAX_WAIT_MS),
    repeatable: isHarmless(claimsOf(stored.toolkit, found.manifest)) && isTrusted(stored, await deps.app.get()),
    work: (connection) =>
      connection.callTool(
        { name, arguments: input, inputSchema },
        { signal, onProgress, onLog, timeoutMs: callMs, totalMs, onLate },
      ),
  })
  const { content, structuredContent, isError } = result
  return {
    status: isError ? 'tool-error' : 'ok',
    content,
    ...(structuredContent === undefined ? {} : { structuredContent }),
  }
}
