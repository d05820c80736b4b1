/** Executes a workflow run: sets up toolkits, runs preflight, executes the nodes and reports the end state. */
import type { Invocation } from '../../calls/invocation.ts'
import type { LogLine } from '../../code-mode/executor.ts'
import type { ExecutionContext, RunInContext } from '../../context.ts'
import type { CredentialStore } from '../../credentials/credential-store.ts'
import { HostError } from '../../errors.ts'
import type { Emitter } from '../../events.ts'
import type { FailedToolkit, SetupOptions } from '../../loadout/setup/setup-toolkits.ts'
import type { Approvals } from '../../policy/approvals/approvals.ts'
import type { ActiveRun, RunEnd, RunWork } from '../../runs/engine.ts'
import type { RunToolkits } from '../../schema/records/run.ts'
import type { Storage } from '../../storage/storage.ts'
import type { Registry } from '../../toolkits/registry.ts'
import type { Plan } from '../definition/plan.ts'
import { planOf } from '../definition/read-definition.ts'
import type { Preflight, PreflightScope, Problem } from '../preflight/preflight.ts'
import { needsOf, toolkitsOf } from '../preflight/required-tools.ts'
import { listFailed, type RetryDeps, retryFailedToolkits } from '../preflight/retry-failed.ts'
import { type RunSnapshot, restoreContext } from '../run-snapshot.ts'
import type { RunTransports, Transports } from '../run-transports.ts'
import { createNodeEvents } from '../watch/node-events.ts'
import type { NodeDeps } from './node-context.ts'
import { type GraphEnd, GraphRun } from './run-graph.ts'
import { runNode } from './run-node.ts'

export interface WorkflowRunDeps
  extends Omit<NodeDeps, 'run' | 'invocation' | 'approvals' | 'onRunning' | 'onUsage' | 'onLogs' | 'onWarnings'>,
    RetryDeps {
  setup(names: readonly string[], options: SetupOptions): Promise<Invocation>
  /** Makes the execution context available to everything that the run calls. */
  runInContext: RunInContext
  preflight(plan: Plan, scope: PreflightScope): Promise<Preflight>
  approvals: Pick<Approvals, 'put' | 'answerTo' | 'withdraw'>
  registry: Pick<Registry, 'list'>
  credentials: Pick<CredentialStore, 'seal' | 'unseal'>
  transports: Pick<RunTransports, 'get'>
  events: Emitter
  storage: Storage
}

const MAX_WARNINGS = 200

export function createWorkflowWork(deps: WorkflowRunDeps): RunWork {
  return async (run) => {
    const snapshot = run.input as unknown as RunSnapshot
    const plan = planOf(snapshot.definition)
    const context = await restoreContext(deps.credentials, run, snapshot)
    return deps.runInContext(context, () => executeInContext(deps, { run, snapshot, plan, context }))
  }
}

interface RunContext {
  run: ActiveRun
  snapshot: RunSnapshot
  plan: Plan
  context: ExecutionContext
}

/** Executes the run inside its context. */
async function executeInContext(deps: WorkflowRunDeps, { run, snapshot, plan, context }: RunContext): Promise<RunEnd> {
  const stored = await deps.registry.list(run.userId)
  const transports = deps.transports.get(run.runId)
  const inlineNames = [...Object.keys(context.toolkits), ...Object.keys(transports)]
  const needed = toolkitsOf(needsOf(plan), [...inlineNames, ...stored.map(({ toolkit }) => toolkit.id)])
  const ownToolkits = stored.filter(({ toolkit: { id } }) => !inlineNames.includes(id))
  await retryFailedToolkits(
    deps,
    ownToolkits.filter(({ toolkit: { id } }) => needed.includes(id)),
    run.userId,
  )
  // The number of toolkits per run is limited: those that nodes name come first.
  const invocation = await deps.setup([...new Set([...needed, ...inlineNames])], { context, transports })
  const missing = missingTransports(snapshot, transports)
  try {
    const warnings = new Set(invocation.warnings)
    const end = await executeGraph(deps, { run, snapshot, plan, invocation, missing, warnings })
    const unused = ownToolkits.filter(({ toolkit: { id } }) => !needed.includes(id))
    return { ...end, toolkits: toolkitReport(invocation, { broken: [...missing, ...listFailed(unused)], warnings }) }
  } finally {
    await invocation.close()
  }
}

