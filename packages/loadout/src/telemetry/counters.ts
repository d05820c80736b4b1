/** All metrics of a host. Tags are bounded names and fixed values, never a user. */
import type { Context, Meter } from '@opentelemetry/api'
import { type BoundedNames, boundNames, type NameLimits, type ToolNames } from './bounded-names.ts'
import { type CallTally, createCallTally, type EndedCall } from './call-tally.ts'
import { ATTRIBUTE, DURATION_BUCKETS, METRIC } from './conventions.ts'
import { workflowVersionOf } from './trace-context.ts'

export interface Operation {
  method: string
  toolkit: string
  tool?: string | undefined
  transport: string | undefined
  protocolVersion: string
  error?: string | undefined
  statusCode?: string | undefined
}

/** Current connections, waiting leases and processes. */
export interface ConnectionCounts {
  connections: Readonly<Record<'idle' | 'leased' | 'connecting', number>>
  waiting: number
  processes: number
}

export interface HostCounts extends ConnectionCounts {
  /** Audit log entries that are not in the database yet. */
  unshipped: number
}

export interface Counters {
  toolkitUsed(toolkit: string, from: string, at: Context): void
  toolMaterialized(tool: ToolNames, at: Context): void
  clientStarted(toolkit: string, at: Context): void
  clientFailed(toolkit: string, error: string, at: Context): void
  operation(operation: Operation, seconds: number): void
  callStarted(): void
  callEnded(call: EndedCall): void
  approval(step: string): void
  /** Observes these values and the calls on each collection. Returns a function that stops it. */
  watch(read: () => HostCounts): () => void
}

export function createCounters(meter: Meter, limits: NameLimits = {}): Counters {
  const names = boundNames(limits)
  const calls = createCallTally(names)
  const tags = (at: Context) => workflowTag(names, at)
  const toolkitsUsed = meter.createCounter(METRIC.toolkitsUsed, { description: 'Toolkits that an invocation used' })
  const materialized = meter.createCounter(METRIC.toolsMaterialized, { description: 'Tools made for an invocation' })
  const started = meter.createCounter(METRIC.clientsStarted, { description: 'Connections that were made' })
  const failed = meter.createCounter(METRIC.clientsFailed, { description: 'Connections that could not be made' })
  const approvals = meter.createCounter(METRIC.approvals, { description: 'Approvals, by what became of them' })
  return {
    toolkitUsed: (toolkit, from, at) => toolkitsUsed.add(1, { toolkit: names.toolkit(toolkit), from, ...tags(at) }),
    toolMaterialized: ({ toolkit, tool }, at) => materialized.add(1, { ...names.tool(toolkit, tool), ...tags(at) }),
    clientStarted: (toolkit, at) => started.add(1, { toolkit: names.toolkit(toolkit), ...tags(at) }),
    clientFailed: (toolkit, error, at) =>
      failed.add(1, { toolkit: names.toolkit(toolkit), [ATTRIBUTE.error]: error, ...tags(at) }),
    approval: (step) => approvals.add(1, { step }),
    operation: countOperations(meter, names),
    callStarted: () => void calls.running++,
    callEnded(call) {
      calls.running--
      calls.ended(call)
    },
    watch: (read) => watchHost(meter, calls, read),
  }
}

function workflowTag(names: BoundedNames, at: Context): { workflowVersionId?: string } {
  const version = workflowVersionOf(at)
  return version === undefined ? {} : { workflowVersionId: names.workflowVersion(version) }
}

function countOperations(meter: Meter, names: BoundedNames): Counters['operation'] {
  const duration = meter.createHistogram(METRIC.operationDuration, {
    description: 'From a request to a server until its answer',
    unit: 's',
    advice: { explicitBucketBoundaries: DURATION_BUCKETS },
  })
  return ({ method, toolkit, tool, transport, protocolVersion, error, statusCode }, seconds) => {
    const named = tool === undefined ? undefined : names.tool(toolkit, tool)
    duration.record(seconds, {
      [ATTRIBUTE.method]: method,
      [ATTRIBUTE.toolkit]: named?.toolkit ?? names.toolkit(toolkit),
      ...(named === undefined ? undefined : { [ATTRIBUTE.tool]: named.tool }),
      ...(transport === undefined ? undefined : { [ATTRIBUTE.network]: transport }),
      [ATTRIBUTE.protocolVersion]: protocolVersion,
      ...(error === undefined ? undefined : { [ATTRIBUTE.error]: error }),
      ...(statusCode === undefined ? undefined : { [ATTRIBUTE.statusCode]: statusCode }),
    })
  }
}

function watchHost(meter: Meter, calls: CallTally, read: () => HostCounts): () => void {
  const ended = meter.createObservableCounter(METRIC.callsEnded, { description: 'Calls, by what became of them' })
  const running = meter.createObservableGauge(METRIC.callsRunning, { description: 'Calls under way' })
  const connections = meter.createObservableGauge(METRIC.connections, { description: 'Connections of the pool' })
  const waiting = meter.createObservableGauge(METRIC.waiting, {
    description: 'Calls that wait for a place in the pool',
  })
  const processes = meter.createObservableGauge(METRIC.processes, { description: 'Processes of stdio servers' })
  const unshipped = meter.createObservableGauge(METRIC.unshipped, {
    description: 'Lines of the log that the database does not have yet',
  })
  const observed = [ended, running, connections, waiting, processes, unshipped]
  const observe: Parameters<Meter['addBatchObservableCallback']>[0] = (result) => {
    for (const { tags, count } of calls.entries()) result.observe(ended, count, tags)
    result.observe(running, calls.running)
    const now = read()
    for (const [state, count] of Object.entries(now.connections)) result.observe(connections, count, { state })
    result.observe(waiting, now.waiting)
    result.observe(processes, now.processes)
    result.observe(unshipped, now.unshipped)
  }
  meter.addBatchObservableCallback(observe, observed)
  return () => meter.removeBatchObservableCallback(observe, observed)
}
