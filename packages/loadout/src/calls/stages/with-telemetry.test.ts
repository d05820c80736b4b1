import { context, ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import { StackContextManager } from '@opentelemetry/sdk-trace'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type HttpFaultServer, type HttpFaults, startFaultServer } from '../../../test/fixtures/fault-http.ts'
import { type RecordedTelemetry, recordTelemetry } from '../../../test/fixtures/recorded-telemetry.ts'
import { nodeDrivers } from '../../connections/node-drivers.ts'
import { createServices, type HostServices } from '../../host/create-services.ts'
import type { ServiceOptions } from '../../host/service-options.ts'
import { rule } from '../../policy/rules.ts'

let host: HostServices
let server: HttpFaultServer
let telemetry: RecordedTelemetry
beforeEach(() => {
  telemetry = recordTelemetry()
})
afterEach(async () => {
  await host.close()
  await server?.close()
  await telemetry.close()
})

async function start(script: HttpFaults, options: ServiceOptions = {}) {
  server = await startFaultServer(script)
  host = createServices({
    policy: [rule('*', 'allow')],
    drivers: nodeDrivers({ guard: { privateNetwork: true } }),
    telemetry: telemetry.options,
    ...options,
  })
  await host.toolkits.register({ name: 'kit', url: server.url }, { tier: 'user', userId: 'ann' })
}
const REQUEST = { userId: 'ann', toolkit: 'kit', tool: 'echo', caller: { type: 'direct' } as const }
const call = (more: object = {}) => host.calls.start({ ...REQUEST, arguments: { text: 'hello' }, ...more }).outcome

/** The span of the one call. */
function theSpan(name = 'tools/call echo') {
  const [span, ...others] = telemetry.spans().filter((one) => one.name.startsWith('tools/call'))
  expect(others).toEqual([])
  expect(span?.name).toBe(name)
  return span as NonNullable<typeof span>
}

