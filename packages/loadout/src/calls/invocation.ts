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

type CallTool = (call: NamedCall) => Promise<CallOutcome>

/** What an invocation carries, or a part of it. */
export interface InvocationTools {
  readonly loadout: Loadout
  /** What a model gets with this prompt, of what is carried. `through`: the door that its calls take on their way to `call`. */
  select(options: ResolveOptions, through?: CallTool): Promise<Selection>
  /** Calls a tool by the name that a model saw, or by its ref. */
  call: CallTool
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
  approvalRequests: ApprovalRequests
  results: Pick<Results, 'hasAny'>
  connector: Pick<Connector, 'retire'>
  loaded: Pick<LoadedTools, 'list'>
  resolver: Resolver
  events: Emitter
  telemetry: Telemetry
}

/** Sets up, and tells how each name was resolved. */
export async function invoke(
  deps: InvocationDeps,
  names: readonly string[] | undefined,
  options: SetupOptions,
): Promise<Invocation> {
  const { principal, runId, workflowVersionId } = options.context
  const trace = forWorkflow(traceOr(options.trace), workflowVersionId)
  const setup = await setupToolkits(deps, names, { ...options, trace })
  if (options.context.signal?.aborted) {
    await Promise.all([...setup.inlineToolkits.values()].map((stored) => deps.connector.retire(stored.uscoId)))
    throw new HostError('cancelled')
  }
  const { resolved, missing, failedToolkits: failed, droppedToolkits: dropped, warnings } = setup
  const summary = { resolved, missing, failed, dropped, warnings }
  deps.events.emit({ type: 'toolkits-resolved', userId: principal.userId, ...(runId ? { runId } : {}), ...summary })
  countSetup(deps.telemetry, setup, trace)
  return createInvocation(deps, setup, { ...options, trace, hasAny: await deps.results.hasAny(principal.userId) })
}

/** Where a file is a source, its path is not told. */
function countSetup({ counters }: Telemetry, { resolved, loadout }: Setup, trace: Context): void {
  if (!counters) return
  for (const { toolkit, from } of resolved) counters.toolkitUsed(toolkit, SOURCES.has(from) ? from : 'file', trace)
  for (const entry of loadout.tools) counters.toolMaterialized(entry, trace)
}

const SOURCES = new Set(['context', 'transport', 'stored'])

type CreateDeps = Pick<InvocationDeps, 'calls' | 'connector' | 'loaded' | 'resolver' | 'programs' | 'approvalRequests'>

interface InvocationScope {
  context: ExecutionContext
  trace: Context
  hasAny: boolean
}

function createInvocation(deps: CreateDeps, setup: Setup, invoked: InvocationScope): Invocation {
  const { loadout, ...rest } = setup
  const { inlineToolkits } = setup
  const ended = new AbortController()
  const running = new Set<Promise<CallOutcome>>()
  const release = async () => {
    ended.abort()
    await Promise.allSettled(running)
  }
  const toolsFor = (part: Loadout) =>
    createTools(deps, part, { ...invoked, inlineToolkits, ended: ended.signal, running })
  const tools = toolsFor(loadout)
  return {
    ...rest,
    get loadout() {
      return tools.loadout
    },
    select: tools.select,
    call: tools.call,
    narrowed: (narrowing) => toolsFor(narrow(loadout, narrowing)),
    release,
    async close() {
      await release()
      await Promise.all([...inlineToolkits.values()].map((stored) => deps.connector.retire(stored.uscoId)))
    },
    [Symbol.asyncDispose]: release,
  }
}

interface ToolsScope extends InvocationScope {
  inlineToolkits: Setup['inlineToolkits']
  ended: AbortSignal
  running: Set<Promise<CallOutcome>>
}

/** The tools of a loadout, as long as the invocation lasts. */
function createTools(deps: CreateDeps, loadout: Loadout, scope: ToolsScope): InvocationTools {
  const { context, trace, inlineToolkits, ended, running } = scope
  let presented = withReadResult(loadout, scope.hasAny)
  const { userId } = context.principal
  const { threadId } = context.scope
  const { runId } = context
  const tools: InvocationTools = {
    get loadout() {
      return presented
    },
    async select(options, through = (call) => tools.call(call)) {
      const loadedTools = threadId === undefined ? [] : await deps.loaded.list({ userId, threadId })
      const promptScope = {
        userId,
        threadId,
        loadout,
        own: presented === loadout ? [] : [READ_ENTRY],
        loaded: loadedTools,
      }
      // No program of ours is offered here.
      const { selection, ...counting } = await deps.resolver.resolve(promptScope, { ...options, programs: undefined })
      return createSelection(
        {
          ...counting,
          callers: options.callers,
          call: (call) => through({ prompt: options.prompt, ...call }),
          ask: (call) =>
            deps.approvalRequests.ask(
              { calls: deps.calls, loadout: presented, userId, threadId, runId, inlineToolkits },
              call,
            ),
          follow: (programs) => deps.programs.follow({ userId, threadId }, programs),
        },
        selection,
      )
    },
    async call(call) {
      if (ended.aborted)
        return failed(new HostError('cancelled', { detail: 'The invocation is over.', action: 'Set up a new one.' }))
      const signals = [ended, context.signal, call.signal].filter((signal) => signal !== undefined)
      const callScope = { calls: deps.calls, loadout: presented, userId, threadId, runId, inlineToolkits }
      const outcome = (call.asked ? deps.approvalRequests : deps.programs).call(callScope, {
        ...call,
        trace: call.trace ?? trace,
        signal: AbortSignal.any(signals),
      })
      running.add(outcome)
      const result = await outcome.finally(() => running.delete(outcome))
      // From here on there is something to read.
      if ('resultHandle' in result && result.resultHandle !== undefined) presented = withReadResult(loadout, true)
      return result
    },
  }
  return tools
}
