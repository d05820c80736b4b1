/** The composition root: chooses defaults and wires the parts. It does nothing else, and it is the only file that knows everyone. */

import type { FetchLike } from '@modelcontextprotocol/client'
import { type Audit, createAudit } from '../audit/audit.ts'
import { recordEvents } from '../audit/record-events.ts'
import type { Calls } from '../calls/calls.ts'
import type { RunCode } from '../calls/custom-function.ts'
import { createInputs, type Inputs } from '../calls/elicitation.ts'
import { type Invocation, invoke } from '../calls/invocation.ts'
import type { CancellableRecords } from '../calls/records/call-records.ts'
import type { Results } from '../calls/results/results.ts'
import { withContext, withRules } from '../calls/stages/with-context.ts'
import { removedAt } from '../calls/stages/with-learning.ts'
import { type Trial, type TrialInput, type TrialScope, tryTool } from '../calls/try-tool.ts'
import { type Catalog, createCatalog } from '../catalog/catalog.ts'
import { createResources, type Prompts, type Resources, type Skills } from '../catalog/resources.ts'
import { type CustomCheck, type CustomCheckDeps, createCustomCheck } from '../code-mode/custom/check.ts'
import { createCustomCode } from '../code-mode/custom/run-custom.ts'
import { declareTool, type ToolDeclaration } from '../code-mode/declarations/declarations.ts'
import { type Connections, createConnections } from '../connections/connections.ts'
import { type Connector, createConnector } from '../connections/connector.ts'
import { createOpenedSecrets } from '../connections/known-secrets.ts'
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
import { createOAuthService, type OAuthService } from '../oauth/service.ts'
import { createSessionStore } from '../oauth/session/session-store.ts'
import { sealedApprovals } from '../policy/approvals/approval-rows.ts'
import type { Approvals } from '../policy/approvals/approvals.ts'
import type { Decisions } from '../policy/decisions.ts'
import type { Grants } from '../policy/grants.ts'
import type { Budgets } from '../policy/limits/budgets.ts'
import type { TokenMeters } from '../policy/limits/token-limits.ts'
import { type Usage, usageOf } from '../policy/limits/usage.ts'
import type { PolicyRules } from '../policy/rules.ts'
import { createPresence } from '../processes/heartbeat.ts'
import type { AppConfig } from '../schema/app-config.ts'
import { APP_OWNER } from '../schema/ids.ts'
import type { Tier } from '../schema/scope.ts'
import type { RemoteServer } from '../schema/toolkit/server.ts'
import { createSearch } from '../search/create-search.ts'
import { createLoadedTools } from '../search/loaded-tools.ts'
import { createResolver } from '../search/resolve-prompt.ts'
import { createToolSearch, type ToolSearch } from '../search/tool-search.ts'
import { toolkitsByUse } from '../search/usage/tool-usage.ts'
import { memory } from '../storage/memory.ts'
import { createReadCache } from '../storage/read-cache.ts'
import type { BackupStorage, ReadCache, Storage } from '../storage/storage.ts'
import { observeHost } from '../telemetry/observe-host.ts'
import { createTelemetry, type Telemetry } from '../telemetry/telemetry.ts'
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
import type { Users } from '../users/remove-user.ts'
import { sealedToolkits } from '../workflow/run-snapshot.ts'
import type { Workflows } from '../workflow/workflows.ts'
import { createLifecycle } from './lifecycle.ts'
import { type HostOptions, sourcesOf } from './options.ts'
import { createCallPipeline } from './wire-calls.ts'
import { createHostWorkflows, createRuns, type Runs } from './wire-runs.ts'

