/** Runs: the engine, what programs do in it, and what wakes them. */

import type { CallAudit } from '../audit/call-audit.ts'
import type { BuiltInTool } from '../calls/built-in/built-in-tools.ts'
import type { Invocation } from '../calls/invocation.ts'
import type { Catalog } from '../catalog/catalog.ts'
import { callableBy, type OfferOptions, offerPrograms } from '../code-mode/offer-programs.ts'
import { createProgramWork, type ProgramDeps, type ProgramScope, startProgram } from '../code-mode/programs.ts'
import { RUN_CODE, runCodeResult } from '../code-mode/run-code-tool.ts'
import type { Connector } from '../connections/connector.ts'
import { withoutContext } from '../context.ts'
import type { CredentialStore } from '../credentials/credential-store.ts'
import { HostError } from '../errors.ts'
import type { Emitter } from '../events.ts'
import type { Loadouts } from '../loadout/loadouts.ts'
import type { SetupOptions } from '../loadout/setup/setup-toolkits.ts'
import type { OAuthService } from '../oauth/service.ts'
import type { Approvals } from '../policy/approvals/approvals.ts'
import type { Budgets } from '../policy/limits/budgets.ts'
import { usageOf } from '../policy/limits/usage.ts'
import type { Policy } from '../policy/policy.ts'
import type { ProcessLease } from '../processes/heartbeat.ts'
import { createEmbeddedEngine } from '../runs/embedded.ts'
import type { Engine, RunWork } from '../runs/engine.ts'
import { createProviderRuns, type ProviderRuns } from '../runs/provider/provider-runs.ts'
import type { RunView } from '../schema/records/run.ts'
import type { SelectionData } from '../schema/toolkit/selection.ts'
import type { Searcher } from '../search/searcher.ts'
import type { Storage } from '../storage/storage.ts'
import type { PreferenceStore } from '../threads/preferences.ts'
import type { Threads } from '../threads/threads.ts'
import type { AppConfigStore } from '../toolkits/app-config.ts'
import type { Registry } from '../toolkits/registry.ts'
import { HOUR_MS } from '../util/durations.ts'
import type { Plan } from '../workflow/definition/plan.ts'
import { lazyWorkflows, workflowProgress } from '../workflow/lazy-workflows.ts'
import type { PreflightLimits } from '../workflow/preflight/context.ts'
import type { PreflightScope } from '../workflow/preflight/preflight.ts'
import { forgetToolkits } from '../workflow/run-snapshot.ts'
import { createRunTransports } from '../workflow/run-transports.ts'
import type { Workflows } from '../workflow/workflows.ts'
import type { ServiceOptions } from './service-options.ts'

export interface RunDeps extends Omit<ProgramDeps, 'executor' | 'limits'> {
  storage: Storage
  presence: ProcessLease
  events: Emitter
  approvals: Approvals
  /** What runs of workflows do. */
  workflow: RunWork
  /** Lets go of what one of them was given in this process. */
  letGo(runId: string): void
}

/** Runs, as an app and a server see them. */
export type Runs = Pick<Engine, 'get' | 'list' | 'settled' | 'cancel' | 'resolve'>

export interface HostRuns {
  engine: Engine
  /** `run_code`, where the host runs programs. */
  own: BuiltInTool[]
  /** A program of a thread, until it is over or stands. */
  run(scope: ProgramScope, input: unknown, options?: RunOptions): Promise<RunView>
  /** Programs in a selection. */
  offer(selection: SelectionData, options: OfferOptions): SelectionData
  /** Programs that providers run. */
  programs: ProviderRuns
  stop(): void
  /** With what runs programs: it is the host's. */
  close(): Promise<void>
}

export interface RunOptions {
  /** Ends the wait, not the run. */
  signal?: AbortSignal | undefined
  /** Whether to wait until it is over or stands. @default true */
  wait?: boolean | undefined
}

