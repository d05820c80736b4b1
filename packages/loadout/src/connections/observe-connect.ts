/** A span and a count for every connection that is made, or could not be. */
import { type Context, SpanKind, trace } from '@opentelemetry/api'
import { HostError } from '../errors.ts'
import { ATTRIBUTE, CONNECT_SPAN } from '../telemetry/conventions.ts'
import { endSpan, type Telemetry } from '../telemetry/telemetry.ts'
import { type TraceMeta, traceMeta, traceOr } from '../telemetry/trace-context.ts'
import type { Connection } from './connection.ts'
import { networkOf } from './observed-connection.ts'

/** `open` gets what goes along with the handshake. The trace is that of whoever came first; others may wait with them. */
export async function observeConnect(
  { tracer, counters }: Telemetry,
  about: { toolkit: string; trace: Context | undefined },
  open: (meta: TraceMeta | undefined) => Promise<Connection>,
): Promise<Connection> {
  const { toolkit } = about
  const parent = traceOr(about.trace)
  const attributes = { [ATTRIBUTE.toolkit]: toolkit }
  const span = tracer.startSpan(CONNECT_SPAN, { kind: SpanKind.INTERNAL, attributes }, parent)
  try {
    const connection = await open(traceMeta(trace.setSpan(parent, span)))
    counters?.clientStarted(toolkit, parent)
    const network = networkOf(connection.info)
    endSpan(span, undefined, {
      [ATTRIBUTE.protocolVersion]: connection.info.protocolVersion,
      ...(network === undefined ? {} : { [ATTRIBUTE.network]: network }),
    })
    return connection
  } catch (thrown) {
    const { code } = HostError.from(thrown)
    counters?.clientFailed(toolkit, code, parent)
    endSpan(span, code)
    throw thrown
  }
}
