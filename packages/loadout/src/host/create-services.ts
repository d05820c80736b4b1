/** Wires the parts of a host. This is the only file that knows all of them, and it does nothing else. */

import type { FetchLike } from '@modelcontextprotocol/client'
import { type Audit, createAudit } from '../audit/audit.ts'
import { recordEvents } from '../audit/record-events.ts'
import { createApprovalRequests } from '../calls/approval-request.ts'
import { type Calls, createCalls, type RunningCalls } from '../calls/calls.ts'
import type { RunCode } from '../calls/custom-function.ts'
import type { CallHooks, CallStage } from '../calls/custom-stages.ts'
import { createInputs, type Inputs } from '../calls/elicitation.ts'
import { type Invocation, invoke } from '../calls/invocation.ts'
import { createConcurrency } from '../calls/limits/concurrency.ts'
import { createPipeline } from '../calls/pipeline.ts'
import { type CancellableRecords, createCallRecords, createCancel } from '../calls/records/call-records.ts'
import { createResults, type Results } from '../calls/results/results.ts'
import { withContext, withRules } from '../calls/stages/with-context.ts'
import { removedAt } from '../calls/stages/with-learning.ts'
import { callDetails } from '../calls/stages/with-outcome.ts'
import { checkEdited } from '../calls/stages/with-validation.ts'
import { type Trial, type TrialInput, type TrialScope, tryTool } from '../calls/try-tool.ts'
import { type Catalog, createCatalog } from '../catalog/catalog.ts'
import { createResources, type Prompts, type Resources, type Skills } from '../catalog/resources.ts'
import { createCustomCheck } from '../code-mode/custom/check.ts'
import { createCustomCode } from '../code-mode/custom/run-custom.ts'
import { declareTool, type ToolDeclaration } from '../code-mode/declarations/declarations.ts'
import { type Connections, createConnections } from '../connections/connections.ts'
import { type Connector, createConnector } from '../connections/connector.ts'
import { createToolkitSecrets } from '../connections/known-secrets.ts'
import { createMaskValue } from '../connections/mask-values.ts'
import { storeEra } from '../connections/session/eras.ts'
import { webDrivers } from '../connections/web-drivers.ts'
import { resolveKeyRing } from '../credentials/aes-key-ring.ts'
import { type CredentialStore, createCredentialStore } from '../credentials/credential-store.ts'
import { HostError } from '../errors.ts'
import { createEmitter, type Emitter } from '../events.ts'
import { type Activations, createActivations } from '../loadout/activations.ts'
import { createLoadouts, type LoadoutScope, type Loadouts } from '../loadout/loadouts.ts'
import { type Discovered, type DiscoverOptions, discover } from '../loadout/setup/discover.ts'
import type { SetupOptions } from '../loadout/setup/setup-toolkits.ts'
import { type LiveConnection, liveConnections, type Warmed, warm } from '../loadout/setup/warm.ts'
import { createToolkitViews, type ToolkitViews } from '../loadout/toolkit-views.ts'
import { createSignIns, type SignIns } from '../oauth/facade.ts'
import { createOAuthService } from '../oauth/service.ts'
import { createSessionStore } from '../oauth/session/session-store.ts'
import { encryptedApprovals } from '../policy/approvals/approval-rows.ts'
import { type Approvals, createApprovals } from '../policy/approvals/approvals.ts'
import { createDecisions, type Decisions } from '../policy/decisions.ts'
import { createFingerprinter } from '../policy/fingerprints.ts'
import { createGrants, type Grants } from '../policy/grants.ts'
import { type Budgets, createBudgets } from '../policy/limits/budgets.ts'
import { createTokenMeters, type TokenMeters } from '../policy/limits/token-limits.ts'
import { type Usage, usageOf } from '../policy/limits/usage.ts'
import { createPolicy } from '../policy/policy.ts'
import { createPolicyPreview } from '../policy/preview.ts'
import { createPolicyRules, type PolicyRules } from '../policy/rules.ts'
import { createProcessLease } from '../processes/heartbeat.ts'
import { type Answers, createAnswers } from '../runs/answers.ts'
import type { Engine } from '../runs/engine.ts'
import { APP_OWNER } from '../schema/ids.ts'
import type { Tier } from '../schema/scope.ts'
import type { RemoteServer } from '../schema/toolkit/server.ts'
import { createSearch } from '../search/create-search.ts'
import { createLoadedTools } from '../search/loaded-tools.ts'
import { createResolver } from '../search/resolve-prompt.ts'
import { createSelectionMemory } from '../search/selection-memory.ts'
import { createToolSearch, type ToolSearch } from '../search/tool-search.ts'
import { toolkitsByUse } from '../search/usage/tool-usage.ts'
import { memory } from '../storage/memory.ts'
import { createReadCache } from '../storage/read-cache.ts'
import type { BackupStorage, Storage } from '../storage/storage.ts'
import { observeHost } from '../telemetry/observe-host.ts'
import { createTelemetry } from '../telemetry/telemetry.ts'
import { createThread, type Thread, type ThreadAddress, type ThreadOptions } from '../thread.ts'
import { createMessages, type Messages } from '../threads/messages.ts'
import { createPreferences, type PreferenceStore } from '../threads/preferences.ts'
import { createThreads, type Threads } from '../threads/threads.ts'
import { type AppConfigStore, createAppConfig, toolkitDefaults } from '../toolkits/app-config.ts'
import { createFunctions } from '../toolkits/functions.ts'
import { createImports, type Imports } from '../toolkits/imports.ts'
import { createRegistry, type Registry } from '../toolkits/registry.ts'
import { fillSecrets } from '../toolkits/secrets/secrets.ts'
import { createSources, type Sources } from '../toolkits/sources/sources.ts'
import type { StoredToolkit } from '../toolkits/stored-toolkit.ts'
import { createRemovalListener } from '../users/end-work.ts'
import { createUsers, removeUserRows, removeUserRowsIn, type Users } from '../users/remove-user.ts'
import { createUsersBeingRemoved, ignoringRemovedUsers } from '../users/removing.ts'
import { encryptedToolkits } from '../workflow/run-snapshot.ts'
import type { Workflows } from '../workflow/workflows.ts'
import { createLifecycle } from './lifecycle.ts'
import { type ServiceOptions, sourcesOf } from './service-options.ts'
import { createHostWorkflows, createRuns, type Runs } from './wire-runs.ts'

