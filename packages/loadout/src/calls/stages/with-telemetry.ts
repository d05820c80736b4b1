/**
 * Wraps the pipeline: one span and one count per call, including denied calls and unknown tools. Only names of resolved
 * tools become tags, because requested names are unbounded. Arguments, results and messages are not exported.
 */
import { type Attributes, INVALID_TRACEID, type Span, SpanKind, trace } from '@opentelemetry/api'
import { HostError } from '../../errors.ts'
import { ATTRIBUTE, CALL_METHOD, EXECUTE_TOOL, TOOL_ERROR } from '../../telemetry/conventions.ts'
import { endSpan, type Telemetry } from '../../telemetry/telemetry.ts'
import { traceOr } from '../../telemetry/trace-context.ts'
import type { CallHandler, CallOutcome, ToolCall } from '../call.ts'
import { failed } from '../call.ts'

const CALL_SPAN = {
  kind: SpanKind.CLIENT,
  attributes: { [ATTRIBUTE.method]: CALL_METHOD, [ATTRIBUTE.operation]: EXECUTE_TOOL },
}
const MAX_REF_LENGTH = 200

export function withTelemetry(telemetry: Telemetry) {
  const isAlwaysOn = telemetry.counters !== undefined || telemetry.onCall !== undefined
  return (next: CallHandler): CallHandler =>
    (call) => {
      // Fast path without a provider: no span, no await.
      if (!isAlwaysOn && !telemetry.isTracing()) return next(call)
      const at = traceOr(call.trace)
      const span = telemetry.tracer.startSpan(CALL_METHOD, CALL_SPAN, at)
      const isTraced = span.spanContext().traceId !== INVALID_TRACEID
      return observe({ telemetry, next, span }, isTraced ? { ...call, trace: trace.setSpan(at, span) } : call)
    }
}

async function observe(
  { telemetry, next, span }: { telemetry: Telemetry; next: CallHandler; span: Span },
  call: ToolCall,
): Promise<CallOutcome> {
  const startedAt = performance.now()
  telemetry.counters?.callStarted()
  let outcome: CallOutcome
  try {
    outcome = await next(call)
  } catch (thrown) {
    outcome = failed(HostError.from(thrown))
  }
  const error = errorOf(outcome)
  const { toolkit, tool } = call.notes.found ?? {}
  const caller = call.caller.type
  telemetry.counters?.callEnded({ toolkit, tool, caller, outcome: outcome.status, error })
  const recorded = span.isRecording()
  if (recorded && tool !== undefined) span.updateName(`${CALL_METHOD} ${tool}`)
  endSpan(span, error, recorded ? attributesOf(call, outcome) : {})
  telemetry.onCall?.({
    callId: call.callId,
    userId: call.userId,
    threadId: call.threadId,
    ref: `${toolkit ?? call.toolkit}.${tool ?? call.tool}`.slice(0, MAX_REF_LENGTH),
    caller,
    outcome: outcome.status,
    error,
    ms: performance.now() - startedAt,
    traceId: recorded ? span.spanContext().traceId : undefined,
  })
  return outcome
}

/** Error code, or the semantic-convention value for tool errors. */
function errorOf(outcome: CallOutcome): string | undefined {
  if ('error' in outcome) return outcome.error.code
  return outcome.status === 'tool-error' ? TOOL_ERROR : undefined
}

function attributesOf(call: ToolCall, outcome: CallOutcome): Attributes {
  const { found, decision } = call.notes
  return {
    [ATTRIBUTE.callId]: call.callId,
    [ATTRIBUTE.caller]: call.caller.type,
    [ATTRIBUTE.outcome]: outcome.status,
    ...(found === undefined ? {} : { [ATTRIBUTE.toolkit]: found.toolkit, [ATTRIBUTE.tool]: found.tool }),
    ...(decision === undefined ? {} : { [ATTRIBUTE.decision]: decision.decision }),
    ...(call.threadId === undefined ? {} : { [ATTRIBUTE.thread]: call.threadId }),
  }
}