describe('the span of a call', () => {
  it('has tool and transport attributes and no arguments after a success', async () => {
    await start({ era: 'legacy' })
    await call({ threadId: undefined })
    const span = theSpan()
    expect(span.kind).toBe(SpanKind.CLIENT)
    expect(span.status).toEqual({ code: SpanStatusCode.UNSET })
    expect(span.attributes).toEqual({
      'mcp.method.name': 'tools/call',
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': 'echo',
      'mcp.protocol.version': '2025-11-25',
      'mcp.session.id': expect.stringMatching(/^[0-9a-f-]{36}$/),
      'network.transport': 'tcp',
      'network.protocol.name': 'http',
      'server.address': '127.0.0.1',
      'server.port': Number(new URL(server.url).port),
      'loadout.toolkit': 'kit',
      'loadout.caller': 'direct',
      'loadout.outcome': 'ok',
      'loadout.decision': 'allow',
      'loadout.call.id': telemetry.calls[0]?.callId,
    })
    expect(JSON.stringify(telemetry.spans().map((one) => one.attributes))).not.toContain('hello')
  })

  it('is the parent of discovery and connect spans and a child of the given context', async () => {
    await start({})
    const parent = telemetry.options.tracer.startSpan('request')
    await call({ trace: trace.setSpan(ROOT_CONTEXT, parent) })
    await call({ trace: trace.setSpan(ROOT_CONTEXT, parent) })
    parent.end()
    const [first, second] = telemetry.spans('tools/call echo')
    const look = telemetry.spans('tools/list')
    const connect = telemetry.spans('loadout.connect')
    const { traceId, spanId } = parent.spanContext()
    for (const span of [first, second]) expect(span?.parentSpanContext).toMatchObject({ traceId, spanId })
    expect(connect).toHaveLength(1)
    for (const span of [look[0], connect[0]]) expect(span?.parentSpanContext?.spanId).toBe(first?.spanContext().spanId)
    expect(look[0]).toMatchObject({
      kind: SpanKind.CLIENT,
      attributes: { 'mcp.method.name': 'tools/list', 'loadout.toolkit': 'kit', 'network.transport': 'tcp' },
    })
    expect(connect[0]).toMatchObject({
      kind: SpanKind.INTERNAL,
      attributes: { 'loadout.toolkit': 'kit', 'mcp.protocol.version': '2026-07-28' },
    })
    // Both calls were in one session.
    expect(first?.attributes['mcp.session.id']).toBe(second?.attributes['mcp.session.id'])
  })

  it('uses the active context when none is given', async () => {
    await start({})
    const parent = telemetry.options.tracer.startSpan('job')
    context.setGlobalContextManager(new StackContextManager().enable())
    try {
      await context.with(trace.setSpan(ROOT_CONTEXT, parent), () => call())
    } finally {
      context.disable()
    }
    expect(theSpan().parentSpanContext?.spanId).toBe(parent.spanContext().spanId)
  })

  it('comes from a global tracer provider, even one registered after the host was created', async () => {
    await start({}, { telemetry: {} })
    await call()
    trace.setGlobalTracerProvider({ getTracer: () => telemetry.options.tracer })
    try {
      await call()
    } finally {
      trace.disable()
    }
    expect(theSpan().attributes).toMatchObject({ 'loadout.outcome': 'ok' })
  })

  it.each([
    [
      'tool-error',
      { at: { 'tools/call': { do: 'result', result: { content: [], isError: true, resultType: 'complete' } } } },
      { 'error.type': 'tool_error' },
    ],
    [
      'tool-error',
      { at: { 'tools/call': { do: 'error', code: -32_050, message: 'The words of the server' } } },
      { 'error.type': 'tool_error', 'rpc.response.status_code': '-32050' },
    ],
    [
      'failed',
      { at: { 'tools/call': { do: 'error', code: -32_602, message: 'The words of the server' } } },
      { 'error.type': 'refused-by-server', 'rpc.response.status_code': '-32602' },
    ],
    ['sign-in-needed', { http: { 'tools/call': { status: 401 } } }, { 'error.type': 'sign-in-needed' }],
  ] as Array<[string, HttpFaults, object]>)(
    'of one that ended as %s says so, without words',
    async (outcome, script, attributes) => {
      await start(script)
      expect((await call()).status).toBe(outcome)
      const span = theSpan()
      expect(span.attributes).toMatchObject({ ...attributes, 'loadout.outcome': outcome })
      expect(span.status).toEqual({ code: SpanStatusCode.ERROR })
      expect(await telemetry.everything()).not.toContain('The words of the server')
    },
  )

  it('reports a denied call that never reached the server', async () => {
    await start({}, { policy: [rule('*', 'deny')] })
    expect((await call()).status).toBe('denied')
    expect(theSpan().attributes).toMatchObject({
      'error.type': 'denied',
      'loadout.outcome': 'denied',
      'loadout.decision': 'deny',
    })
    expect(theSpan().attributes).not.toHaveProperty('network.transport')
    expect(server.server.calls).toEqual([])
  })

  it('reports a cancelled call', async () => {
    await start({ at: { 'tools/call': { do: 'hang' } } })
    await host.catalog.introspect((await host.toolkits.list('ann'))[0] as never, 'ann')
    const stop = new AbortController()
    const running = call({ signal: stop.signal })
    await expect.poll(() => server.open('tools/call')).toBe(1)
    stop.abort()
    expect((await running).status).toBe('failed')
    expect(theSpan().attributes).toMatchObject({ 'error.type': 'cancelled', 'loadout.outcome': 'failed' })
  })

  it('omits the name of an unknown tool', async () => {
    await start({})
    await call({ tool: 'no-such-tool' })
    expect(theSpan('tools/call').attributes).toMatchObject({ 'error.type': 'tool-not-found' })
    expect(await telemetry.points('loadout.calls.ended')).toEqual([
      {
        tags: {
          toolkit: 'unknown',
          tool: 'unknown',
          caller: 'direct',
          outcome: 'failed',
          'error.type': 'tool-not-found',
        },
        value: 1,
      },
    ])
  })
})

describe('the onCall listener', () => {
  it('receives each call without its content', async () => {
    await start({})
    await call({ caller: { type: 'code', toolId: 'x' } })
    expect(telemetry.calls).toEqual([
      {
        callId: expect.stringMatching(/^call_/),
        userId: 'ann',
        threadId: undefined,
        ref: 'kit.echo',
        caller: 'code',
        outcome: 'ok',
        error: undefined,
        ms: expect.any(Number),
        traceId: theSpan().spanContext().traceId,
      },
    ])
  })

  it('does not fail a call when it throws', async () => {
    const broken = () => {
      throw new Error('the disk is full')
    }
    await start({}, { telemetry: { onCall: broken } })
    expect((await call()).status).toBe('ok')
  })
})