/** The parts of a host, each with its whole contract. `host.user(id)` and `host.toolkits` are built on them. */
export interface HostServices extends AsyncDisposable {
  readonly toolkits: Registry
  /** Imports configs of other apps. */
  readonly imports: Imports
  /** Toolkits that are defined outside the database, and their problems. */
  readonly sources: Sources
  /** Settings for everyone. */
  readonly app: AppConfigStore
  /** Toolkits with state and tools, as people see them. */
  readonly views: ToolkitViews
  readonly catalog: Catalog
  /** Open connections: inspect or close them. Tools are only called through `calls`. */
  readonly connections: Connections
  readonly resources: Resources
  readonly prompts: Prompts
  readonly skills: Skills
  readonly threads: Threads
  readonly messages: Messages
  readonly activations: Activations
  readonly loadouts: Loadouts
  readonly calls: Calls
  /** Questions of servers to users. */
  readonly inputs: Inputs
  readonly rules: PolicyRules
  readonly grants: Grants
  readonly approvals: Approvals
  /** Decisions about tools, before they are called. */
  readonly decisions: Decisions
  /** Stored calls: background calls and idempotency keys. */
  readonly records: CancellableRecords
  /** Results that were too large to return. */
  readonly results: Results
  /** Runs of programs and workflows. */
  readonly runs: Runs
  /** Chat answers, which are runs. */
  readonly answers: Answers
  readonly workflows: Workflows
  readonly budgets: Budgets
  /** Token counters of models: `createModels({ ...services })` uses them. */
  readonly tokens: TokenMeters
  /** Guarded fetch of a tier, for requests that are no call of a server. */
  readonly fetchFor: (tier: Tier) => FetchLike
  readonly credentials: CredentialStore
  readonly preferences: PreferenceStore
  /** Sign-ins of users to servers. */
  readonly signIns: SignIns
  readonly search: ToolSearch['search']
  readonly events: Emitter
  readonly audit: Audit
  readonly users: Users
  readonly storage: Storage
  /** One thread. It need not exist: the first change creates it. */
  thread(address: ThreadAddress, options?: ThreadOptions): Thread
  /** Sets up the tools of one invocation by toolkit names, or all toolkits of its context. */
  setupToolkits(names: readonly string[] | undefined, options: SetupOptions): Promise<Invocation>
  /** Runs one tool of a custom toolkit that is not saved. */
  tryTool(scope: TrialScope, input: TrialInput): Promise<Trial>
  /** The TypeScript declaration of one tool, as programs see it. */
  declaration(scope: LoadoutScope, ref: string): Promise<ToolDeclaration>
  /** Adds a stage of the app to the pipeline of every call. Returns a function that removes it. */
  use(stage: CallStage): () => void
  /** Adds hooks of the app before and after every call. Returns a function that removes them. */
  onCall(hooks: CallHooks): () => void
  /** Lists the tools of a server without registering it. */
  discover(record: unknown, options?: DiscoverOptions): Promise<Discovered>
  /** Opens connections ahead: those of a user, or those that all users share. */
  warm(scope?: { userId?: string }): Promise<Warmed[]>
  /** Limits of a user and how much of them is used. */
  usage(userId: string): Promise<Usage>
  status(): Promise<{ storage: string; connections: LiveConnection[] }>
  /** Copies the data. Only storages that can be copied have it. */
  readonly backup?: () => Promise<Uint8Array>
  /** Opens the storage and follows changes of other processes. Every other member waits for the storage by itself. */
  ready(): Promise<void>
  close(): Promise<void>
}

