/**
 * What telemetry costs a call: the same host without a provider, with metrics, and with metrics and traces, on the same
 * server in interleaved rounds. A ratio is that of one round against the host without; shown are their median and
 * [least–most]. `node bench/telemetry.ts`.
 */

import { rule } from '@loadout/core'
import { createServices, type ServiceOptions } from '@loadout/core/services'
import { InMemoryMetricExporter, MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics'
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'
import { drivers, OWNER, serverOf } from './connections/contenders.ts'
import { interleave, median, printTable, ratio } from './connections/statistics.ts'
import { stdioTarget, type Target } from './connections/targets.ts'

const ROUNDS = 21
const CALLS = 400
const CUMULATIVE = 1

const meter = () => {
  const exporter = new InMemoryMetricExporter(CUMULATIVE)
  return new MeterProvider({ readers: [new PeriodicExportingMetricReader({ exporter })] }).getMeter('bench')
}
const tracer = () => {
  const exporter = {
    export: (_: unknown, done: (result: { code: 0 }) => void) => done({ code: 0 }),
    shutdown: async () => {},
  }
  return new TracerProvider({ spanProcessors: [new BatchSpanProcessor({ exporter })] }).getTracer('bench')
}

async function open(target: Target, telemetry: ServiceOptions['telemetry'] = {}) {
  const host = createServices({ policy: [rule('*', 'allow')], drivers: drivers(), telemetry })
  const { stored } = await host.toolkits.register({ name: 'bench', server: serverOf(target) }, OWNER)
  await host.catalog.introspect(stored, OWNER.userId)
  const request = { userId: OWNER.userId, toolkit: 'bench', tool: 'echo', caller: { type: 'direct' } as const }
  return async () => {
    const outcome = await host.calls.start({ ...request, arguments: { text: 'hello' } }).outcome
    if ('error' in outcome) throw outcome.error
  }
}

async function p50(call: () => Promise<void>): Promise<number> {
  const times: number[] = []
  for (let i = 0; i < CALLS; i++) {
    const start = performance.now()
    await call()
    times.push((performance.now() - start) * 1000)
  }
  return median(times)
}

const rows = [['server', 'off µs', 'off, twice', 'metrics', 'metrics and traces']]
for (const era of ['legacy', 'modern'] as const) {
  const target = stdioTarget('lean-stdio', era)
  const hosts = {
    off: await open(target),
    again: await open(target),
    metrics: await open(target, { meter: meter() }),
    both: await open(target, { meter: meter(), tracer: tracer() }),
  }
  for (const call of Object.values(hosts)) await p50(call)
  const times = await interleave(
    ROUNDS,
    Object.entries(hosts).map(([name, call]) => [name, () => p50(call)] as const),
  )
  const compare = (name: string) => ratio(times[name] ?? [], times.off ?? []).text
  rows.push([`lean, ${era}`, median(times.off ?? []).toFixed(0), compare('again'), compare('metrics'), compare('both')])
}
console.log(`\nOne call over stdio: ${ROUNDS} rounds of ${CALLS} calls, one after another; p50 of a round`)
printTable(rows)
process.exit(0)
