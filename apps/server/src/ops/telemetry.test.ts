/** Metrics, traces and logs as an operator sees them. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { defineTool, rule } from '@loadout/core'
import { nodeDrivers } from '@loadout/core/node'
import { createServices, type ServiceOptions } from '@loadout/core/services'
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'
import { afterEach, describe, expect, it } from 'vitest'
import { provenWithin } from '../../../../test/prove/work.ts'
import { type RunningServer, startHttpServer } from '../../../../test/real-servers.ts'
import { createApiKeys } from '../auth/api-keys.ts'
import { byApiKey, localOr } from '../auth/authenticate.ts'
import { createApp } from '../http/app.ts'
import { callLog, createLog } from './log.ts'
import { openTelemetry } from './telemetry.ts'

const BOOTSTRAP = 'a-bootstrap-key-of-more-than-32-characters'
const METRICS_KEY = 'a-metrics-key-that-has-more-than-32-characters'
const closing: Array<() => Promise<unknown>> = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

async function start({ multiUser = false, telemetry: more = {} }: { multiUser?: boolean } & ServiceOptions = {}) {
  const lines: string[] = []
  const log = createLog('trace', { write: (line: string) => void lines.push(line) })
  const telemetry = await openTelemetry({ serviceName: 'test', otlpEndpoint: undefined }, { version: '1.2.3' })
  const host = createServices({
    policy: [rule('*', 'allow')],
    tools: [defineTool({ name: 'now', inputSchema: { type: 'object' }, execute: () => 'noon' })],
    drivers: nodeDrivers({ guard: { privateNetwork: true }, baseEnv: { PATH: '/usr/bin:/bin' } }),
    telemetry: { meter: telemetry.meter, onCall: callLog(log), ...more },
  })
  closing.push(
    () => telemetry.close(),
    () => host.close(),
  )
  const apiKeys = createApiKeys(host.storage)
  const byKey = byApiKey(apiKeys, BOOTSTRAP)
  const app = createApp({
    host,
    apiKeys,
    log,
    authenticate: multiUser ? byKey : localOr(byKey),
    loopbackOnly: !multiUser,
    metrics: { read: telemetry.metrics, key: METRICS_KEY },
  })
  const ask = async (route: `${string} ${string}`, { body, key, headers = {} }: RequestOptions = {}) => {
    const [method = 'GET', path] = route.split(' ')
    const answer = await app.request(`http://localhost:4300${path}`, {
      method,
      headers: {
        ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    return { status: answer.status, text: await answer.text(), headers: answer.headers }
  }
  return { host, ask, lines }
}
interface RequestOptions {
  body?: unknown
  key?: string
  headers?: Record<string, string>
}

async function echoServer(era: 'legacy' | 'modern' = 'modern'): Promise<RunningServer> {
  const server = await startHttpServer(era)
  closing.push(() => server.close())
  return server
}

/** Parses Prometheus text format into samples by name and labels; throws on an invalid line. */
function parseMetrics(text: string): Map<string, number> {
  expect(text.endsWith('\n')).toBe(true)
  const samples = new Map<string, number>()
  const types = new Map<string, string>()
  for (const line of text.trimEnd().split('\n')) {
    const [, type, kind] = /^# TYPE ([a-z_]\w*) (counter|gauge|histogram)$/.exec(line) ?? []
    if (type !== undefined) {
      expect(types.has(type), line).toBe(false)
      types.set(type, kind as string)
      continue
    }
    if (/^# (HELP|UNIT) [a-z_]\w* /.test(line)) continue
    const sample = /^([a-z_]\w*)(\{(?:[a-zA-Z_]\w*="(?:[^"\\\n]|\\.)*",?)*\})? (\S+)$/.exec(line)
    if (!sample) throw new Error(`Not a line of metrics: ${line}`)
    const [, name = '', labels = '', value = ''] = sample
    expect(
      [...types.keys()].some((type) => name.startsWith(type)),
      line,
    ).toBe(true)
    samples.set(`${name}${labels}`, value === '+Inf' ? Number.POSITIVE_INFINITY : Number(value))
    expect(samples.get(`${name}${labels}`), line).not.toBeNaN()
  }
  return samples
}

describe('GET /metrics', () => {
  it('reports calls, connections and inventory in Prometheus’ text format', async () => {
    const { ask } = await start()
    const server = await echoServer()
    await ask('POST /api/mcp', { body: { name: 'Kit', url: server.url } })
    for (const text of ['a', 'b']) await ask('POST /api/tools/kit/echo/call', { body: { arguments: { text } } })
    await ask('POST /api/tools/app/now/call', { body: {} })
    const { status, text, headers } = await ask('GET /metrics')
    expect([status, headers.get('content-type')]).toEqual([200, 'text/plain; version=0.0.4; charset=utf-8'])
    const samples = parseMetrics(text)
    const sum = (name: string, label = '') =>
      [...samples]
        .filter(([key]) => key.startsWith(`${name}{`) && key.includes(label))
        .reduce((all, [, v]) => all + v, 0)
    expect(sum('loadout_calls_ended_total', 'toolkit="kit",tool="echo"')).toBe(2)
    expect(sum('loadout_calls_ended_total', 'toolkit="app",tool="now"')).toBe(1)
    expect(sum('mcp_clients_started_total', 'toolkit="kit"')).toBe(1)
    expect(sum('mcp_client_operation_duration_count', 'gen_ai_tool_name="echo"')).toBe(2)
    expect(sum('mcp_client_operation_duration_bucket', 'le="+Inf"')).toBe(sum('mcp_client_operation_duration_count'))
    expect(sum('loadout_pool_connections', 'state="idle"')).toBe(1)
    for (const name of [
      'loadout_pool_waiting',
      'loadout_processes',
      'loadout_calls_running',
      'loadout_audit_unshipped',
    ])
      expect(
        [...samples.keys()].some((key) => key.startsWith(name)),
        name,
      ).toBe(true)
    expect(sum('nodejs_eventloop_utilization')).toBeGreaterThan(0)
    for (const name of ['mean', 'p99', 'max']) expect(sum(`nodejs_eventloop_delay_${name}`)).toBeGreaterThanOrEqual(0)
    expect(text).toContain('service_name="test",service_version="1.2.3"')
  })

  it('counts each server in a process separately', async () => {
    const one = await start()
    const two = await start()
    await one.ask('POST /api/tools/app/now/call', { body: {} })
    expect((await one.ask('GET /metrics')).text).toContain('loadout_calls_ended_total{')
    expect((await two.ask('GET /metrics')).text).not.toContain('loadout_calls_ended_total{')
  })

  it('is available on the loopback in local mode, and not to a page of another site', async () => {
    const { ask } = await start()
    expect((await ask('GET /metrics')).status).toBe(200)
    expect((await ask('GET /metrics', { headers: { host: 'evil.example' } })).status).toBe(403)
    expect((await ask('GET /metrics', { headers: { origin: 'https://evil.example' } })).status).toBe(403)
    expect((await ask('GET /metrics', { key: 'lo_wrong' })).status).toBe(401)
  })

  it('is available to operators and with its own key in multi-user mode', async () => {
    const { ask } = await start({ multiUser: true })
    const { text } = await ask('POST /api/keys', { key: BOOTSTRAP, body: { name: 'k', userId: 'ann' } })
    const { key } = JSON.parse(text)
    expect((await ask('GET /metrics')).status).toBe(401)
    expect((await ask('GET /metrics', { key })).status).toBe(403)
    expect((await ask('GET /metrics', { key: `${METRICS_KEY}x` })).status).toBe(401)
    expect((await ask('GET /metrics', { key: BOOTSTRAP })).status).toBe(200)
    expect((await ask('GET /metrics', { key: METRICS_KEY })).status).toBe(200)
    expect((await ask('GET /api/mcp', { key: METRICS_KEY })).status).toBe(401)
  })
})

describe('a trace', () => {
  const TRACE = '0af7651916cd43dd8448eb211c80319c'
  const PARENT = 'b7ad6b7169203331'
  async function traced() {
    const exporter = new InMemorySpanExporter()
    const provider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] })
    const server = await echoServer()
    const started = await start({ telemetry: { tracer: provider.getTracer('test') } })
    await started.ask('POST /api/mcp', { body: { name: 'Kit', url: server.url } })
    const call = (headers: Record<string, string>) =>
      started.ask('POST /api/tools/kit/echo/call', { body: { arguments: { text: 'a' } }, headers })
    const spans = () => exporter.getFinishedSpans().filter((span) => span.name === 'tools/call echo')
    return { ...started, call, spans, server }
  }

  it('is propagated from a request to the tool’s server and into the log', async () => {
    const { call, spans, server, lines } = await traced()
    await call({ traceparent: `00-${TRACE}-${PARENT}-01`, tracestate: 'vendor=1', baggage: 'user=ann' })
    const [span] = spans()
    expect(span?.parentSpanContext).toMatchObject({ traceId: TRACE, spanId: PARENT, isRemote: true })
    expect(server.metas).toMatchObject([
      { traceparent: `00-${TRACE}-${span?.spanContext().spanId}-01`, tracestate: 'vendor=1' },
    ])
    // Baggage of a request must not reach third-party servers.
    expect(server.metas[0]).not.toHaveProperty('baggage')
    const entries = lines.map((line) => JSON.parse(line)).filter((line) => line.traceId === TRACE)
    expect(entries.map((line) => line.msg ?? line.path)).toEqual(['call', '/api/tools/kit/echo/call'])
  })

  it('starts with the call if the request has no valid trace header', async () => {
    const { call, spans } = await traced()
    await call({})
    await call({ traceparent: 'rubbish' })
    await call({ traceparent: `00-${'0'.repeat(32)}-${PARENT}-01` })
    expect(spans().map((span) => span.parentSpanContext)).toEqual([undefined, undefined, undefined])
  })

  it('is sent to the configured collector before the server stops', async () => {
    const got: Array<{ url: string | undefined; body: string }> = []
    const collector = createServer(async (request, response) => {
      got.push({ url: request.url, body: Buffer.concat(await request.toArray()).toString() })
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
    })
    await new Promise<void>((resolve) => collector.listen(0, '127.0.0.1', resolve))
    closing.push(async () => collector.close())
    const otlpEndpoint = `http://127.0.0.1:${(collector.address() as AddressInfo).port}/`
    const telemetry = await openTelemetry({ serviceName: 'my loadout', otlpEndpoint })
    telemetry.tracer?.startSpan('tools/call echo').end()
    await telemetry.close()
    expect(got.map(({ url }) => url)).toEqual(['/v1/traces'])
    expect(got[0]?.body).toContain('tools/call echo')
    expect(got[0]?.body).toContain('my loadout')
  })

  it('does not keep a server from stopping if it cannot be sent', async () => {
    const closed = createServer()
    await new Promise<void>((resolve) => closed.listen(0, '127.0.0.1', resolve))
    const otlpEndpoint = `http://127.0.0.1:${(closed.address() as AddressInfo).port}`
    await new Promise((resolve) => closed.close(resolve))
    const telemetry = await openTelemetry({ serviceName: 'test', otlpEndpoint })
    telemetry.tracer?.startSpan('tools/call echo').end()
    await provenWithin(4000, () => telemetry.close())
  })
})

