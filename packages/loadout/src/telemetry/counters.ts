/** All that is counted, by a meter that somebody reads. Tags are names with a bound and words of closed lists; never a user. */
import type { Context, Meter } from '@opentelemetry/api'
import { type BoundedNames, boundNames, type NameLimits, type ToolNames } from './bounded-names.ts'
import { ATTRIBUTE, DURATION_BUCKETS, METRIC, UNKNOWN } from './conventions.ts'
import { workflowVersionOf } from './trace-context.ts'

/** A call that is over. Its names are there once its tool was found. */
export interface EndedCall {
  toolkit: string | undefined
  tool: string | undefined
  caller: string
  outcome: string
  error: string | undefined
}

export interface Operation {
  method: string
  toolkit: string
  tool?: string | undefined
  transport: string | undefined
  protocolVersion: string
  error?: string | undefined
  statusCode?: string | undefined
}

/** What there is at a moment. */
export interface HostCounts {
  connections: Readonly<Record<'idle' | 'leased' | 'connecting', number>>
  waiting: number
  processes: number
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
  /** Reads these whenever somebody looks. Returns how to stop. */
  watch(read: () => HostCounts): () => void
}

export function createCounters(meter: Meter, limits: NameLimits = {}): Counters {
  const names = boundNames(limits)
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
    ...countCalls(meter, names),
    watch: (read) => watchHost(meter, read),
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

function countCalls(meter: Meter, names: BoundedNames): Pick<Counters, 'callStarted' | 'callEnded'> {
  const ended = meter.createCounter(METRIC.callsEnded, { description: 'Calls, by what became of them' })
  const running = meter.createUpDownCounter(METRIC.callsRunning, { description: 'Calls under way' })
  const notFound = { toolkit: UNKNOWN, tool: UNKNOWN }
  return {
    callStarted: () => running.add(1),
    callEnded({ toolkit, tool, caller, outcome, error }) {
      running.add(-1)
      const named = toolkit === undefined || tool === undefined ? notFound : names.tool(toolkit, tool)
      ended.add(1, {
        toolkit: named.toolkit,
        tool: named.tool,
        caller,
        outcome,
        ...(error === undefined ? undefined : { [ATTRIBUTE.error]: error }),
      })
    },
  }
}

function watchHost(meter: Meter, read: () => HostCounts): () => void {
  const connections = meter.createObservableGauge(METRIC.connections, { description: 'Connections of the pool' })
  const waiting = meter.createObservableGauge(METRIC.waiting, {
    description: 'Calls that wait for a place in the pool',
  })
  const processes = meter.createObservableGauge(METRIC.processes, { description: 'Processes of stdio servers' })
  const observed = [connections, waiting, processes]
  const observe: Parameters<Meter['addBatchObservableCallback']>[0] = (result) => {
    const now = read()
    for (const [state, count] of Object.entries(now.connections)) result.observe(connections, count, { state })
    result.observe(waiting, now.waiting)
    result.observe(processes, now.processes)
  }
  meter.addBatchObservableCallback(observe, observed)
  return () => meter.removeBatchObservableCallback(observe, observed)
}
