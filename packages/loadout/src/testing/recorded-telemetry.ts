/** Telemetry that remembers, over the SDK: what a provider of an app would have got. Nothing is registered. */
import type { Attributes } from '@opentelemetry/api'
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics'
import { InMemorySpanExporter, type ReadableSpan, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'
import type { CallRecord, TelemetryOptions } from '../telemetry/telemetry.ts'

export interface RecordedTelemetry {
  options: Required<Pick<TelemetryOptions, 'tracer' | 'meter' | 'onCall'>>
  /** Spans that ended, first come first. */
  spans(name?: string): ReadableSpan[]
  /** The points of a metric: a number, or for a histogram how many were recorded. */
  points(metric: string): Promise<Array<{ tags: Attributes; value: number }>>
  /** Everything that was recorded, as text. */
  everything(): Promise<string>
  readonly calls: CallRecord[]
  close(): Promise<void>
}

const NEVER_MS = 2_147_483_647

export function recordTelemetry(): RecordedTelemetry {
  const exporter = new InMemorySpanExporter()
  const tracers = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] })
  const metrics = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE)
  const reader = new PeriodicExportingMetricReader({ exporter: metrics, exportIntervalMillis: NEVER_MS })
  const meters = new MeterProvider({ readers: [reader] })
  const calls: CallRecord[] = []
  const collect = async () => {
    metrics.reset()
    await reader.forceFlush()
    return metrics.getMetrics().flatMap(({ scopeMetrics }) => scopeMetrics.flatMap((scope) => scope.metrics))
  }
  return {
    options: {
      tracer: tracers.getTracer('test'),
      meter: meters.getMeter('test'),
      onCall: (call) => void calls.push(call),
    },
    calls,
    spans: (name) => exporter.getFinishedSpans().filter((span) => name === undefined || span.name === name),
    async points(name) {
      const found = (await collect()).find(({ descriptor }) => descriptor.name === name)
      return (found?.dataPoints ?? []).map(({ attributes, value }) => ({
        tags: attributes,
        value: typeof value === 'number' ? value : value.count,
      }))
    },
    async everything() {
      const spans = exporter
        .getFinishedSpans()
        .map(({ name, attributes, events, links, status }) => ({ name, attributes, events, links, status }))
      return JSON.stringify([spans, await collect(), calls])
    },
    async close() {
      await tracers.shutdown()
      await meters.shutdown()
    },
  }
}