describe('the server log', () => {
  it('has one entry for each call with its request ID and without its content', async () => {
    const { ask, lines } = await start()
    const { headers, text } = await ask('POST /api/tools/app/now/call', { body: { arguments: { words: 'of mine' } } })
    const [call, request, ...others] = lines.map((line) => JSON.parse(line))
    expect(others).toEqual([])
    const requestId = headers.get('x-request-id')
    expect(call).toEqual({
      level: 30,
      time: expect.any(Number),
      msg: 'call',
      requestId,
      callId: JSON.parse(text).callId,
      userId: 'local',
      ref: 'app.now',
      caller: 'direct',
      outcome: 'ok',
      ms: expect.any(Number),
    })
    expect(request).toMatchObject({ requestId, path: '/api/tools/app/now/call', status: 200 })
  })

  it('has the correct request ID in every entry with parallel requests', async () => {
    const { ask, lines } = await start()
    const requests = Array.from({ length: 20 }, () => ask('POST /api/tools/app/now/call', { body: {} }))
    const answers = await Promise.all(requests)
    const calls = lines.map((line) => JSON.parse(line)).filter((line) => line.msg === 'call')
    for (const { headers, text } of answers)
      expect(calls.find((line) => line.callId === JSON.parse(text).callId)?.requestId).toBe(headers.get('x-request-id'))
  })

  it('omits secrets at any depth and position', () => {
    const lines: string[] = []
    const log = createLog('trace', { write: (line: string) => void lines.push(line) })
    const key = `lo_${'k'.repeat(40)}`
    log.info({ headers: { a: 'planted' }, a: { b: { c: { token: 'planted' } } }, x: { Authorization: 'planted' } })
    log.info({ server: { env: { A: 'planted' } }, call: { arguments: { a: 'planted' } } }, `with ${key}`)
    log.error({ err: new Error('planted'), path: `/x/${key}` }, `Authorization: Bearer ${'p'.repeat(30)}`)
    expect(lines.join('')).not.toMatch(/planted|kkkk|pppp/)
    expect(lines).toHaveLength(3)
  })

  it('omits secrets in arguments, results, headers, URLs and environment', async () => {
    const { ask, lines } = await start({ multiUser: true })
    const planted: string[] = []
    const plant = () => planted[planted.push(`planted-${crypto.randomUUID()}`) - 1] as string
    const { text } = await ask('POST /api/keys', { key: BOOTSTRAP, body: { name: 'k', userId: 'ann' } })
    const { key } = JSON.parse(text)
    const server = await echoServer('legacy')
    const remote = { name: 'Kit', url: `${server.url}?token=${plant()}`, headers: { 'X-Key': plant() } }
    const local = { name: 'Local', command: '/bin/false', args: [], env: { API_KEY: plant() } }
    for (const body of [remote, local]) await ask('POST /api/mcp', { key, body })
    for (const tool of ['kit/echo', 'local/echo', 'kit/none'])
      await ask(`POST /api/tools/${tool}/call?q=${plant()}`, { key, body: { arguments: { text: plant() } } })
    await ask('POST /api/mcp', { key: plant(), body: {} })
    const { text: metrics } = await ask('GET /metrics', { key: METRICS_KEY })
    expect(server.calls).toBe(1)
    expect(lines.filter((line) => line.includes('"msg":"call"'))).toHaveLength(3)
    const output = lines.join('') + metrics
    for (const secret of [...planted, key, BOOTSTRAP, METRICS_KEY]) expect(output).not.toContain(secret)
    expect(metrics).not.toMatch(/\bann\b/)
  })
})
