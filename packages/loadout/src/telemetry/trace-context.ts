/**
 * Trace context of work, as OpenTelemetry's immutable `Context`. It is passed explicitly; without one the active
 * context of the app is used.
 *
 * Servers get it as W3C fields in a request's `_meta` (SEP-414), and only under a recording span.
 */
import {
  type Baggage,
  type Context,
  context,
  createContextKey,
  propagation,
  type Span,
  trace,
} from '@opentelemetry/api'

/** Trace fields of a request's `_meta`. */
export type TraceMeta = Readonly<Record<string, string>>

export const traceOr = (parent: Context | undefined): Context => parent ?? context.active()

/** The context's span, if it records. */
export function recordingSpan(at: Context | undefined): Span | undefined {
  const span = at && trace.getSpan(at)
  return span?.isRecording() ? span : undefined
}

export function traceMeta(at: Context): TraceMeta | undefined {
  const span = recordingSpan(at)
  if (!span) return undefined
  const { traceId, spanId, traceFlags, traceState } = span.spanContext()
  const tracestate = traceState?.serialize()
  const baggage = writeBaggage(propagation.getBaggage(at))
  return {
    traceparent: `00-${traceId}-${spanId}-${(traceFlags & 0xff).toString(16).padStart(2, '0')}`,
    ...(tracestate ? { tracestate } : {}),
    ...(baggage ? { baggage } : {}),
  }
}

/** W3C Baggage limits. */
const MAX_ENTRIES = 64
const MAX_CHARACTERS = 8192

function writeBaggage(baggage: Baggage | undefined): string {
  let written = ''
  for (const [key, { value, metadata }] of (baggage?.getAllEntries() ?? []).slice(0, MAX_ENTRIES)) {
    const more = metadata === undefined ? '' : `;${metadata.toString()}`
    const entry = `${encodeURIComponent(key.toWellFormed())}=${encodeURIComponent(value.toWellFormed())}${more}`
    if (written.length + entry.length + 1 > MAX_CHARACTERS) continue
    written += written === '' ? entry : `,${entry}`
  }
  return written
}

const WORKFLOW_VERSION = createContextKey('loadout.workflow.version')

/** Work in the returned context counts for this workflow version. */
export function forWorkflow(at: Context, workflowVersionId: string | undefined): Context {
  return workflowVersionId === undefined ? at : at.setValue(WORKFLOW_VERSION, workflowVersionId)
}

export const workflowVersionOf = (at: Context): string | undefined =>
  at.getValue(WORKFLOW_VERSION) as string | undefined
