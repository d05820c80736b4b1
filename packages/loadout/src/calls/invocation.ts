/**
 * One invocation's tools, ready to be called. It ends once: calls that are still under way are given up, so that every
 * connection it used is free again; `close` also closes those that it alone can have opened.
 */
import type { Context } from '@opentelemetry/api'
import type { Connector } from '../connections/connector.ts'
import type { ExecutionContext } from '../context.ts'
import { HostError } from '../errors.ts'
import type { Emitter } from '../events.ts'
import { type Setup, type SetupOptions, type SetupParts, setupToolkits } from '../loadout/setup-toolkits.ts'
import type { ResolveOptions } from '../schema/selection.ts'
import type { LoadedTools } from '../search/loaded-tools.ts'
import type { Resolver } from '../search/resolve.ts'
import type { Telemetry } from '../telemetry/telemetry.ts'
import { forWorkflow, traceOr } from '../telemetry/trace-context.ts'
import type { AskAhead } from './ask-ahead.ts'
import type { CallOutcome } from './call.ts'
import type { NamedCall } from './call-by-name.ts'
import type { Calls } from './calls.ts'
import { liveSelection, type Selection } from './live-selection.ts'
import { READ_ENTRY, withReadResult } from './own-tools.ts'
import type { ProgramDoor } from './program-door.ts'
import { failed } from './resolve.ts'
import type { Results } from './results.ts'

export interface Invocation extends Omit<Setup, 'brought'>, AsyncDisposable {
  /** What a model gets with this prompt, of what the invocation carries. */
  resolve(options: ResolveOptions): Promise<Selection>
  /** Calls a tool by the name that a model saw, or by its ref. */
  call(call: NamedCall): Promise<CallOutcome>
  /** The end of the run: its connections go back to the pool, where the next run of this user may find them. */
  release(): Promise<void>
  /** The same, and the connections of toolkits that it carried are closed. */
  close(): Promise<void>
}

export interface InvocationParts extends SetupParts {
  calls: Pick<Calls, 'start'>
  programs: ProgramDoor
  ahead: AskAhead
  results: Pick<Results, 'hasAny'>
  connector: Pick<Connector, 'retire'>
  loaded: Pick<LoadedTools, 'list'>
  resolver: Resolver
  events: Emitter
  telemetry: Telemetry
}

/** Sets up, and tells how each name was resolved. */
export async function invoke(
  parts: InvocationParts,
  names: readonly string[] | undefined,
  options: SetupOptions,
): Promise<Invocation> {
  const { principal, runId, workflowVersionId } = options.context
  const trace = forWorkflow(traceOr(options.trace), workflowVersionId)
  const setup = await setupToolkits(parts, names, { ...options, trace })
  if (options.context.signal?.aborted) {
    await Promise.all([...setup.brought.values()].map((stored) => parts.connector.retire(stored.uscoId)))
    throw new HostError('cancelled')
  }
  const { resolved, missing, failedToolkits: failed, droppedToolkits: dropped, warnings } = setup
  const told = { resolved, missing, failed, dropped, warnings }
  parts.events.emit({ type: 'toolkits-resolved', userId: principal.userId, ...(runId ? { runId } : {}), ...told })
  countSetup(parts.telemetry, setup, trace)
  return createInvocation(parts, setup, { ...options, trace, hasAny: await parts.results.hasAny(principal.userId) })
}

/** Where a file is a source, its path is not told. */
function countSetup({ counters }: Telemetry, { resolved, loadout }: Setup, trace: Context): void {
  if (!counters) return
  for (const { toolkit, from } of resolved) counters.toolkitUsed(toolkit, SOURCES.has(from) ? from : 'file', trace)
  for (const entry of loadout.tools) counters.toolMaterialized(entry, trace)
}

const SOURCES = new Set(['context', 'transport', 'stored'])

function createInvocation(
  parts: Pick<InvocationParts, 'calls' | 'connector' | 'loaded' | 'resolver' | 'programs' | 'ahead'>,
  setup: Setup,
  { context, trace, hasAny }: { context: ExecutionContext; trace: Context; hasAny: boolean },
): Invocation {
  const { brought, loadout, ...told } = setup
  let shown = withReadResult(loadout, hasAny)
  const { userId } = context.principal
  const { threadId } = context.scope
  const { runId } = context
  const over = new AbortController()
  const underWay = new Set<Promise<CallOutcome>>()
  const release = async () => {
    over.abort()
    await Promise.allSettled(underWay)
  }
  const invocation: Invocation = {
    ...told,
    get loadout() {
      return shown
    },
    async resolve(options) {
      const kept = threadId === undefined ? [] : await parts.loaded.list({ userId, threadId })
      const place = { userId, threadId, loadout, own: shown === loadout ? [] : [READ_ENTRY], loaded: kept }
      const { selection, ...counting } = await parts.resolver.resolve(place, options)
      return liveSelection(
        {
          ...counting,
          call: (call) => invocation.call({ prompt: options.prompt, ...call }),
          ask: (call) =>
            parts.ahead.ask({ calls: parts.calls, loadout: shown, userId, threadId, runId, brought }, call),
          follow: (programs) => parts.programs.follow({ userId, threadId }, programs),
        },
        selection,
      )
    },
    async call(call) {
      if (over.signal.aborted)
        return failed(new HostError('cancelled', { detail: 'The invocation is over.', action: 'Set up a new one.' }))
      const signals = [over.signal, context.signal, call.signal].filter((signal) => signal !== undefined)
      const whose = { userId, threadId, runId, brought }
      const place = { calls: parts.calls, loadout: shown, ...whose }
      const outcome = (call.asked ? parts.ahead : parts.programs).call(place, {
        ...call,
        trace: call.trace ?? trace,
        signal: AbortSignal.any(signals),
      })
      underWay.add(outcome)
      const result = await outcome.finally(() => underWay.delete(outcome))
      // From here on there is something to read.
      if ('resultHandle' in result && result.resultHandle !== undefined) shown = withReadResult(loadout, true)
      return result
    },
    release,
    async close() {
      await release()
      await Promise.all([...brought.values()].map((stored) => parts.connector.retire(stored.uscoId)))
    },
    [Symbol.asyncDispose]: release,
  }
  return invocation
}
