/**
 * OpenTelemetry for a host: it uses the API only and registers nothing. Without a provider a call costs one no-op span.
 * Arguments, results, headers and messages are never recorded.
 */
import {
  type Attributes,
  createNoopMeter,
  type Meter,
  metrics,
  ProxyTracerProvider,
  type Span,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api'
import type { NameLimits } from './bounded-names.ts'
import { ATTRIBUTE } from './conventions.ts'
import { type Counters, createCounters } from './counters.ts'

export interface TelemetryOptions {
  /** @default the tracer of the app's provider, if any */
  tracer?: Tracer
  /** @default the meter of the provider that was registered when the host was created, if any */
  meter?: Meter
  /** Called after every call, for logs. */
  onCall?: (call: CallMeasurement) => void
  /** Number of names that become tags before the rest is `other`. */
  limits?: NameLimits
}

/** A finished call, without its content. */
export interface CallMeasurement {
  callId: string
  userId: string
  threadId?: string | undefined
  /** `toolkit.tool`, or the requested name if the tool was not found. */
  ref: string
  caller: string
  outcome: string
  /** Error code. */
  error?: string | undefined
  ms: number
  /** Set if the call was traced. */
  traceId?: string | undefined
}

export interface Telemetry {
  readonly tracer: Tracer
  /** Whether a provider is registered; the app may do that after it creates the host. */
  isTracing(): boolean
  /** Undefined without a meter provider; then nothing is counted. */
  readonly counters: Counters | undefined
  readonly onCall: ((call: CallMeasurement) => void) | undefined
}

const NAME = 'loadout'

export function createTelemetry({ tracer, meter, onCall, limits }: TelemetryOptions = {}): Telemetry {
  const activeMeter = meter ?? metrics.getMeter(NAME)
  return {
    tracer: tracer ?? trace.getTracer(NAME),
    isTracing: tracer ? () => true : watchProvider(),
    counters: activeMeter === createNoopMeter() ? undefined : createCounters(activeMeter, limits),
    onCall: onCall && ignoreErrors(onCall),
  }
}

/** Checks the API's proxy provider, which costs less than a no-op span. */
function watchProvider(): () => boolean {
  const provider = trace.getTracerProvider()
  let isRegistered = false
  return () => {
    isRegistered ||= !(provider instanceof ProxyTracerProvider) || provider.getDelegateTracer(NAME) !== undefined
    return isRegistered
  }
}

/** A throwing `onCall` observer must not fail the call. */
function ignoreErrors(onCall: (call: CallMeasurement) => void): (call: CallMeasurement) => void {
  return (call) => {
    try {
      onCall(call)
    } catch {}
  }
}

/** Omits the error message, because servers may repeat their input in it. */
export function endSpan(span: Span, error: string | undefined, attributes: Attributes = {}): void {
  if (span.isRecording()) {
    span.setAttributes(attributes)
    if (error !== undefined) span.setAttribute(ATTRIBUTE.error, error).setStatus({ code: SpanStatusCode.ERROR })
  }
  span.end()
}