/**
 * Creates every part of a host once, in the order of the layers, and passes each its dependencies.
 *
 * A callback may name a part that is created further down: it runs only after this function has returned. There is one real
 * cycle: programs and workflows call tools through the pipeline, and `run_code` is a tool in it.
 */
export function createServices(options: ServiceOptions = {}): HostServices {
  // Storage, secrets and events.
  const storage = options.storage ?? memory()
  const events = createEmitter(options.onListenerError)
  const cache = createReadCache(storage)
  const keyRing = resolveKeyRing(storage, options.keyRing)
  const credentials = createCredentialStore({ storage, keyRing, sealed: [encryptedApprovals, encryptedToolkits] })
  const openSecrets = (owner: { userId: string; toolkit: string }) => credentials.open(owner)
  const presence = createProcessLease(storage, { leaseMs: options.processLeaseMs })
  const telemetry = createTelemetry(options.telemetry)
  const app = createAppConfig({ storage, cache, events }, options.app)

  // Toolkits: which there are, and where they are defined.
  const functions = createFunctions(options.functions)
  const check = createCustomCheck({
    app,
    functions,
    runsCode: options.executor !== undefined,
    resolveLoadout: (userId) => loadouts.resolve({ userId }, { background: true }),
  })
  const definitions = sourcesOf(options)
  const registry: Registry = createRegistry({
    storage,
    cache,
    events,
    functions,
    check,
    secrets: credentials,
    defaults: async () => toolkitDefaults(await app.get()),
    ready: definitions.length === 0 ? undefined : () => sources.ready(),
    isDefined: (source, id) => sources.defines(source, id),
  })
  const sources = createSources(
    {
      registry,
      secrets: openSecrets,
      onProblem: (problem) => events.emit({ type: 'source-broken', userId: APP_OWNER, ...problem }),
    },
    definitions,
  )

  // Servers: how they are reached, who is signed in to them, and which tools they have.
  const inputs = createInputs(events)
  const drivers = options.drivers ?? webDrivers()
  const fetchFor = (tier: Tier): FetchLike => drivers.fetch?.(tier) ?? NO_FETCH
  const oauth = createOAuthService({
    storage,
    events,
    options: options.signIn ?? {},
    store: createSessionStore({ storage, cache, credentials }),
    fetchFor,
    assertAllowed: async (url, tier) => drivers.assertAllowed?.(url, tier),
    fill: async ({ toolkit, userId, uscoId }: StoredToolkit) =>
      fillSecrets(toolkit.server, await credentials.open({ userId, toolkit: uscoId })) as RemoteServer,
    onChanged: (uscoId, userId) => connector.reset(uscoId, userId),
  })
  events.on('toolkit-removed', ({ uscoId }) => void oauth.forgetToolkit(uscoId).catch(() => {}))
  const connector: Connector = createConnector({
    drivers,
    events,
    telemetry,
    ask: inputs.ask,
    startup: options.startup,
    ...(options.pool ? { pool: options.pool } : {}),
    secrets: openSecrets,
    auth: (stored, userId, server) => oauth.authFor(stored, userId, server),
    tokens: (stored, userId) => oauth.secretsOf(stored, userId),
    saveEra: (stored, era) => storeEra(storage, stored, era),
    onToolsChanged: (stored, userId) => void catalog.changed(stored, userId).catch(() => {}),
  })
  const catalog: Catalog = createCatalog({
    storage,
    cache,
    connector,
    events,
    app,
    isSignedIn: async (stored, userId) => (await oauth.view(stored, userId))?.status === 'signed-in',
    ...(options.toolCacheTtlMs === undefined ? {} : { ttlMs: options.toolCacheTtlMs }),
  })

  // The audit log, and the secrets that it redacts.
  const secrets = createToolkitSecrets(openSecrets, (stored, userId) => oauth.secretsOf(stored, userId))
  events.on('toolkit-removed', ({ uscoId }) => secrets.forget(uscoId))
  const mask = createMaskValue(secrets)
  const audit = createAudit({
    ...options.audit,
    storage,
    secrets,
    retentionDays: async () => (await app.get()).audit.retentionDays,
  })
  const unrecord = recordEvents(events, audit.record)

  // Policy: rules, saved permissions and approval requests.
  const rules = createPolicyRules({ storage, cache, events, codeRules: options.policy ?? [] })
  const fingerprinter = createFingerprinter()
  const offered = async (userId: string) => {
    const all = await registry.list(userId)
    const tools = await catalog.tools(userId, all)
    return all.map((stored) => ({ stored, tools: tools.get(stored.uscoId) ?? [] }))
  }
  const grants = createGrants({ storage, cache, events, fingerprinter, offered })
  const policyFunction = options.policyFunction && {
    ...options.policyFunction,
    onError: (error: unknown) => options.onListenerError?.(error),
  }
  const policy = createPolicy({ rules, grants, app, policyFunction })
  const decisions = createDecisions({ policy, grants, registry, catalog })
  const approvals = createApprovals({
    storage,
    events,
    grants,
    presence,
    credentials,
    check: checkEdited,
    expireMs: options.approvalMs,
  })

  // Threads and their loadouts, tool search.
  const preferences = createPreferences({ storage, cache, events })
  const threads = createThreads({ storage, cache, events })
  const activations = createActivations({ storage, cache, events })
  const { searcher, learned } = createSearch({ storage, cache, goneSince: removedAt }, options.search)
  const loaded = createLoadedTools({ storage, cache, events })
  const selections = createSelectionMemory({ loaded, threads })
  const resolver = createResolver({
    searcher,
    preferences,
    deferAboveTokens: async () => (await app.get()).defaults.deferAboveTokens,
    tokenizer: options.search?.tokenizer,
    prices: options.search?.prices,
  })
  const loadouts = createLoadouts({
    registry,
    catalog,
    activations,
    threads,
    preferences,
    mayWiden: options.mayWiden,
    usedBy: async (userId) => toolkitsByUse(await learned.list(userId)),
    policyPreview: createPolicyPreview({ policy, rules, grants, app }),
  })

  // Calls: limits, stored results and the pipeline.
  const leaving = createUsersBeingRemoved()
  const budgets = ignoringRemovedUsers(createBudgets(storage), leaving)
  const tokens = createTokenMeters({ app, preferences, threads, budgets })
  const concurrency = createConcurrency({ storage, presence })
  const results = createResults({ storage, cache })
  const pipeline = createPipeline({
    telemetry,
    audit: audit.calls,
    usage: learned,
    loaded,
    builtIn: { results, loadouts, searcher, loaded, threads, more: () => runs.own },
    registry,
    catalog,
    loadouts,
    decision: {
      policy,
      approvals,
      fingerprinter,
      app,
      show: (call) => audit.calls.show(call, callDetails(call)),
    },
    limits: { app, budgets, concurrency, preferences, threads },
    results,
    app,
    mask,
    execute: {
      connector,
      app,
      functions,
      runCode: options.executor && ((...call) => (runCode as RunCode)(...call)),
    },
    onHookError: (error) => options.onListenerError?.(error),
  })
  const calls = createCalls({ pipeline: pipeline.call, inputs, removing: leaving })
  const records = createCallRecords({ storage, calls, presence, results })
  const cancel = createCancel({ storage, records, calls })
  const ahead = createApprovalRequests({
    storage,
    preview: pipeline.preview,
    fingerprinter,
    programs: () => runs.programs,
  })

  // Programs, workflows and custom code: they call tools, and are tools.
  const flows = createHostWorkflows(
    {
      storage,
      presence,
      events,
      credentials,
      app,
      registry,
      catalog,
      connector,
      signIns: oauth,
      loadouts,
      preferences,
      threads,
      searcher,
      audit: audit.calls,
      policy,
      approvals,
      budgets,
      engine: () => runs.engine,
      setup: (names, how) => setupToolkits(names, how),
    },
    options,
  )
  const runs = createRuns(
    {
      storage,
      presence,
      events,
      loadouts,
      calls,
      searcher,
      audit: audit.calls,
      approvals,
      workflow: flows.work,
      letGo: flows.letGo,
    },
    options,
  )
  const answers = createAnswers({ storage, engine: runs.engine })
  const runCode =
    options.executor &&
    createCustomCode({
      executor: options.executor,
      limits: { ...options.executor.limits, ...options.programs?.limits },
      calls,
      app,
      secrets: openSecrets,
      loadouts,
      catalog,
      send: fetchFor('user'),
    })
  const setupToolkits: HostServices['setupToolkits'] = (names, how) =>
    invoke(
      {
        events,
        loadouts,
        results,
        loaded,
        resolver,
        selections,
        programs: runs.programs,
        approvalRequests: ahead,
        registry,
        catalog,
        credentials,
        files: options.files,
        transports: options.transports,
        connector,
        telemetry,
        calls: withRules(withContext(calls, how.context, options.runInContext), how.context.rules),
      },
      names,
      how,
    )

  // The end of a user, and of the process.
  const userRemovals = createRemovalListener({
    storage,
    removing: leaving,
    calls: endingRunsFirst(calls, runs.engine),
    forget: (userId) => {
      budgets.forget(userId)
      records.forget(userId)
      learned.forget(userId)
    },
    removeRows: (userId, collections) => removeUserRowsIn(storage, userId, collections),
  })
  const users = createUsers({
    storage,
    connector,
    audit,
    endCalls: userRemovals.end,
    removeRows: (userId) => removeUserRows(storage, userId),
  })
  const unobserve = observeHost(telemetry, { events, connector, audit })
  const { ready, close } = createLifecycle({
    storage,
    credentials,
    lostKeys: options.lostKeys,
    events,
    cache,
    sources,
    presence,
    connector,
    catalog,
    approvals,
    budgets,
    concurrency,
    records,
    cancel,
    userRemovals,
    learned,
    loaded,
    runs,
    answers,
    audit,
    unobserve,
    unrecord,
  })

  return {
    storage,
    events,
    credentials,
    inputs,
    sources,
    app,
    catalog,
    calls,
    audit,
    users,
    threads,
    messages: createMessages({ storage, events }),
    activations,
    loadouts,
    preferences,
    rules,
    grants,
    approvals,
    decisions,
    results,
    budgets,
    tokens,
    records: cancel.records,
    fetchFor,
    toolkits: registry,
    runs: runs.engine,
    answers,
    workflows: flows.workflows,
    tryTool: (scope, input) => tryTool({ calls, registry, check, secrets: openSecrets }, scope, input),
    declaration: (scope, ref) => declareTool({ loadouts, runsPrograms: options.executor !== undefined }, scope, ref),
    connections: createConnections(connector),
    imports: createImports(registry),
    ...createResources({ registry, connector, mask }),
    signIns: createSignIns({
      signIns: oauth,
      registry,
      refresh: (stored, userId) => catalog.introspect(stored, userId),
    }),
    search: createToolSearch({ loadouts, searcher }).search,
    views: createToolkitViews({ registry, catalog, connector, loadouts, signIns: oauth }),
    thread: (address, how) =>
      createThread(
        {
          events,
          loadouts,
          calls,
          results,
          loaded,
          resolver,
          selections,
          programs: runs.programs,
          ahead,
          activations,
          run: runs.run,
          offer: runs.offer,
        },
        address,
        how,
      ),
    setupToolkits,
    use: pipeline.use,
    onCall: pipeline.onCall,
    discover: (record, how = {}) => discover({ catalog, connector }, record, how),
    warm: ({ userId } = {}) => warm({ registry, connector, catalog }, userId),
    usage: (userId) => usageOf({ app, preferences, budgets }, userId),
    status: async () => ({
      storage: storage.name,
      connections: await liveConnections({ registry, connector, catalog }),
    }),
    ...('backup' in storage ? { backup: () => (storage as BackupStorage).backup() } : {}),
    ready,
    close,
    [Symbol.asyncDispose]: close,
  }
}

/** Drivers without a fetch block every address; nothing goes around them. */
const NO_FETCH: FetchLike = () =>
  Promise.reject(new HostError('address-blocked', { detail: 'The drivers have no fetch.' }))

/** A run that goes on would only make calls that are refused, so it ends before the calls of its user. */
function endingRunsFirst(
  calls: RunningCalls,
  engine: Pick<Engine, 'users' | 'forget'>,
): Pick<RunningCalls, 'endAll' | 'users'> {
  return {
    users: () => [...new Set([...calls.users(), ...engine.users()])],
    async endAll(userId) {
      const ended = calls.endAll(userId)
      await engine.forget(userId)
      return ended
    },
  }
}
