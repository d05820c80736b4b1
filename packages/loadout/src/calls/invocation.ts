/**
 * Tools of one invocation. It ends once: running calls are cancelled, so that all its connections are free. `close`
 * also closes the connections of its inline toolkits.
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
import type { SelectionMemory } from '../search/selection-memory.ts'
import type { Telemetry } from '../telemetry/telemetry.ts'
import { forWorkflow, traceOr } from '../telemetry/trace-context.ts'
import type { ApprovalRequests } from './approval-request.ts'
import { ownEntries, withReadResult } from './built-in/built-in-tools.ts'
import type { CallOutcome } from './call.ts'
import { failed } from './call.ts'
import type { NamedCall } from './call-by-name.ts'
import type { Calls } from './calls.ts'
import type { ProviderPrograms } from './provider-programs.ts'
import type { Results } from './results/results.ts'
import { createSelection, type Selection } from './selection.ts'

type CallTool = (call: NamedCall) => Promise<CallOutcome>

/** Tools of an invocation, or a subset. */
export interface InvocationTools {
  readonly loadout: Loadout
  /** Selects tools for a prompt. `through` wraps `call`. */
  select(options: ResolveOptions, through?: CallTool): Promise<Selection>
  /** Calls a tool by its model name or ref. */
  call: CallTool
}

export interface Invocation extends Omit<Setup, 'loadout'>, InvocationTools, AsyncDisposable {
  /** A subset of the tools. */
  narrowed(narrowing: Narrowing): InvocationTools
  /** Ends the invocation. Connections return to the pool, where the next run of this user can use them. */
  release(): Promise<void>
  /** Ends the invocation and closes the connections of its inline toolkits. */
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
  selections: SelectionMemory
  events: Emitter
  telemetry: Telemetry
}

/** Sets up the toolkits and emits how each name was resolved. */
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

/** File paths are not exported as metric tags. */
function countSetup({ counters }: Telemetry, { resolved, loadout }: Setup, trace: Context): void {
  if (!counters) return
  for (const { toolkit, from } of resolved) counters.toolkitUsed(toolkit, SOURCES.has(from) ? from : 'file', trace)
  for (const entry of loadout.tools) counters.toolMaterialized(entry, trace)
}

const SOURCES = new Set(['context', 'transport', 'stored'])

type CreateDeps = Pick<
  InvocationDeps,
  'calls' | 'connector' | 'loaded' | 'resolver' | 'selections' | 'programs' | 'approvalRequests'
>

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

/** Creates the tools of a loadout, which end with the invocation. */
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
        own: ownEntries(loadout),
        loaded: loadedTools,
      }
      // Sessions do not offer `run_code`.
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
        await deps.selections.remember({ userId, threadId }, selection),
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
      // The first stored result makes `read_result` available.
      if ('resultHandle' in result && result.resultHandle !== undefined) presented = withReadResult(loadout, true)
      return result
    },
  }
  return tools
}
