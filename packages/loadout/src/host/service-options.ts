/** Options of the parts of a host, one field each. `createHost` groups them for apps. */
import type { AuditOptions } from '../audit/audit.ts'
import type { Executor, ProgramLimits } from '../code-mode/executor.ts'
import type { StartupOptions } from '../connections/connector.ts'
import type { Drivers } from '../connections/drivers.ts'
import type { PoolOptions } from '../connections/pool/pool.ts'
import type { RunInContext } from '../context.ts'
import type { KeyRing } from '../credentials/key-ring.ts'
import type { OverlayInput } from '../loadout/overlay.ts'
import type { LocalFiles, Transports } from '../loadout/setup/find-toolkits.ts'
import type { SignInOptions } from '../oauth/target.ts'
import type { PolicyFunctionOptions } from '../policy/policy-function.ts'
import type { AppConfigInput } from '../schema/app-config.ts'
import type { PolicyRule } from '../schema/toolkit/policy.ts'
import type { SearchSetup } from '../search/create-search.ts'
import type { ResolverDeps } from '../search/resolve-prompt.ts'
import type { Storage } from '../storage/storage.ts'
import type { TelemetryOptions } from '../telemetry/telemetry.ts'
import type { DefinedTool } from '../toolkits/define-tool.ts'
import type { ToolFunction } from '../toolkits/functions.ts'
import { inlineSource, type ToolkitSource } from '../toolkits/sources/sources.ts'
import type { Agent } from '../workflow/agent.ts'

export interface ServiceOptions {
  /** Where everything is kept. @default memory() */
  storage?: Storage
  /** Who holds the keys of the credentials. Needed with any storage that outlives the process. */
  keyRing?: KeyRing | (() => Promise<KeyRing>)
  /** Ids of keys that are lost for good. Without it a host with a ring that what is stored was not sealed with does not start. */
  lostKeys?: readonly string[] | undefined
  /**
   * How servers are reached. `nodeDrivers()` of `@loadout/core/node` guards addresses and runs commands.
   * @default fetch alone, and outside of a browser no servers of users
   */
  drivers?: Drivers
  /** Servers for all users, by name, in any spelling. */
  mcpServers?: Record<string, unknown>
  /** The app's own functions as tools for all users: the toolkit `app`. */
  tools?: readonly DefinedTool[]
  /**
   * Transports that the app built, by the name of their toolkit, for invocations and workflows that ask for it; each is asked for
   * one when it connects. Stored nowhere.
   */
  transports?: Transports
  /** Functions that custom toolkits name in `execute` as `ref:<name>`, whoever's they are: each is told who calls. */
  functions?: Readonly<Record<string, ToolFunction>>
  /** Toolkits that are defined outside the database. `fileSource()` of `@loadout/core/node` reads a file. */
  sources?: readonly ToolkitSource[]
  /** Files of local work, for the local principal alone. `localFiles()` of `@loadout/core/node`. */
  files?: LocalFiles
  /** What holds for everyone; what an operator stores lies over it. */
  app?: AppConfigInput
  /** Rules of the app, tried in order before those that an operator stores. Where none fits, annotations decide. */
  policy?: readonly PolicyRule[]
  /** The app's own decision about a call, in code. It can only tighten, unless it sets `mayLoosen`. */
  policyFunction?: Omit<PolicyFunctionOptions, 'onError'> | undefined
  /** How long a question to a user stays open. @default 600_000 */
  approvalMs?: number
  /** How long a process that was killed still counts as alive, with all that it held. @default 30_000 */
  processLeaseMs?: number
  /** Lets a lower tier undo what a higher one switched off. @default never */
  mayWiden?: OverlayInput['mayWiden']
  /** Limits of the connection pool. */
  pool?: Omit<PoolOptions, 'onChange'>
  /** How long servers may take to start, where their record says nothing. */
  startup?: StartupOptions
  /** How tools are searched. @default by words and, offline, by meaning */
  search?: SearchSetup & Pick<ResolverDeps, 'tokenizer' | 'prices'>
  /** What runs programs: `quickjs()` of `@loadout/core/code-mode/quickjs`. It closes with the host. @default none: programs are refused */
  executor?: Executor | undefined
  /** The most that a program may have. */
  programs?: { limits?: Partial<ProgramLimits> | undefined } | undefined
  /** What runs agents in workflows. @default none: agent nodes are refused */
  agent?: Agent | undefined
  /**
   * Runs workflows, and the calls of invocations, within their execution context: `ambientContext` of `@loadout/core/node` lets an app's
   * own tools find it by `getExecutionContext()`. @default the context is passed, and not ambient
   */
  runInContext?: RunInContext | undefined
  /** How users sign in to servers that want it. */
  signIn?: SignInOptions
  /** How long discovered tools are served without looking again. @default 3_600_000 */
  toolCacheTtlMs?: number
  /** Who traces and counts. @default the providers that the app registered with OpenTelemetry, if any */
  telemetry?: TelemetryOptions
  /** How what happens is recorded. */
  audit?: AuditOptions
  /** Told of what a listener of `events` threw. */
  onListenerError?: (error: unknown) => void
}

/** All that defines toolkits outside the database, in the order in which it is read. */
export function sourcesOf({ mcpServers, tools, sources = [] }: ServiceOptions): ToolkitSource[] {
  return [
    ...(mcpServers ? [inlineSource('createHost({ mcpServers })', mcpServers)] : []),
    ...(tools ? [inlineSource('createHost({ tools })', { app: { name: 'App', tools } })] : []),
    ...sources,
  ]
}
