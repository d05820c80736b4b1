/** The one way to a tool: who may, how much, and the stages in their order. */
import type { RunningAudit } from '../audit/audit.ts'
import { approvedInAdvance, createAskAhead } from '../calls/approval-request.ts'
import { type BuiltInTool, withBuiltInTools } from '../calls/built-in/built-in-tools.ts'
import type { CallHandler, ResolvedCall } from '../calls/call.ts'
import { compose } from '../calls/call.ts'
import { createCalls, type RunningCalls } from '../calls/calls.ts'
import type { RunCode } from '../calls/custom-function.ts'
import type { Inputs } from '../calls/elicitation.ts'
import { executeCall } from '../calls/execute.ts'
import { createConcurrency } from '../calls/limits/concurrency.ts'
import type { ProviderPrograms } from '../calls/provider-programs.ts'
import { createCallRecords, createCancel } from '../calls/records/call-records.ts'
import { createResults } from '../calls/results/results.ts'
import { resolveTool } from '../calls/stages/resolve.ts'
import { withDecision } from '../calls/stages/with-decision.ts'
import { withLearning } from '../calls/stages/with-learning.ts'
import { withLimits } from '../calls/stages/with-limits.ts'
import { withLoadout } from '../calls/stages/with-loadout.ts'
import { withMaskedResults } from '../calls/stages/with-masked-results.ts'
import { known, withIntent, withOutcome, withResolved } from '../calls/stages/with-outcome.ts'
import { withOutput } from '../calls/stages/with-output.ts'
import { withPin } from '../calls/stages/with-pin.ts'
import { withResults } from '../calls/stages/with-results.ts'
import { withTelemetry } from '../calls/stages/with-telemetry.ts'
import { checkEdited, createArgumentCheck, withValidation } from '../calls/stages/with-validation.ts'
import type { Catalog } from '../catalog/catalog.ts'
import type { Connector } from '../connections/connector.ts'
import type { OpenedSecrets } from '../connections/known-secrets.ts'
import type { CredentialStore } from '../credentials/credential-store.ts'
import type { Emitter } from '../events.ts'
import type { Loadouts } from '../loadout/loadouts.ts'
import { createApprovals } from '../policy/approvals/approvals.ts'
import { createDecisions } from '../policy/decisions.ts'
import { createFingerprinter } from '../policy/fingerprints.ts'
import { createGrants } from '../policy/grants.ts'
import { createBudgets } from '../policy/limits/budgets.ts'
import { createTokenMeters } from '../policy/limits/token-limits.ts'
import { createPolicy } from '../policy/policy.ts'
import { createPolicyPreview } from '../policy/preview.ts'
import { createPolicyRules } from '../policy/rules.ts'
import type { ProcessLease } from '../processes/heartbeat.ts'
import type { Engine } from '../runs/engine.ts'
import type { LoadedTools } from '../search/loaded-tools.ts'
import type { Searcher } from '../search/searcher.ts'
import type { ToolUsage } from '../search/usage/tool-usage.ts'
import type { ReadCache, Storage } from '../storage/storage.ts'
import type { Telemetry } from '../telemetry/telemetry.ts'
import type { PreferenceStore } from '../threads/preferences.ts'
import type { Threads } from '../threads/threads.ts'
import type { AppConfigStore } from '../toolkits/app-config.ts'
import type { Functions } from '../toolkits/functions.ts'
import type { Registry } from '../toolkits/registry.ts'
import { createDepartures } from '../users/end-work.ts'
import { createUsers, removeUserRows, removeUserRowsIn } from '../users/remove-user.ts'
import { createLeaving, ignoringRemovedUsers } from '../users/removing.ts'
import type { HostOptions } from './options.ts'

export interface CallBase {
  storage: Storage
  cache: ReadCache
  events: Emitter
  credentials: CredentialStore
  app: AppConfigStore
  registry: Registry
  functions: Functions
  presence: ProcessLease
  inputs: Inputs
}

export interface PipelineDeps {
  options: HostOptions
  audit: RunningAudit
  secrets: OpenedSecrets
  telemetry: Telemetry
  connector: Connector
  catalog: Catalog
  loadouts: Loadouts
  preferences: PreferenceStore
  threads: Threads
  searcher: Searcher
  learned: ToolUsage
  loaded: LoadedTools
  /** What is made of calls: tools of the host itself, and runs that end with their user. */
  runs: () => { own: readonly BuiltInTool[]; engine: Pick<Engine, 'users' | 'forget'>; programs: ProviderPrograms }
  /** What runs the code of custom tools, once it is there. */
  runCode: RunCode | undefined
}