export interface Host extends AsyncDisposable {
  readonly toolkits: Registry
  /** Config formats in and out. */
  readonly imports: Imports
  /** Toolkits that are defined outside the database, and what is wrong with them. */
  readonly sources: Sources
  /** What holds for everyone. */
  readonly app: AppConfigStore
  /** Toolkits as people see them: with state and tools. */
  readonly views: ToolkitViews
  readonly catalog: Catalog
  /** What is on the line. It is looked at and ended here, never used: calls are the one way to a tool. */
  readonly connections: Connections
  readonly resources: Resources
  readonly prompts: Prompts
  readonly skills: Skills
  readonly threads: Threads
  /** What was said in threads. */
  readonly messages: Messages
  readonly activations: Activations
  readonly loadouts: Loadouts
  readonly calls: Calls
  readonly inputs: Inputs
  /** Rules of each tier; remembered answers; questions to users. */
  readonly rules: PolicyRules
  readonly grants: Grants
  readonly approvals: Approvals
  /** What would be decided about tools, before they are called. */
  readonly decisions: Decisions
  /** Calls that are asked for later, or again with the same key. */
  readonly records: CancellableRecords
  /** Results that were too large to hand on. */
  readonly results: Results
  /** Programs and workflows: what they did, and where they stand. */
  readonly runs: Runs
  /** Graphs of nodes: stored, checked and run. */
  readonly workflows: Workflows
  /** What was used of each limit. */
  readonly budgets: Budgets
  /** What models use, counted with what calls bring: `createModels({ ...host })` asks it. */
  readonly tokens: TokenMeters
  /** What leaves for other reasons than a call of a server: through the drivers, as they guard it. */
  readonly fetchFor: Connectivity['fetchFor']
  readonly credentials: CredentialStore
  readonly preferences: PreferenceStore
  /** Users who sign in to servers. */
  readonly signIns: SignIns
  /** Finds tools in what a scope carries. */
  readonly search: ToolSearch['search']
  readonly events: Emitter
  /** What happened. */
  readonly audit: Audit
  readonly users: Users
  readonly storage: Storage
  /** One conversation. It need not exist: what it is told makes it. */
  thread(address: ThreadAddress, options?: ThreadOptions): Thread
  /** The tools of one invocation, by the names that it asks for; without names, all that its context carries. */
  setupToolkits(names: readonly string[] | undefined, options: SetupOptions): Promise<Invocation>
  /** Runs one tool of a custom toolkit that is not saved. */
  tryTool(scope: TrialScope, given: TrialInput): Promise<Trial>
  /** One tool as a program of the scope sees it. */
  declaration(scope: LoadoutScope, ref: string): Promise<ToolDeclaration>
  /** Looks at a server without registering it. */
  discover(record: unknown, options?: DiscoverOptions): Promise<Discovered>
  /** Opens connections ahead: a user's, or without one those that all users share. */
  warm(scope?: { userId?: string }): Promise<Warmed[]>
  /** What a user used of their limits. */
  usage(userId: string): Promise<Usage>
  /** What is connected, for whom, since when and with how many tools. */
  status(): Promise<{ storage: string; connections: LiveConnection[] }>
  /** A copy of the data, where the storage is one that can be copied. */
  readonly backup?: () => Promise<Uint8Array>
  /** Opens the storage and follows changes that other processes make. Everything else waits for the storage by itself. */
  ready(): Promise<void>
  close(): Promise<void>
}

