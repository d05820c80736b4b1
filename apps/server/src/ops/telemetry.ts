/**
 * OpenTelemetry SDK setup: metrics for `/metrics`, and traces if a collector is set. Providers are not registered
 * globally, so that two servers in one process count separately.
 */
import { monitorEventLoopDelay, performance } from 'node:perf_hooks'
import { setTimeout } from 'node:timers/promises'
import type { Meter, Tracer } from '@opentelemetry/api'
import { PrometheusSerializer } from '@opentelemetry/exporter-prometheus'
import { type Resource, resourceFromAttributes } from '@opentelemetry/resources'
import { MeterProvider, MetricReader } from '@opentelemetry/sdk-metrics'
import type { SpanExporter } from '@opentelemetry/sdk-trace'
import type { Config } from '../config.ts'
import { type Log, silentLog } from './log.ts'

export interface ServerTelemetry {
  meter: Meter
  /** Undefined without a collector. */
  tracer: Tracer | undefined
  /** All metrics in Prometheus text format. */
  metrics(): Promise<string>
  close(): Promise<void>
}

const NAME = 'loadout'
const LAG_RESOLUTION_MS = 20
const NANOSECONDS = 1e9
const STOP_WITHIN_MS = 2000

export async function openTelemetry(
  { serviceName, otlpEndpoint }: Pick<Config, 'serviceName' | 'otlpEndpoint'>,
  { version = '0.0.0', log = silentLog }: { version?: string | undefined; log?: Log } = {},
): Promise<ServerTelemetry> {
  const resource = resourceFromAttributes({ 'service.name': serviceName, 'service.version': version })
  const reader = new ScrapeReader()
  const meters = new MeterProvider({ resource, readers: [reader] })
  const traces = otlpEndpoint === undefined ? undefined : await openTraces(otlpEndpoint, { resource, log })
  const stopWatching = watchEventLoop(meters.getMeter(NAME, version))
  const serializer = new PrometheusSerializer()
  return {
    meter: meters.getMeter(NAME, version),
    tracer: traces?.getTracer(NAME, version),
    async metrics() {
      const { resourceMetrics } = await reader.collect()
      return `${serializer.serialize(resourceMetrics).trimEnd()}\n`
    },
    async close() {
      stopWatching()
      const stopped = Promise.allSettled([meters.shutdown(), traces?.shutdown()])
      // An unreachable collector must not delay shutdown.
      await Promise.race([stopped, setTimeout(STOP_WITHIN_MS, undefined, { ref: false })])
    },
  }
}

/** Collects on demand. */
class ScrapeReader extends MetricReader {
  protected override async onForceFlush(): Promise<void> {}
  protected override async onShutdown(): Promise<void> {}
}

/** Loaded only with a collector. */
async function openTraces(endpoint: string, { resource, log }: { resource: Resource; log: Log }) {
  const [{ BatchSpanProcessor, TracerProvider }, { OTLPTraceExporter }] = await Promise.all([
    import('@opentelemetry/sdk-trace'),
    import('@opentelemetry/exporter-trace-otlp-http'),
  ])
  const url = `${endpoint.replace(/\/+$/, '')}/v1/traces`
  const exporter = tellFailures(new OTLPTraceExporter({ url }), log)
  return new TracerProvider({ resource, spanProcessors: [new BatchSpanProcessor({ exporter })] })
}

/** Logs the first failed export and the recovery, not each failure. */
function tellFailures(exporter: SpanExporter, log: Log): SpanExporter {
  let isFailing = false
  return {
    export: (spans, done) =>
      exporter.export(spans, (result) => {
        const fails = result.error !== undefined
        if (fails && !isFailing) log.warn({ err: result.error }, 'traces cannot be sent')
        if (!fails && isFailing) log.info('traces are sent again')
        isFailing = fails
        done(result)
      }),
    forceFlush: async () => exporter.forceFlush?.(),
    shutdown: () => exporter.shutdown(),
  }
}

/** Event loop delay by OpenTelemetry's Node metric names, reset with each collection. */
function watchEventLoop(meter: Meter): () => void {
  const lag = monitorEventLoopDelay({ resolution: LAG_RESOLUTION_MS })
  lag.enable()
  const gauge = (name: string, description: string) =>
    meter.createObservableGauge(`nodejs.eventloop.${name}`, { description, unit: name === 'utilization' ? '1' : 's' })
  const mean = gauge('delay.mean', 'Mean delay of the event loop since the last look')
  const p99 = gauge('delay.p99', '99th percentile of the delay of the event loop since the last look')
  const max = gauge('delay.max', 'Longest delay of the event loop since the last look')
  const busy = gauge('utilization', 'Share of the time since the last look that the event loop was busy')
  let last = performance.eventLoopUtilization()
  const observed = [mean, p99, max, busy]
  const observe: Parameters<Meter['addBatchObservableCallback']>[0] = (result) => {
    // The histogram includes its own resolution.
    const seconds = (nanoseconds: number) =>
      lag.count === 0 ? 0 : Math.max(0, nanoseconds / NANOSECONDS - LAG_RESOLUTION_MS / 1000)
    result.observe(mean, seconds(lag.mean))
    result.observe(p99, seconds(lag.percentile(99)))
    result.observe(max, seconds(lag.max))
    const now = performance.eventLoopUtilization()
    result.observe(busy, performance.eventLoopUtilization(now, last).utilization)
    last = now
    lag.reset()
  }
  meter.addBatchObservableCallback(observe, observed)
  return () => {
    lag.disable()
    meter.removeBatchObservableCallback(observe, observed)
  }
}
