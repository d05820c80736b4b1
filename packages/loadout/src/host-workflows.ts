/** Workflows: what is stored, what their runs do, and what is looked at before. */
import type { CallAudit } from './audit/call-audit.ts'
import type { Invocation } from './calls/invocation.ts'
import type { Catalog } from './catalog/catalog.ts'
import type { Connector } from './connections/connector.ts'
import { notAround } from './context.ts'
import type { CredentialStore } from './credentials/credential-store.ts'
import type { Emitter } from './events.ts'
import type { HostOptions } from './host-options.ts'
import type { Loadouts } from './loadout/loadouts.ts'
import type { PreferenceStore } from './loadout/preferences.ts'
import type { SetupOptions } from './loadout/setup-toolkits.ts'
import type { Threads } from './loadout/threads.ts'
import type { Approvals } from './policy/approvals.ts'
import { type Budgets, HOUR_MS } from './policy/budgets.ts'
import type { Grants } from './policy/grants.ts'
import { createPolicy } from './policy/policy.ts'
import type { Presence } from './policy/presence.ts'
import type { PolicyRules } from './policy/rules.ts'
import { usageOf } from './policy/usage.ts'
import type { Engine, RunWork } from './runs/engine.ts'
import type { Searcher } from './search/searcher.ts'
import type { SignIns } from './sign-in/sign-ins.ts'
import type { Storage } from './storage/storage.ts'
import type { AppConfigStore } from './toolkits/app-config.ts'
import type { Registry } from './toolkits/registry.ts'
import { createGivenTransports } from './workflow/given-transports.ts'
import type { Plan } from './workflow/plan.ts'
import { type PreflightScope, preflight } from './workflow/preflight.ts'
import type { RunLimits } from './workflow/surroundings.ts'
import { createWorkflowWork } from './workflow/work.ts'
import { createWorkflows, type Workflows } from './workflow/workflows.ts'

export interface HostWorkflowParts {
  storage: Storage
  presence: Presence
  events: Emitter
  credentials: CredentialStore
  app: AppConfigStore
  registry: Registry
  catalog: Catalog
  connector: Connector
  signIns: SignIns
  loadouts: Loadouts
  preferences: PreferenceStore
  threads: Pick<Threads, 'settings'>
  searcher: Searcher
  audit: CallAudit
  rules: PolicyRules
  grants: Grants
  approvals: Approvals
  budgets: Budgets
  /** What keeps runs going: it is there once this is. */
  engine: () => Engine
  setup(names: readonly string[], options: SetupOptions): Promise<Invocation>
}

export function createHostWorkflows(
  parts: HostWorkflowParts,
  { executor, programs, agent, around = notAround }: HostOptions,
): { workflows: Workflows; work: RunWork; letGo(runId: string): void } {
  const { rules, grants, app } = parts
  const look = {
    ...parts,
    policy: createPolicy({ rules, grants, app }),
    usage: (userId: string, threadId?: string) => limited(parts, userId, threadId),
    modelProblem: agent?.problem?.bind(agent),
    agentCeiling: agent?.ceiling?.bind(agent),
    can: { programs: executor !== undefined, agents: agent !== undefined },
  }
  const transports = createGivenTransports()
  const before = (plan: Plan, scope: PreflightScope) => preflight(look, plan, scope)
  const work = createWorkflowWork({
    ...parts,
    transports,
    executor,
    agent,
    around,
    limits: { ...executor?.limits, ...programs?.limits },
    preflight: before,
  })
  const engine = {
    start: (...given: Parameters<Engine['start']>) => parts.engine().start(...given),
    get: (...given: Parameters<Engine['get']>) => parts.engine().get(...given),
    settled: (...given: Parameters<Engine['settled']>) => parts.engine().settled(...given),
  }
  const workflows = createWorkflows({ ...parts, transports, engine, preflight: before })
  return { work, workflows, letGo: transports.forget }
}

/** What was used is looked up only where there is a limit to hold it against. */
async function limited(
  parts: HostWorkflowParts,
  userId: string,
  threadId: string | undefined,
): Promise<RunLimits | undefined> {
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