export function createHost(options: HostOptions = {}): Host {
  const base = createBase(options, (userId) => loadouts.of({ userId }, { behind: true }))
  const { storage, events, cache, credentials, inputs, registry, sources } = base
  const telemetry = createTelemetry(options.telemetry)
  const { connector, catalog, signIns, fetchFor } = createReach(base, options, telemetry)
  const kept = { storage, cache, events }
  const preferences = createPreferences(kept)
  const threads = createThreads(kept)
  const activations = createActivations(kept)
  const { mayWiden, files, transports, runInContext: around, lostKeys } = options
  const finding = createToolFinder(base, preferences, options)
  const usedBy = async (userId: string) => toolkitsByUse(await finding.learned.of(userId))
  const laid = { registry, catalog, activations, threads, preferences, mayWiden, usedBy }
  const loadouts = createLoadouts({ ...laid, foresight: () => foresight })
  const { audit, secrets, unrecord } = createLog(base, options, signIns)
  const { searcher, loaded, resolver } = finding
  const way = { options, audit, secrets, telemetry, connector, catalog, loadouts, preferences, threads, ...finding }
  // Programs call tools, and are a tool themselves: the way knows of them once they are there.
  const { policy, foresight, use, large, calls, records, cancel, departures, users, ahead } = createCallPipeline(base, {
    ...way,
    runs: () => runs,
    runCode: options.executor && ((...given) => (custom.runCode as RunCode)(...given)),
  })
  const { approvals } = policy
  const seen = { catalog, connector, signIns, loadouts, preferences, searcher, audit: audit.calls }
  const flows = createHostWorkflows(
    {
      ...base,
      ...seen,
      ...policy,
      threads,
      budgets: use.budgets,
      engine: () => runs.engine,
      setup: (...given) => setup(...given),
    },
    options,
  )
  const { work: workflow, letGo } = flows
  const runs = createRuns({ ...base, ...seen, approvals, large, calls, workflow, letGo }, options)
  const custom = createCustom({ ...base, catalog, loadouts, calls, fetchFor }, options)
  const unobserve = observeHost(telemetry, { events, connector, audit })
  const lived = { ...base, ...use, unrecord, departures, approvals, learned: finding.learned, loaded, runs }
  const { ready, close } = createLifecycle({
    ...lived,
    connector,
    catalog,
    records,
    audit,
    unobserve,
    cancel,
    lostKeys,
  })
  const shared = { events, loadouts, calls, results: use.results, loaded, resolver, programs: runs.programs, ahead }
  const started = { ...shared, registry, catalog, credentials, files, transports, connector, telemetry }
  const setup: Host['setupToolkits'] = (names, how) =>
    invoke({ ...started, calls: withRules(withContext(calls, how.context, around), how.context.rules) }, names, how)
  return {
    storage,
    events,
    credentials,
    inputs,
    sources,
    app: base.app,
    catalog,
    calls,
    audit,
    users,
    threads,
    messages: createMessages(kept),
    activations,
    loadouts,
    preferences,
    ...policy,
    results: use.results,
    budgets: use.budgets,
    tokens: use.tokens,
    records: cancel.records,
    fetchFor,
    toolkits: registry,
    runs: runs.engine,
    tryTool: custom.tryTool,
    declaration: (...given) => declareTool({ loadouts, runsPrograms: options.executor !== undefined }, ...given),
    connections: createConnections(connector),
    imports: createImports(registry),
    ...createResources({ registry, connector }),
    signIns: createSignIns({ signIns, registry, look: (stored, userId) => catalog.introspect(stored, userId) }),
    search: createToolSearch({ loadouts, searcher }).search,
    views: createToolkitViews({ registry, catalog, connector, loadouts, signIns }),
    thread: (address, how) => createThread({ ...shared, activations, run: runs.run, offer: runs.offer }, address, how),
    setupToolkits: setup,
    workflows: flows.workflows,
    ...createInspection({ ...base, connector, catalog, preferences, budgets: use.budgets }),
    ready,
    close,
    [Symbol.asyncDispose]: close,
  }
}

/** What is looked at from outside: servers before they are registered, connections, use, and the data as a whole. */
function createInspection(
  parts: Pick<ReturnType<typeof createBase>, 'storage' | 'registry' | 'app'> & {
    connector: Connector
    catalog: Catalog
    preferences: PreferenceStore
    budgets: Budgets
  },
): Pick<Host, 'discover' | 'warm' | 'usage' | 'status' | 'backup'> {
  const { storage, registry, connector, catalog } = parts
  return {
    discover: (record, how = {}) => discover({ catalog, connector }, record, how),
    warm: ({ userId } = {}) => warm({ registry, connector, catalog }, userId),
    usage: (userId) => usageOf(parts, userId),
    status: async () => ({
      storage: storage.name,
      connections: await liveConnections({ registry, connector, catalog }),
    }),
    ...('backup' in storage ? { backup: () => (storage as BackupStorage).backup() } : {}),
  }
}

/** How tools are found, and what stays of it. */
function createToolFinder(
  { storage, cache, events }: ReturnType<typeof createBase>,
  preferences: PreferenceStore,
  { search }: HostOptions,
) {
  const { searcher, learned } = createSearch({ storage, cache, goneSince: removedAt }, search)
  const loaded = createLoadedTools({ storage, cache, events })
  return {
    searcher,
    learned,
    loaded,
    resolver: createResolver({ searcher, preferences, tokenizer: search?.tokenizer, prices: search?.prices }),
  }
}

/** What is kept: storage, secrets, and which toolkits there are. */
function createBase(options: HostOptions, known: CustomCheckDeps['known']) {
  const storage = options.storage ?? memory()
  const events = createEmitter(options.onListenerError)
  const cache = createReadCache(storage)
  const keyRing = resolveKeyRing(storage, options.keyRing)
  const credentials = createCredentialStore({ storage, keyRing, sealed: [sealedApprovals, sealedToolkits] })
  const functions = createFunctions(options.functions)
  const app = createAppConfig({ storage, cache, events }, options.app)
  const check = createCustomCheck({ app, functions, runsCode: options.executor !== undefined, known })
  const given = sourcesOf(options)
  const registry: Registry = createRegistry({
    storage,
    cache,
    events,
    functions,
    check,
    secrets: credentials,
    defaults: async () => toolkitDefaults(await app.get()),
    ready: given.length === 0 ? undefined : () => sources.ready(),
    isDefined: (source, id) => sources.defines(source, id),
  })
  const sources = createSources(
    {
      registry,
      secrets: (owner) => credentials.open(owner),
      onProblem: (problem) => events.emit({ type: 'source-broken', userId: APP_OWNER, ...problem }),
    },
    given,
  )
  const presence = createPresence(storage, { leaseMs: options.processLeaseMs })
  const inputs = createInputs(events)
  return { storage, events, cache, credentials, functions, app, registry, sources, inputs, presence, check }
}

