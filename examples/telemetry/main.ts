/** A host with the app's own tracer: the span of a call, and its parent. */
import assert from 'node:assert/strict'
//#region example
import { createHost, defineTool, rule } from '@loadout/core'
import { ROOT_CONTEXT, trace } from '@opentelemetry/api'
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'

const exporter = new InMemorySpanExporter() // in place of yours
const tracers = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] })
const tracer = tracers.getTracer('my-app')

const calls: string[] = []
await using host = createHost({
  toolkits: { tools: [defineTool({ name: 'greet', execute: () => 'Hello' })] },
  policy: { rules: [rule('app', 'allow')] },
  telemetry: { tracer, onCall: ({ ref, outcome }) => calls.push(`${ref} ${outcome}`) }, // and a meter
})
const thread = host.user('ann').thread('greetings')

// The parent of a call's span is the active span, or the one in `trace`.
const request = tracer.startSpan('request')
await thread.call({ name: 'app.greet', arguments: {}, trace: trace.setSpan(ROOT_CONTEXT, request) })
const [span] = exporter.getFinishedSpans()
//#endregion
assert.equal(span?.name, 'tools/call greet')
assert.equal(span?.parentSpanContext?.spanId, request.spanContext().spanId)
assert.deepEqual(calls, ['app.greet ok'])
