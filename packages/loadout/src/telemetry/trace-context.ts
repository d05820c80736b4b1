/**
 * The trace that a piece of work belongs to, as the API's own immutable context. It is passed, not ambient: without one
 * the context that the app's own manager has active is taken, and where there is none nothing is traced.
 *
 * To a server it travels as W3C headers without a prefix in a request's `_meta` (SEP-414), and only under a span that records.
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

/** What goes along with a request. */
export type TraceMeta = Readonly<Record<string, string>>

export const traceOr = (parent: Context | undefined): Context => parent ?? context.active()

/** The span that records there. */
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

/** The limits of W3C Baggage. */
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

/** Work under it counts for this version of a workflow. */
export function forWorkflow(at: Context, workflowVersionId: string | undefined): Context {
  return workflowVersionId === undefined ? at : at.setValue(WORKFLOW_VERSION, workflowVersionId)
}

export const workflowVersionOf = (at: Context): string | undefined =>
  at.getValue(WORKFLOW_VERSION) as string | undefined
