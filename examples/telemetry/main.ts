/** A host with an app's own tracer: what a call tells, and which trace it belongs to. */
import assert from 'node:assert/strict'
import { defineTool, rule } from '@loadout/core'
import { createServices } from '@loadout/core/services'
//#region example
import { ROOT_CONTEXT, trace } from '@opentelemetry/api'
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'

const exporter = new InMemorySpanExporter() // in place of yours
const tracers = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] })
const tracer = tracers.getTracer('my-app')

const told: string[] = []
await using host = createServices({
  tools: [defineTool({ name: 'greet', inputSchema: { type: 'object' }, execute: () => 'Hello' })],
  policy: [rule('app', 'allow')],
  telemetry: { tracer, onCall: ({ ref, outcome }) => told.push(`${ref} ${outcome}`) }, // and a meter
})

// A call belongs to the span that is active, or to the one that it is given.
const request = tracer.startSpan('request')
const call = { userId: 'ann', toolkit: 'app', tool: 'greet', arguments: {}, caller: { type: 'direct' } } as const
await host.calls.start({ ...call, trace: trace.setSpan(ROOT_CONTEXT, request) }).outcome
const [span] = exporter.getFinishedSpans()
//#endregion
assert.equal(span?.name, 'tools/call greet')
assert.equal(span?.parentSpanContext?.spanId, request.spanContext().spanId)
assert.deepEqual(told, ['app.greet ok'])
