/** The entry point of the library: one host for an app, with a scope for each of its users. */
import type { Audit } from '../audit/audit.ts'
import type { CallHooks, CallStage } from '../calls/custom-stages.ts'
import type { Invocation } from '../calls/invocation.ts'
import type { Connections } from '../connections/connections.ts'
import type { ExecutionContext } from '../context.ts'
import type { Emitter } from '../events.ts'
import type { Discovered, DiscoverOptions } from '../loadout/setup/discover.ts'
import type { SetupOptions } from '../loadout/setup/setup-toolkits.ts'
import type { LiveConnection, Warmed } from '../loadout/setup/warm.ts'
import type { ToolDecision } from '../policy/decisions.ts'
import type { ExportedConfig, ImportOptions, ImportReport } from '../schema/records/import-report.ts'
import type { AppConfigStore } from '../toolkits/app-config.ts'
import { type ExportOptions, exportToolkits } from '../toolkits/export-toolkits.ts'
import type { Registered, RegisterOptions, ToolkitOwner } from '../toolkits/registry.ts'
import type { SourceProblem } from '../toolkits/sources/sources.ts'
import type { StoredToolkit } from '../toolkits/stored-toolkit.ts'
import type { CustomToolkit, ToolkitInput } from '../toolkits/toolkit-input.ts'
import { createServices, type HostServices } from './create-services.ts'
import { type HostOptions, readHostOptions } from './options.ts'
import { createUserScope, type TierRules, tierRules, type UserScope } from './user-scope.ts'

/** Toolkits of the app tier: every user has them. */
export interface AppToolkits {
  /**
   * Adds a toolkit for all users. The same id updates it.
   * @example await host.toolkits.add({ name: 'github', url: 'https://example.com/mcp', auth: { type: 'oauth' } })
   */
  add(toolkit: ToolkitInput, options?: RegisterOptions): Promise<Registered>
  /** @example await host.toolkits.update('github', { enabled: false }) */
  update(id: string, changes: Record<string, unknown>): Promise<Registered>
  /** @example await host.toolkits.remove('github') */
  remove(id: string): Promise<void>
  /** @example const toolkits = await host.toolkits.list() */
  list(): Promise<readonly StoredToolkit[]>
  /** @example const { entries } = await host.toolkits.import({ mcpServers }, { dryRun: true }) */
  import(source: unknown, options?: ImportOptions & { dryRun?: boolean }): Promise<ImportReport>
  /** @example const { mcpServers } = await host.toolkits.export() */
  export(options?: ExportOptions): Promise<ExportedConfig>
  /**
   * Lists the tools of a server without registering it.
   * @example const { tools } = await host.toolkits.discover({ name: 'docs', url: 'https://example.com/mcp' })
   */
  discover(server: Exclude<ToolkitInput, CustomToolkit>, options?: DiscoverOptions): Promise<Discovered>
  /**
   * Lists toolkit sources that could not be read.
   * @example for (const { source, message } of host.toolkits.problems()) console.warn(source, message)
   */
  problems(): readonly SourceProblem[]
}

export interface HostPolicy {
  /** Rules of the app tier that are stored. Rules of `createHost` are tried first. */
  readonly rules: TierRules
  /**
   * Reports what would be decided about a user's tools, before they are called.
   * @example const decisions = await host.policy.preview('ann', 'github')
   */
  preview(userId: string, toolkit: string): Promise<ToolDecision[]>
}

export interface HostOps {
  /** Settings for everyone. */
  readonly config: AppConfigStore
  /** Open connections: inspect or close them. Tools are only called through `call`. */
  readonly connections: Connections
  readonly audit: Audit
  readonly events: Emitter
  /** @example const { connections } = await host.ops.status() */
  status(): Promise<{ storage: string; connections: LiveConnection[] }>
  /**
   * Opens connections ahead: those of a user, or those that all users share.
   * @example await host.ops.warm({ userId: 'ann' })
   */
  warm(scope?: { userId?: string }): Promise<Warmed[]>
  /**
   * Copies the data. Only storages that can be copied have it.
   * @example if (host.ops.backup) await writeFile('backup.tar.gz', await host.ops.backup())
   */
  readonly backup?: () => Promise<Uint8Array>
  /**
   * Opens the storage and follows changes of other processes. Every other member waits for the storage by itself.
   * @example await host.ops.ready()
   */
  ready(): Promise<void>
  /** @example await host.ops.close() */
  close(): Promise<void>
}

