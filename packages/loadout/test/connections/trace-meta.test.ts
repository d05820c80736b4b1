/** The trace really arrives: over stdio and HTTP, in both eras, at handshakes, looks and calls; and only where one records. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createTraceState, propagation, ROOT_CONTEXT, trace } from '@opentelemetry/api'
import { AlwaysOffSampler, TracerProvider } from '@opentelemetry/sdk-trace'
import { afterEach, describe, expect, it } from 'vitest'
import { startHttpServer } from '../../../../test/real-servers.ts'
import { nodeDrivers } from '../../src/connections/node-drivers.ts'
import { createServices, type HostServices } from '../../src/host/create-services.ts'
import { rule } from '../../src/policy/rules.ts'
import type { TelemetryOptions } from '../../src/telemetry/telemetry.ts'
import { startFaultServer } from '../fixtures/fault-http.ts'
import type { FaultScript, SeenMeta } from '../fixtures/fault-script.ts'
import { type RecordedTelemetry, recordTelemetry } from '../fixtures/recorded-telemetry.ts'

const closing: Array<() => Promise<unknown>> = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

const FAULT_STDIO = new URL('../fixtures/fault-stdio.ts', import.meta.url).pathname
const ann = { tier: 'user', userId: 'ann' } as const

function startHost(telemetry: TelemetryOptions): HostServices {
  const host = createServices({
    policy: [rule('*', 'allow')],
    drivers: nodeDrivers({ guard: { privateNetwork: true }, baseEnv: { PATH: '/usr/bin:/bin' } }),
    telemetry,
  })
  closing.push(() => host.close())
  return host
}

function recorded(): RecordedTelemetry {
  const telemetry = recordTelemetry()
  closing.push(() => telemetry.close())
  return telemetry
}

async function reach(transport: 'stdio' | 'http' | 'http by events', script: FaultScript): Promise<object> {
  if (transport === 'stdio') {
    const folder = mkdtempSync(join(tmpdir(), 'loadout-trace-'))
    closing.push(async () => rmSync(folder, { recursive: true, force: true }))
    const file = join(folder, 'script.json')
    writeFileSync(file, JSON.stringify(script))
    return { command: process.execPath, args: [FAULT_STDIO, file] }
  }
  const server = await startFaultServer({ ...script, sse: transport !== 'http' })
  closing.push(() => server.close())
  return { url: server.url }
}

/** Calls once, and gives what came along with each request of the server until then. */
async function metasOf(host: HostServices, record: object, request: object = {}): Promise<SeenMeta[]> {
  await host.toolkits.register({ name: 'kit', ...record }, ann)
  const call = { userId: 'ann', toolkit: 'kit', tool: 'echo', arguments: {}, caller: { type: 'direct' } as const }
  const outcome = await host.calls.start({ ...call, ...request }).outcome
  if ('error' in outcome) throw outcome.error
  return JSON.parse(String(outcome.content[0]?.text))
}

/** The spans of a name, as they are written for others. */
const written = (telemetry: RecordedTelemetry, name: string) =>
  telemetry.spans(name).map((span) => `00-${span.spanContext().traceId}-${span.spanContext().spanId}-01`)

const ERAS = ['legacy', 'modern'] as const
const TRANSPORTS = ['stdio', 'http', 'http by events'] as const
const cases = ERAS.flatMap((era) => TRANSPORTS.map((transport) => [era, transport] as const))

describe.each(cases)('trace context to a %s server over %s', (era, transport) => {
  it('is sent with every request', async () => {
    const telemetry = recorded()
    const metas = await metasOf(startHost(telemetry.options), await reach(transport, { era, says: 'metas' }))
    const parents = (method: string) => metas.filter((one) => one.method === method).map((one) => one.meta.traceparent)
    expect(parents('tools/call')).toEqual(written(telemetry, 'tools/call echo'))
    expect(parents('tools/list')).toEqual(written(telemetry, 'tools/list'))
    const handshake = era === 'legacy' ? 'initialize' : 'server/discover'
    expect(parents(handshake)).toEqual(written(telemetry, 'loadout.connect'))
    expect(metas.every(({ meta }) => typeof meta.traceparent === 'string')).toBe(true)
  })

  it('is not sent without a tracer or for an unsampled trace', async () => {
    const off = new TracerProvider({ sampler: new AlwaysOffSampler() })
    for (const telemetry of [{}, { tracer: off.getTracer('test') }, { meter: recorded().options.meter }]) {
      const host = startHost(telemetry)
      const metas = await metasOf(host, await reach(transport, { era, says: 'metas' }))
      expect(metas.map((one) => one.method)).toContain('tools/call')
      expect(JSON.stringify(metas)).not.toMatch(/traceparent|tracestate|baggage/)
    }
  })
})

describe('trace context', () => {
  it('includes trace state and baggage when present', async () => {
    const telemetry = recorded()
    const remote = { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), traceFlags: 1, isRemote: true }
    const state = createTraceState('vendor=1,other=x')
    const at = trace.setSpanContext(ROOT_CONTEXT, { ...remote, traceState: state })
    const baggage = propagation.createBaggage({ 'build id': { value: 'a,b=ü' } })
    const host = startHost(telemetry.options)
    const metas = await metasOf(host, await reach('http', { says: 'metas' }), {
      trace: propagation.setBaggage(at, baggage),
    })
    expect(metas.at(-1)?.meta).toMatchObject({
      traceparent: expect.stringMatching(/^00-a{32}-[0-9a-f]{16}-01$/),
      tracestate: 'vendor=1,other=x',
      baggage: 'build%20id=a%2Cb%3D%C3%BC',
    })
  })

  it('belongs to its own request when calls run concurrently', async () => {
    const telemetry = recorded()
    const host = startHost(telemetry.options)
    const record = await reach('http', { says: 'metas' })
    await metasOf(host, record)
    await Promise.all(Array.from({ length: 8 }, () => metasOf(host, record)))
    const metas = await metasOf(host, record)
    const seen = metas.filter((one) => one.method === 'tools/call').map((one) => one.meta.traceparent)
    expect(new Set(seen).size).toBe(10)
  })

  it.each(ERAS)('is accepted by a server of the official SDK, %s era', async (era) => {
    const server = await startHttpServer(era)
    closing.push(() => server.close())
    const telemetry = recorded()
    const host = startHost(telemetry.options)
    await host.toolkits.register({ name: 'kit', url: server.url }, ann)
    const request = { userId: 'ann', toolkit: 'kit', tool: 'echo', caller: { type: 'direct' } as const }
    const outcome = await host.calls.start({ ...request, arguments: { text: 'hello' } }).outcome
    expect(outcome).toMatchObject({ status: 'ok', content: [{ text: 'hello' }] })
    expect(server.metas.map((meta) => meta.traceparent)).toEqual(written(telemetry, 'tools/call echo'))
  })
})
