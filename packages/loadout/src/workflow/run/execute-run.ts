/** What a run of a workflow does: its toolkits, a look ahead, its nodes; and what is left of it at its end. */
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
import { type LookDeps, listFailed, retryFailedToolkits } from '../preflight/retry-failed.ts'
import { contextOf, type RunSnapshot } from '../run-snapshot.ts'
import type { RunTransports, Transports } from '../run-transports.ts'
import { nodeTeller } from '../watch/node-events.ts'
import type { LeafDeps } from './node-context.ts'
import { type GraphEnd, GraphRun } from './run-graph.ts'
import { runNode } from './run-node.ts'

export interface WorkDeps
  extends Omit<LeafDeps, 'run' | 'invocation' | 'approvals' | 'onRunning' | 'onUsage' | 'onLogs' | 'onWarnings'>,
    LookDeps {
  setup(names: readonly string[], options: SetupOptions): Promise<Invocation>
  /** Lets what a run calls find its context. */
  around: RunInContext
  preflight(plan: Plan, scope: PreflightScope): Promise<Preflight>
  approvals: Pick<Approvals, 'put' | 'answerTo' | 'withdraw'>
  registry: Pick<Registry, 'list'>
  credentials: Pick<CredentialStore, 'seal' | 'unseal'>
  transports: Pick<RunTransports, 'of'>
  events: Emitter
  storage: Storage
}

const MAX_WARNINGS = 200

export function createWorkflowWork(parts: WorkDeps): RunWork {
  return async (run) => {
    const kept = run.input as unknown as RunSnapshot
    const plan = planOf(kept.definition)
    const context = await contextOf(parts.credentials, run, kept)
    return parts.around(context, () => within(parts, { run, kept, plan, context }))
  }
}

interface Begun {
  run: ActiveRun
  kept: RunSnapshot
  plan: Plan
  context: ExecutionContext
}

/** All of it, within its context. */
async function within(parts: WorkDeps, { run, kept, plan, context }: Begun): Promise<RunEnd> {
  const stored = await parts.registry.list(run.userId)
  const transports = parts.transports.of(run.runId)
  const carried = [...Object.keys(context.toolkits), ...Object.keys(transports)]
  const needed = toolkitsOf(needsOf(plan), [...carried, ...stored.map(({ toolkit }) => toolkit.id)])
  const mine = stored.filter(({ toolkit: { id } }) => !carried.includes(id))
  await retryFailedToolkits(
    parts,
    mine.filter(({ toolkit: { id } }) => needed.includes(id)),
    run.userId,
  )
  // Only so many serve one run: what its nodes name comes before what was merely brought along.
  const invocation = await parts.setup([...new Set([...needed, ...carried])], { context, transports })
  const gone = goneTransports(kept, transports)
  try {
    const warnings = new Set(invocation.warnings)
    const end = await work(parts, { run, kept, plan, invocation, gone, warnings })
    const unused = mine.filter(({ toolkit: { id } }) => !needed.includes(id))
    return { ...end, toolkits: toolkitsTold(invocation, { broken: [...gone, ...listFailed(unused)], warnings }) }
  } finally {
    await invocation.close()
  }
}

interface Working {
  run: ActiveRun
  kept: RunSnapshot
  plan: Plan
  invocation: Invocation
  /** What the run was begun with, and this process does not have. */
  gone: readonly FailedToolkit[]
  /** What is told of it at its end. */
  warnings: Set<string>
}

async function work(parts: WorkDeps, { run, kept, plan, invocation, gone, warnings }: Working): Promise<RunEnd> {
  const { loadout, inlineToolkits: brought } = invocation
  const failed = [...gone, ...invocation.failedToolkits]
  // Once, before anything was done: what goes on later is looked at by each call.
  if (run.log.recorded <= (kept.taken ?? 0)) {
    const { userId, threadId } = run
    const { ok, problems } = await parts.preflight(plan, {
      userId,
      threadId,
      loadout,
      brought,
      failed,
      rules: kept.rules,
    })
    if (!ok) return refused(problems)
  }
  const usage: Record<string, number> = {}
  const logs: LogLine[] = []
  const { tell, progress, onRunning } = nodeTeller(parts.events, run, plan)
  const leaves: LeafDeps = {
    ...parts,
    run,
    invocation,
    onRunning,
    onUsage: (more) => {
      for (const [name, count] of Object.entries(more)) usage[name] = (usage[name] ?? 0) + count
    },
    onLogs: (lines) => logs.push(...lines),
    onWarnings: (more) => {
      for (const one of more) if (warnings.size < MAX_WARNINGS) warnings.add(one)
    },
  }
  const graph = new GraphRun({
    plan,
    run,
    input: kept.input,
    tell,
    progress,
    once: (planned, place) => runNode(leaves, { planned, place }),
  })
  const end = await graph.go()
  // Nobody needs the answers of a run that is over.
  if (end.status === 'failed') await parts.approvals.withdraw(run.userId, run.runId)
  return { ...endOf(end), logs, ...(end.status === 'paused' ? {} : { usage }) }
}

function endOf(end: GraphEnd): RunEnd {
  if (end.status === 'paused') return { status: 'paused' }
  if (end.status === 'completed') return end
  const { node, error } = end
  const detail = node === 'output' ? error.message : `Node '${node}' failed: ${error.message}`
  const { action } = (error.data ?? {}) as { action?: string }
  const told = new HostError('workflow-failed', { detail, ...(action === undefined ? {} : { action }) })
  return { status: 'failed', error: told, about: { node, reason: error.code } }
}

/** It ends before anything was called, with every problem by name. */
export function preflightError(problems: readonly Problem[]): HostError {
  return new HostError('preflight-failed', {
    detail: problems.map(({ message }) => message).join(' '),
    errors: problems.map(({ path, message }) => ({ path, message })),
  })
}

function refused(problems: readonly Problem[]): RunEnd {
  return { status: 'failed', error: preflightError(problems), about: { problems } }
}

function goneTransports({ transports = [] }: RunSnapshot, here: Transports): FailedToolkit[] {
  return transports
    .filter((name) => !Object.hasOwn(here, name))
    .map((id) => ({
      id,
      code: 'server-unreachable' as const,
      action: 'Run it again where the app gives its transport.',
      reason: 'Its transport was built in the process that began the run, which is not this one.',
    }))
}

function toolkitsTold(
  { failedToolkits, droppedToolkits }: Invocation,
  { broken, warnings }: { broken: readonly FailedToolkit[]; warnings: ReadonlySet<string> },
): RunToolkits {
  const failed = [...failedToolkits, ...broken].map((one) => ({ ...one }))
  return { failedToolkits: failed, droppedToolkits, ...(warnings.size > 0 ? { warnings: [...warnings] } : {}) }
}