/** The tools of one invocation. Connections that it alone opened close with it. */
export interface Session extends Invocation {}

export interface SessionOptions extends Omit<SetupOptions, 'context'> {
  /** Names of the toolkits to set up. @default all toolkits of the context */
  toolkits?: readonly string[]
}

export interface Host extends AsyncDisposable {
  /**
   * Binds a user. Everything that the scope does is done for that user alone.
   * @example const ann = host.user('ann')
   */
  user(id: string): UserScope
  readonly toolkits: AppToolkits
  readonly policy: HostPolicy
  /**
   * Sets up the tools of one invocation from its execution context.
   * @example await using session = await host.session(context, { toolkits: ['github'] })
   */
  session(context: ExecutionContext, options?: SessionOptions): Promise<Session>
  /**
   * Adds a stage to the pipeline of every call, at a named position. It can refuse a call, answer it, or change its arguments
   * before they are validated. Returns a function that removes it.
   * @example
   * host.use({
   *   name: 'own-folder',
   *   before: 'validation',
   *   run: ({ arguments: { path }, userId }, { next, refuse }) =>
   *     String(path).startsWith(`/home/${userId}/`) ? next() : refuse('The path is outside of your folder.'),
   * })
   */
  use(stage: CallStage): () => void
  /**
   * Adds hooks before and after every call. `before` can end a call by an error; `after` sees each outcome.
   * @example host.onCall({ after: ({ userId, toolkit, tool }, { status }) => console.log(userId, toolkit, tool, status) })
   */
  onCall(hooks: CallHooks): () => void
  readonly ops: HostOps
  /** Closes the host: calls end, connections close, the log is written. */
  close(): Promise<void>
  /** Every part with its whole contract, for servers built on the library. */
  readonly services: HostServices
}

/**
 * Creates a host. Nothing connects until a call needs it.
 *
 * @example
 * await using host = createHost({ drivers: nodeDrivers({ stdio: 'on' }) })
 * const ann = host.user('ann')
 * await ann.toolkits.add({ name: 'files', command: 'npx', args: ['-y', '@modelcontextprotocol/server-filesystem', '.'] })
 * const outcome = await ann.call('files.list_directory', { path: '.' })
 */
export function createHost(options: HostOptions = {}): Host {
  const services = createServices(readHostOptions(options))
  const owner: ToolkitOwner = { tier: 'app' }
  const { toolkits, imports, sources, decisions, close } = services
  return {
    user: (id) => createUserScope(services, id),
    toolkits: {
      add: (toolkit, how) => toolkits.register(toolkit, owner, how),
      update: (id, changes) => toolkits.update(id, changes, owner),
      remove: (id) => toolkits.remove(id, owner),
      list: () => toolkits.app(),
      import: (source, { dryRun = false, ...how } = {}) =>
        dryRun ? imports.preview(source, owner, how) : imports.apply(source, owner, how),
      export: async (how) => exportToolkits(await toolkits.app(), how),
      discover: services.discover,
      problems: () => sources.problems(),
    },
    policy: {
      rules: tierRules(services, {}),
      preview: (userId, toolkit) => decisions.list(userId, toolkit),
    },
    use: services.use,
    onCall: services.onCall,
    session: (context, { toolkits: names, ...how } = {}) => services.setupToolkits(names, { ...how, context }),
    ops: {
      config: services.app,
      connections: services.connections,
      audit: services.audit,
      events: services.events,
      status: services.status,
      warm: services.warm,
      ...(services.backup ? { backup: services.backup } : {}),
      ready: services.ready,
      close,
    },
    close,
    services,
    [Symbol.asyncDispose]: close,
  }
}