/** What happened. */
function createLog(
  { storage, events, credentials, app }: ReturnType<typeof createBase>,
  options: HostOptions,
  signIns: OAuthService,
) {
  const secrets = createOpenedSecrets(
    (owner) => credentials.open(owner),
    (stored, userId) => signIns.secretsOf(stored, userId),
  )
  events.on('toolkit-removed', ({ uscoId }) => secrets.forget(uscoId))
  const audit = createAudit({
    ...options.audit,
    storage,
    secrets,
    retentionDays: async () => (await app.get()).audit.retentionDays,
  })
  return { audit, secrets, unrecord: recordEvents(events, audit.record) }
}

/** What reaches servers, who is signed in to them, and what is known of their tools. */
export interface ReachDeps {
  storage: Storage
  cache: ReadCache
  events: Emitter
  credentials: CredentialStore
  inputs: Inputs
  app: { get(): Promise<AppConfig> }
}

export interface Connectivity {
  /** What leaves for other reasons than a call of a server. */
  fetchFor(tier: Tier): FetchLike
  connector: Connector
  catalog: Catalog
  signIns: OAuthService
}

export function createReach(parts: ReachDeps, options: HostOptions, telemetry: Telemetry): Connectivity {
  const { storage, cache, events, credentials, inputs, app } = parts
  const { toolCacheTtlMs: ttlMs, pool, startup, drivers = webDrivers() } = options
  const fetchFor: Connectivity['fetchFor'] = (tier) => drivers.fetch?.(tier) ?? NO_FETCH
  const signIns = createOAuthService({
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
  events.on('toolkit-removed', ({ uscoId }) => void signIns.forgetToolkit(uscoId).catch(() => {}))
  const connector: Connector = createConnector({
    drivers,
    events,
    telemetry,
    ask: inputs.ask,
    startup,
    ...(pool ? { pool } : {}),
    secrets: (owner) => credentials.open(owner),
    auth: (stored, userId, server) => signIns.authFor(stored, userId, server),
    tokens: (stored, userId) => signIns.secretsOf(stored, userId),
    onToolsChanged: (stored, userId) => void catalog.changed(stored, userId).catch(() => {}),
  })
  const catalog: Catalog = createCatalog({
    storage,
    cache,
    connector,
    events,
    app,
    isSignedIn: async (stored, userId) => (await signIns.view(stored, userId))?.status === 'signed-in',
    ...(ttlMs === undefined ? {} : { ttlMs }),
  })
  return { connector, catalog, signIns, fetchFor }
}

/** Drivers that do not say how to leave are not gone around. */
const NO_FETCH: FetchLike = () =>
  Promise.reject(new HostError('address-blocked', { detail: 'The drivers have no fetch.' }))

/** Custom toolkits: what they are held against when they are saved, what runs their code, and a try of them. */
export interface CustomDeps {
  app: AppConfigStore
  credentials: CredentialStore
  registry: Registry
  catalog: Catalog
  loadouts: Loadouts
  calls: Calls
  fetchFor(tier: Tier): FetchLike
  check: CustomCheck
}

export interface Custom {
  /** Missing where the host runs no code. */
  runCode: RunCode | undefined
  tryTool(scope: TrialScope, given: TrialInput): Promise<Trial>
}

export function createCustom(parts: CustomDeps, { executor, programs }: HostOptions): Custom {
  const { app, credentials, registry, catalog, loadouts, calls, fetchFor, check } = parts
  const secrets = (owner: { userId: string; toolkit: string }) => credentials.open(owner)
  return {
    runCode:
      executor &&
      createCustomCode({
        executor,
        limits: { ...executor?.limits, ...programs?.limits },
        calls,
        app,
        secrets,
        loadouts,
        catalog,
        send: fetchFor('user'),
      }),
    tryTool: (scope, given) => tryTool({ calls, registry, check, secrets }, scope, given),
  }
}