interface GraphContext {
  run: ActiveRun
  snapshot: RunSnapshot
  plan: Plan
  invocation: Invocation
  /** Toolkits whose app-built transports this process does not have. */
  missing: readonly FailedToolkit[]
  /** Warnings that the run reports at its end. */
  warnings: Set<string>
}

async function executeGraph(
  deps: WorkflowRunDeps,
  { run, snapshot, plan, invocation, missing, warnings }: GraphContext,
): Promise<RunEnd> {
  const { loadout, inlineToolkits } = invocation
  const failed = [...missing, ...invocation.failedToolkits]
  // Preflight runs once, before the first step; a resumed run is checked by each call.
  if (run.log.recorded <= (snapshot.taken ?? 0)) {
    const { userId, threadId } = run
    const { ok, problems } = await deps.preflight(plan, {
      userId,
      threadId,
      loadout,
      inlineToolkits,
      failed,
      rules: snapshot.rules,
    })
    if (!ok) return preflightFailure(problems)
  }
  const usage: Record<string, number> = {}
  const logs: LogLine[] = []
  const { report, progress, onRunning } = createNodeEvents(deps.events, run, plan)
  const nodeDeps: NodeDeps = {
    ...deps,
    run,
    invocation,
    onRunning,
    onUsage: (more) => {
      for (const [name, count] of Object.entries(more)) usage[name] = (usage[name] ?? 0) + count
    },
    onLogs: (lines) => logs.push(...lines),
    onWarnings: (more) => {
      for (const warning of more) if (warnings.size < MAX_WARNINGS) warnings.add(warning)
    },
  }
  const graph = new GraphRun({
    plan,
    run,
    input: snapshot.input,
    report,
    progress,
    runOnce: (planned, scope) => runNode(nodeDeps, { planned, scope }),
  })
  const end = await graph.go()
  // A failed run needs no answers to its pending approvals.
  if (end.status === 'failed') await deps.approvals.withdraw(run.userId, run.runId)
  return { ...endOf(end), logs, ...(end.status === 'paused' ? {} : { usage }) }
}

function endOf(end: GraphEnd): RunEnd {
  if (end.status === 'paused') return { status: 'paused' }
  if (end.status === 'completed') return end
  const { node, error } = end
  const detail = node === 'output' ? error.message : `Node '${node}' failed: ${error.message}`
  const { action } = (error.data ?? {}) as { action?: string }
  const workflowError = new HostError('workflow-failed', { detail, ...(action === undefined ? {} : { action }) })
  return { status: 'failed', error: workflowError, about: { node, reason: error.code } }
}

/** Error of a run that ends before its first call, with all preflight problems. */
export function preflightError(problems: readonly Problem[]): HostError {
  return new HostError('preflight-failed', {
    detail: problems.map(({ message }) => message).join(' '),
    errors: problems.map(({ path, message }) => ({ path, message })),
  })
}

function preflightFailure(problems: readonly Problem[]): RunEnd {
  return { status: 'failed', error: preflightError(problems), about: { problems } }
}

function missingTransports({ transports = [] }: RunSnapshot, here: Transports): FailedToolkit[] {
  return transports
    .filter((name) => !Object.hasOwn(here, name))
    .map((id) => ({
      id,
      code: 'server-unreachable' as const,
      action: 'Run it again where the app gives its transport.',
      reason: 'Its transport was built in the process that began the run, which is not this one.',
    }))
}

function toolkitReport(
  { failedToolkits, droppedToolkits }: Invocation,
  { broken, warnings }: { broken: readonly FailedToolkit[]; warnings: ReadonlySet<string> },
): RunToolkits {
  const failed = [...failedToolkits, ...broken].map((toolkit) => ({ ...toolkit }))
  return { failedToolkits: failed, droppedToolkits, ...(warnings.size > 0 ? { warnings: [...warnings] } : {}) }
}
