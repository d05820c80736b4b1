/**
 * What a host tells of its work to OpenTelemetry: the API alone, no SDK, and nothing of ours is registered anywhere. With
 * no provider a call pays for one span that is none. Arguments, results, headers and messages never reach it.
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
  /** @default the tracer of the provider that the app registered, if any */
  tracer?: Tracer
  /** @default the meter of the provider that the app had registered when the host was made, if any */
  meter?: Meter
  /** Told of every call that is over, for a log. */
  onCall?: (call: CallMeasurement) => void
  /** How many names become tags before the rest is `other`. */
  limits?: NameLimits
}

/** A call that is over, without what it was about. */
export interface CallMeasurement {
  callId: string
  userId: string
  threadId?: string | undefined
  /** `toolkit.tool`; as it was asked for where it was never found. */
  ref: string
  caller: string
  outcome: string
  /** The code of its error. */
  error?: string | undefined
  ms: number
  /** Where it was traced. */
  traceId?: string | undefined
}

export interface Telemetry {
  readonly tracer: Tracer
  /** Whether anybody traces: an app may register its provider after it made the host. */
  isTracing(): boolean
  /** Undefined where nobody reads them: then nothing is counted. */
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

/** By the API's own stand-in for a provider, which costs less to ask than a span that is none. */
function watchProvider(): () => boolean {
  const provider = trace.getTracerProvider()
  let isRegistered = false
  return () => {
    isRegistered ||= !(provider instanceof ProxyTracerProvider) || provider.getDelegateTracer(NAME) !== undefined
    return isRegistered
  }
}

/** Who looks on must not fail what they look at. */
function ignoreErrors(onCall: (call: CallMeasurement) => void): (call: CallMeasurement) => void {
  return (call) => {
    try {
      onCall(call)
    } catch {}
  }
}

/** Ends a span with what became of it. Its message is left out: servers write there what they were given. */
export function endSpan(span: Span, error: string | undefined, attributes: Attributes = {}): void {
  if (span.isRecording()) {
    span.setAttributes(attributes)
    if (error !== undefined) span.setAttribute(ATTRIBUTE.error, error).setStatus({ code: SpanStatusCode.ERROR })
  }
  span.end()
}
