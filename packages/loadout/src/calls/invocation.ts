/**
 * One invocation's tools, ready to be called. It ends once: calls that are still under way are given up, so that every
 * connection it used is free again; `close` also closes those that it alone can have opened.
 */
import type { Context } from '@opentelemetry/api'
import type { Connector } from '../connections/connector.ts'
import type { ExecutionContext } from '../context.ts'
import { HostError } from '../errors.ts'
import type { Emitter } from '../events.ts'
import { type Narrowing, narrow } from '../loadout/narrow.ts'
import type { Loadout } from '../loadout/overlay.ts'
import { type Setup, type SetupDeps, type SetupOptions, setupToolkits } from '../loadout/setup/setup-toolkits.ts'
import type { ResolveOptions } from '../schema/toolkit/selection.ts'
import type { LoadedTools } from '../search/loaded-tools.ts'
import type { Resolver } from '../search/resolve-prompt.ts'
import type { Telemetry } from '../telemetry/telemetry.ts'
import { forWorkflow, traceOr } from '../telemetry/trace-context.ts'
import type { ApprovalRequests } from './approval-request.ts'
import { READ_ENTRY, withReadResult } from './built-in/built-in-tools.ts'
import type { CallOutcome } from './call.ts'
import { failed } from './call.ts'
import type { NamedCall } from './call-by-name.ts'
import type { Calls } from './calls.ts'
import type { ProviderPrograms } from './provider-programs.ts'
import type { Results } from './results/results.ts'
import { createSelection, type Selection } from './selection.ts'

type Door = (call: NamedCall) => Promise<CallOutcome>

/** What an invocation carries, or a part of it. */
export interface InvocationTools {
  readonly loadout: Loadout
  /** What a model gets with this prompt, of what is carried. `through`: the door that its calls take on their way to `call`. */
  select(options: ResolveOptions, through?: Door): Promise<Selection>
  /** Calls a tool by the name that a model saw, or by its ref. */
  call: Door
}

export interface Invocation extends Omit<Setup, 'loadout'>, InvocationTools, AsyncDisposable {
  /** A part of it, for one that may use no more. */
  narrowed(narrowing: Narrowing): InvocationTools
  /** The end of the run: its connections go back to the pool, where the next run of this user may find them. */
  release(): Promise<void>
  /** The same, and the connections of toolkits that it carried are closed. */
  close(): Promise<void>
}

export interface InvocationDeps extends SetupDeps {
  calls: Pick<Calls, 'start'>
  programs: ProviderPrograms
  ahead: ApprovalRequests
  results: Pick<Results, 'hasAny'>
  connector: Pick<Connector, 'retire'>
  loaded: Pick<LoadedTools, 'list'>
  resolver: Resolver
  events: Emitter
  telemetry: Telemetry
}

/** Sets up, and tells how each name was resolved. */
export async function invoke(
  parts: InvocationDeps,
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

type CreateDeps = Pick<InvocationDeps, 'calls' | 'connector' | 'loaded' | 'resolver' | 'programs' | 'ahead'>

interface Invoked {
  context: ExecutionContext
  trace: Context
  hasAny: boolean
}

function createInvocation(parts: CreateDeps, setup: Setup, invoked: Invoked): Invocation {
  const { loadout, ...told } = setup
  const { brought } = setup
  const over = new AbortController()
  const underWay = new Set<Promise<CallOutcome>>()
  const release = async () => {
    over.abort()
    await Promise.allSettled(underWay)
  }
  const toolsOf = (carried: Loadout) => carrying(parts, carried, { ...invoked, brought, over: over.signal, underWay })
  const all = toolsOf(loadout)
  return {
    ...told,
    get loadout() {
      return all.loadout
    },
    select: all.select,
    call: all.call,
    narrowed: (narrowing) => toolsOf(narrow(loadout, narrowing)),
    release,
    async close() {
      await release()
      await Promise.all([...brought.values()].map((stored) => parts.connector.retire(stored.uscoId)))
    },
    [Symbol.asyncDispose]: release,
  }
}

interface Carrying extends Invoked {
  brought: Setup['brought']
  over: AbortSignal
  underWay: Set<Promise<CallOutcome>>
}

/** The tools of a loadout, as long as the invocation lasts. */
function carrying(parts: CreateDeps, loadout: Loadout, way: Carrying): InvocationTools {
  const { context, trace, brought, over, underWay } = way
  let shown = withReadResult(loadout, way.hasAny)
  const { userId } = context.principal
  const { threadId } = context.scope
  const { runId } = context
  const tools: InvocationTools = {
    get loadout() {
      return shown
    },
    async select(options, through = (call) => tools.call(call)) {
      const kept = threadId === undefined ? [] : await parts.loaded.list({ userId, threadId })
      const place = { userId, threadId, loadout, own: shown === loadout ? [] : [READ_ENTRY], loaded: kept }
      // No program of ours is offered here.
      const { selection, ...counting } = await parts.resolver.resolve(place, { ...options, programs: undefined })
      return createSelection(
        {
          ...counting,
          callers: options.callers,
          call: (call) => through({ prompt: options.prompt, ...call }),
          ask: (call) =>
            parts.ahead.ask({ calls: parts.calls, loadout: shown, userId, threadId, runId, brought }, call),
          follow: (programs) => parts.programs.follow({ userId, threadId }, programs),
        },
        selection,
      )
    },
    async call(call) {
      if (over.aborted)
        return failed(new HostError('cancelled', { detail: 'The invocation is over.', action: 'Set up a new one.' }))
      const signals = [over, context.signal, call.signal].filter((signal) => signal !== undefined)
      const place = { calls: parts.calls, loadout: shown, userId, threadId, runId, brought }
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
  }
  return tools
}