export function createRuns(parts: RunDeps, options: ServiceOptions): HostRuns {
  const { executor, programs, processLeaseMs, runInContext: around = withoutContext } = options
  const { storage, presence, approvals, events, loadouts } = parts
  const provided = createProviderRuns({
    storage,
    presence,
    show: (userId, { manifest: { inputSchema } }, args) =>
      parts.audit.show({ userId, arguments: args }, { inputSchema }),
  })
  const limits = { ...executor?.limits, ...programs?.limits }
  const program = executor && createProgramWork({ ...parts, executor, limits })
  const engine = createEmbeddedEngine({
    storage,
    presence,
    progressOf: workflowProgress,
    works: {
      workflow: parts.workflow,
      // It has no context, nor that of somebody else whose end made room for it.
      ...(program ? { program: (run) => around(undefined, () => program(run)) } : {}),
    },
    async hasAnswer(userId, ids) {
      for (const id of ids) if ((await approvals.get(userId, id)).status !== 'pending') return true
      return false
    },
    onOver: async (userId, runId) => {
      provided.cancel(runId)
      parts.letGo(runId)
      await approvals.withdraw(userId, runId)
      await forgetToolkits(storage, { userId, runId })
    },
    // What a process left is free with its lease; looked for not much later.
    lookMs: Math.min(10_000, processLeaseMs ?? 10_000),
  })
  const stop = events.on('approval-answered', ({ userId, runId }) => {
    if (runId !== undefined) void engine.wake(userId, runId).catch(() => {})
  })
  const run = async (scope: ProgramScope, input: unknown, options: RunOptions & { isInside?: boolean } = {}) => {
    if (!executor) throw noExecutor()
    const { signal, wait = true, isInside } = options
    const started = await startProgram({ engine, loadouts }, { ...scope, isInside }, input)
    return wait ? engine.settled(scope.userId, started.id, { signal }) : started
  }
  const close = async () => {
    await engine.close()
    await executor?.close()
  }
  const answer = runCodeResult({ engine, run })
  const own = executor ? [{ manifest: RUN_CODE, answer, path: 'program' as const }] : []
  const offer: HostRuns['offer'] = (selection, options) =>
    executor
      ? offerPrograms(selection, options)
      : { ...callableBy(selection, options.callers), warnings: [...selection.warnings, NO_PROGRAMS] }
  return { engine, run, offer, programs: provided, stop, close, own }
}

const NO_PROGRAMS = 'This host runs no programs: it has no executor.'

const noExecutor = () =>
  new HostError('function-missing', {
    detail: 'This host runs no programs.',
    action: 'Give it an executor: createHost({ executor: quickjs() }).',
  })

/** Workflows: what is stored, what their runs do, and what is looked at before. */
export interface HostWorkflowDeps {
  storage: Storage
  presence: ProcessLease
  events: Emitter
  credentials: CredentialStore
  app: AppConfigStore
  registry: Registry
  catalog: Catalog
  connector: Connector
  signIns: OAuthService
  loadouts: Loadouts
  preferences: PreferenceStore
  threads: Pick<Threads, 'settings'>
  searcher: Searcher
  audit: CallAudit
  policy: Policy
  approvals: Approvals
  budgets: Budgets
  /** What keeps runs going: it is there once this is. */
  engine: () => Engine
  setup(names: readonly string[], options: SetupOptions): Promise<Invocation>
}

export function createHostWorkflows(
  parts: HostWorkflowDeps,
  { executor, programs, agent, runInContext: around = withoutContext }: ServiceOptions,
): { workflows: Workflows; work: RunWork; letGo(runId: string): void } {
  const look = {
    ...parts,
    policy: parts.policy,
    usage: (userId: string, threadId?: string) => limited(parts, userId, threadId),
    modelProblem: agent?.problem?.bind(agent),
    agentCeiling: agent?.ceiling?.bind(agent),
    can: { programs: executor !== undefined, agents: agent !== undefined },
  }
  const transports = createRunTransports()
  const engine = {
    start: (...args: Parameters<Engine['start']>) => parts.engine().start(...args),
    get: (...args: Parameters<Engine['get']>) => parts.engine().get(...args),
    settled: (...args: Parameters<Engine['settled']>) => parts.engine().settled(...args),
  }
  const { workflows, work } = lazyWorkflows(({ preflight, createWorkflowWork, createWorkflows }) => {
    const before = (plan: Plan, scope: PreflightScope) => preflight(look, plan, scope)
    const work = createWorkflowWork({
      ...parts,
      transports,
      executor,
      agent,
      runInContext: around,
      limits: { ...executor?.limits, ...programs?.limits },
      preflight: before,
    })
    return { work, workflows: createWorkflows({ ...parts, transports, engine, preflight: before }) }
  })
  return { work, workflows, letGo: transports.forget }
}

/** What was used is looked up only where there is a limit to hold it against. */
async function limited(
  parts: HostWorkflowDeps,
  userId: string,
  threadId: string | undefined,
): Promise<PreflightLimits | undefined> {
  const [{ limits }, { costLimits }] = await Promise.all([parts.app.get(), parts.preferences.get(userId)])
  const own = threadId === undefined ? undefined : (await parts.threads.settings(userId, threadId)).limits
  const all = [limits.maxCallsPerHour, limits.maxTokensPerDay, costLimits.maxCallsPerHour, costLimits.maxTokensPerDay]
  const limit = own?.maxCallsPerHour
  const key = { userId, subject: `thread:${threadId}`, counter: 'calls' as const, windowMs: HOUR_MS }
  const used = limit === undefined ? undefined : await parts.budgets.used(key)
  return {
    ...(all.every((one) => one === undefined) ? {} : await usageOf(parts, userId)),
    ...(used ? { callsOfThread: { used: used.value, limit, resetsAt: used.resetsAt.toISOString() } } : {}),
    callsPerRun: limits.maxCallsPerRun,
  }
}