export function createCallPipeline(base: CallBase, way: PipelineDeps) {
  const { storage, registry } = base
  const { audit, catalog, connector, loadouts, telemetry } = way
  const leaving = createLeaving()
  const { limits, large, ...use } = createLimits(base, way, leaving)
  const { decision, foresight, ...policy } = createPolicies(base, way)
  const checks = [withPin, withLoadout(loadouts), withValidation(createArgumentCheck())]
  // A call that was asked about begins anew with its answer, so the way knows its own beginning.
  const again: CallHandler = (call) => found(call)
  const results = [large, withMaskedResults(way.secrets), withOutput()]
  const stages = [withResolved, ...checks, withDecision({ ...decision, again }), limits, ...results]
  const path = compose(
    [...stages, withIntent(audit.calls)],
    executeCall({ connector, app: base.app, functions: base.functions, runCode: way.runCode }),
  )
  const { searcher, loaded, threads } = way
  const ownStages = { first: [withResolved, limits], last: [withIntent(audit.calls)] }
  const own = {
    results: use.results,
    loadouts,
    searcher,
    loaded,
    threads,
    stages: ownStages,
    more: () => way.runs().own,
  }
  const found = withBuiltInTools(own, resolveTool({ registry, catalog }, path))
  const learning = withLearning({ learned: way.learned, audit: audit.calls, loaded })
  const pipeline = withTelemetry(telemetry, withOutcome(audit.calls, learning(found)))
  const calls = createCalls({ pipeline, inputs: base.inputs, leaving })
  const records = createCallRecords({ storage, calls, presence: base.presence, results: use.results })
  const cancel = createCancel({ storage, records, calls })
  const departures = createDepartures({
    storage,
    leaving,
    calls: withRuns(calls, way.runs),
    forget: (userId) => {
      use.budgets.forget(userId)
      records.forget(userId)
      way.learned.forget(userId)
    },
    removeRows: (userId, collections) => removeUserRowsIn(storage, userId, collections),
  })
  const users = createUsers({
    storage,
    connector,
    audit,
    endCalls: departures.end,
    removeRows: (userId) => removeUserRows(storage, userId),
  })
  const look: CallHandler = resolveTool(
    { registry, catalog },
    compose([withResolved, ...checks, withDecision({ ...decision, again: (call) => look(call) })], approvedInAdvance),
  )
  const ahead = createAskAhead({ storage, look, ...decision, programs: () => way.runs().programs })
  return { policy, foresight, use, large, calls, records, cancel, departures, users, ahead }
}

/** A run that goes on would only make calls that are refused: it ends first. */
function withRuns(calls: RunningCalls, runs: PipelineDeps['runs']): Pick<RunningCalls, 'endAll' | 'users'> {
  return {
    users: () => [...new Set([...calls.users(), ...runs().engine.users()])],
    async endAll(userId) {
      const ended = calls.endAll(userId)
      await runs().engine.forget(userId)
      return ended
    },
  }
}

/** Who may do what: rules, remembered answers, and questions to users. */
function createPolicies(base: CallBase, { options, audit, catalog }: PipelineDeps) {
  const { storage, cache, events, app, presence, credentials, registry } = base
  const fingerprinter = createFingerprinter()
  const rules = createPolicyRules({ storage, cache, events, given: options.policy ?? [] })
  const offered = async (userId: string) => {
    const all = await registry.list(userId)
    const tools = await catalog.tools(userId, all)
    return all.map((stored) => ({ stored, tools: tools.get(stored.uscoId) ?? [] }))
  }
  const grants = createGrants({ storage, cache, events, fingerprinter, offered })
  const approvals = createApprovals({
    storage,
    events,
    grants,
    presence,
    credentials,
    check: checkEdited,
    expireMs: options.approvalMs,
  })
  const policy = createPolicy({ rules, grants, app })
  const show = (call: ResolvedCall) => audit.calls.show(call, known(call))
  const decisions = createDecisions({ policy, grants, registry, catalog })
  const foresight = createPolicyPreview({ policy, rules, grants, app })
  return { rules, grants, approvals, decisions, foresight, decision: { policy, approvals, fingerprinter, app, show } }
}

/** How much: limits, and results that are too large to hand on. */
function createLimits(
  { storage, cache, app, presence }: CallBase,
  people: PipelineDeps,
  leaving: ReturnType<typeof createLeaving>,
) {
  const { preferences, threads } = people
  const budgets = ignoringRemovedUsers(createBudgets(storage), leaving)
  const results = createResults({ storage, cache })
  const concurrency = createConcurrency({ storage, presence })
  const limits = withLimits({ app, budgets, concurrency, preferences, threads })
  const tokens = createTokenMeters({ app, preferences, threads, budgets })
  return { budgets, tokens, results, concurrency, limits, large: withResults({ results, app }) }
}
