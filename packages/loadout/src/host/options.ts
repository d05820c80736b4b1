/** Options of `createHost`, grouped by subject and checked before anything starts. */
import { z } from 'zod'
import type { AuditOptions } from '../audit/audit.ts'
import type { Executor, ProgramLimits } from '../code-mode/executor.ts'
import type { StartupOptions } from '../connections/connector.ts'
import type { Drivers } from '../connections/drivers.ts'
import type { PoolOptions } from '../connections/pool/pool.ts'
import type { RunInContext } from '../context.ts'
import type { KeyRing } from '../credentials/key-ring.ts'
import { HostError } from '../errors.ts'
import type { OverlayInput } from '../loadout/overlay.ts'
import type { LocalFiles, Transports } from '../loadout/setup/find-toolkits.ts'
import type { SignInOptions } from '../oauth/target.ts'
import type { PolicyFunction } from '../policy/policy-function.ts'
import { type AppConfigInput, appConfigPatch } from '../schema/app-config.ts'
import { readToolkit } from '../schema/read/read-toolkit.ts'
import type { PolicyRule } from '../schema/toolkit/policy.ts'
import type { SearchSetup } from '../search/create-search.ts'
import type { ResolverDeps } from '../search/resolve-prompt.ts'
import type { Storage } from '../storage/storage.ts'
import type { TelemetryOptions } from '../telemetry/telemetry.ts'
import type { DefinedTool } from '../toolkits/define-tool.ts'
import { type ToolFunction, takeFunctions } from '../toolkits/functions.ts'
import type { ToolkitSource } from '../toolkits/sources/sources.ts'
import type { ToolkitInput } from '../toolkits/toolkit-input.ts'
import type { Agent } from '../workflow/agent.ts'
import type { ServiceOptions } from './service-options.ts'

export interface HostOptions {
  /**
   * Where everything is stored.
   * @default memory()
   * @example storage: pglite({ dataDir: './data' })
   */
  storage?: Storage
  /**
   * The keys that encrypt credentials. Required with a storage that outlives the process.
   * @example keyRing: () => masterKeyRing(masterKey)
   */
  keyRing?: KeyRing | (() => Promise<KeyRing>)
  /**
   * How servers are reached. `nodeDrivers()` of `@loadout/core/node` guards addresses and runs commands.
   * @default fetch alone; outside of a browser, no servers of users
   * @example drivers: nodeDrivers({ stdio: 'on' })
   */
  drivers?: Drivers
  /** @example toolkits: { servers: { github: { url: 'https://example.com/mcp' } }, tools: [refund] } */
  toolkits?: ToolkitsOptions
  /**
   * Rules, a function that decides about each call, or both with more options.
   * @example policy: { rules: [rule('github.create_*', 'ask')], approvalTimeoutMs: 300_000 }
   * @example policy: ({ ref, arguments: { amount } }) => (ref === 'shop.refund' && Number(amount) > 100 ? 'ask' : undefined)
   */
  policy?: readonly PolicyRule[] | PolicyFunction | PolicyOptions
  /**
   * How tools are searched.
   * @default by words and, offline, by meaning
   * @example search: { vectors: wordVectors }
   */
  search?: SearchSetup & Pick<ResolverDeps, 'tokenizer' | 'prices'>
  /**
   * Runs programs. It closes with the host.
   * @default none: programs are refused
   * @example executor: quickjs({ timeoutMs: 30_000 })
   */
  executor?: Executor
  /**
   * Runs agent nodes of workflows.
   * @default none: agent nodes are refused
   * @example agent: nodeAgent({ models })
   */
  agent?: Agent
  /** @example oauth: { redirectUrl: 'https://app.example/oauth/callback' } */
  oauth?: SignInOptions
  /** @example audit: { journal: fileJournal({ dir: './journal' }) } */
  audit?: AuditOptions
  /**
   * @default the providers that the app registered with OpenTelemetry, if any
   * @example telemetry: { onCall: ({ ref, ms }) => console.log(ref, ms) }
   */
  telemetry?: TelemetryOptions
  /** @example runtime: { config: { limits: { maxCallsPerHour: 100 } }, runInContext: ambientContext } */
  runtime?: RuntimeOptions
}

export interface ToolkitsOptions {
  /** Servers for all users, by name. */
  servers?: Readonly<Record<string, ToolkitInput>>
  /** The app's own functions as tools for all users: the toolkit `app`. */
  tools?: readonly DefinedTool[]
  /** Functions that custom toolkits name in `execute` as `ref:<name>`. */
  functions?: Readonly<Record<string, ToolFunction>>
  /** Toolkits that are defined outside the database. `fileSource()` of `@loadout/core/node` reads a file. */
  sources?: readonly ToolkitSource[]
  /** Transports that the app built, by the name of their toolkit, for sessions and workflows that ask for it. */
  transports?: Transports
  /** Files of local work, for the local principal alone. `localFiles()` of `@loadout/core/node`. */
  localFiles?: LocalFiles
  /** How long discovered tools are used without discovering them again. @default 3_600_000 */
  cacheTtlMs?: number
}

export interface PolicyOptions {
  /** Rules of the app, tried in order before stored ones. If no rule matches, annotations decide. */
  rules?: readonly PolicyRule[]
  /** Decides about each call with its arguments. Returns nothing to leave the decision to the rules. */
  decide?: PolicyFunction
  /** Lets `decide` allow a call that the app's rules deny or ask about. Rules of users still hold. @default false */
  mayLoosen?: boolean
  /** How long an approval request stays open. @default 600_000 */
  approvalTimeoutMs?: number
  /** Lets a lower tier turn on what a higher one turned off. @default never */
  allowOverride?: OverlayInput['mayWiden']
}

export interface RuntimeOptions {
  /** Settings for everyone; settings that an operator stores override them. */
  config?: AppConfigInput
  /** Limits of the connection pool. */
  pool?: Omit<PoolOptions, 'onChange'>
  /** How long servers may take to start, if their record does not say. */
  startup?: StartupOptions
  /** How long a killed process counts as alive, with all that it holds. @default 30_000 */
  processLeaseMs?: number
  /** Ids of keys that are lost for good. Without it, a host whose key ring lacks a used key does not start. */
  lostKeys?: readonly string[]
  /** Limits of programs, below those of the executor. */
  programLimits?: Partial<ProgramLimits>
  /** Runs workflows and session calls within their execution context: `ambientContext` of `@loadout/core/node`. */
  runInContext?: RunInContext
  /** Receives errors that listeners of `events` throw. */
  onListenerError?: (error: unknown) => void
}

const part = z.custom<object>(
  (value) => (typeof value === 'object' && value !== null) || typeof value === 'function',
  'must be an object',
)
const list = z.array(z.unknown(), 'must be a list')
const record = z.record(z.string(), z.unknown(), 'must be an object')
const callback = z.custom<() => unknown>((value) => typeof value === 'function', 'must be a function')
const ms = z.number('must be a number of milliseconds').positive('must be more than 0')
/** Options whose names are checked here, and whose values are checked where they are used. */
const fields = (...names: string[]) =>
  z.strictObject(Object.fromEntries(names.map((name) => [name, z.unknown().optional()])), 'must be an object')

const hostOptions = z.strictObject({
  storage: part.optional(),
  keyRing: part.optional(),
  drivers: part.optional(),
  toolkits: z
    .strictObject({
      servers: record.optional(),
      tools: list.optional(),
      functions: record.optional(),
      sources: list.optional(),
      transports: part.optional(),
      localFiles: part.optional(),
      cacheTtlMs: z.number().min(0).optional(),
    })
    .optional(),
  policy: z
    .strictObject(
      {
        rules: list.optional(),
        decide: callback.optional(),
        mayLoosen: z.boolean('must be true or false').optional(),
        approvalTimeoutMs: ms.optional(),
        allowOverride: callback.optional(),
      },
      'must be a list of rules, a function or an object',
    )
    .optional(),
  search: fields('vectors', 'embedder', 'embedderWaitMs', 'learn', 'tokenizer', 'prices').optional(),
  executor: part.optional(),
  agent: part.optional(),
  oauth: fields('redirectUrl', 'clientMetadataUrl', 'clientName').optional(),
  audit: fields('journal', 'strict', 'maxRows', 'onProblem').optional(),
  telemetry: fields('tracer', 'meter', 'onCall', 'limits').optional(),
  runtime: z
    .strictObject({
      config: appConfigPatch.optional(),
      pool: fields('idleMs', 'maxAgeMs', 'maxPerUser', 'maxPerHost', 'queueMs').optional(),
      startup: fields('stdioMs', 'stdioMostMs').optional(),
      processLeaseMs: ms.optional(),
      lostKeys: list.optional(),
      programLimits: part.optional(),
      runInContext: callback.optional(),
      onListenerError: callback.optional(),
    })
    .optional(),
})

/** Throws `config-invalid` with the path of each wrong option. */
export function readHostOptions(options: HostOptions): ServiceOptions {
  const policy = policyOptions(options.policy)
  const checked = hostOptions.safeParse({ ...options, policy })
  if (!checked.success) throw invalidOptions(problemsOf(checked.error))
  const wrongServers = serverProblems(options.toolkits?.servers ?? {})
  if (wrongServers.length > 0) throw invalidOptions(wrongServers)
  const { toolkits = {}, policy: _, runtime = {}, oauth, ...rest } = options
  return {
    ...rest,
    ...(toolkits.servers ? { mcpServers: toolkits.servers } : {}),
    ...(toolkits.tools ? { tools: toolkits.tools } : {}),
    ...(toolkits.functions ? { functions: toolkits.functions } : {}),
    ...(toolkits.sources ? { sources: toolkits.sources } : {}),
    ...(toolkits.transports ? { transports: toolkits.transports } : {}),
    ...(toolkits.localFiles ? { files: toolkits.localFiles } : {}),
    ...(toolkits.cacheTtlMs === undefined ? {} : { toolCacheTtlMs: toolkits.cacheTtlMs }),
    ...(policy.rules ? { policy: policy.rules } : { policy: [] }),
    ...(policy.decide ? { policyFunction: { decide: policy.decide, mayLoosen: policy.mayLoosen } } : {}),
    ...(policy.approvalTimeoutMs === undefined ? {} : { approvalMs: policy.approvalTimeoutMs }),
    ...(policy.allowOverride ? { mayWiden: policy.allowOverride } : {}),
    ...(oauth ? { signIn: oauth } : {}),
    ...(runtime.config ? { app: runtime.config } : {}),
    ...(runtime.pool ? { pool: runtime.pool } : {}),
    ...(runtime.startup ? { startup: runtime.startup } : {}),
    ...(runtime.processLeaseMs === undefined ? {} : { processLeaseMs: runtime.processLeaseMs }),
    ...(runtime.lostKeys ? { lostKeys: runtime.lostKeys } : {}),
    ...(runtime.programLimits ? { programs: { limits: runtime.programLimits } } : {}),
    ...(runtime.runInContext ? { runInContext: runtime.runInContext } : {}),
    ...(runtime.onListenerError ? { onListenerError: runtime.onListenerError } : {}),
  }
}

/** Rules and functions are short forms of the options. */
function policyOptions(policy: HostOptions['policy'] = {}): PolicyOptions {
  if (typeof policy === 'function') return { decide: policy }
  return Array.isArray(policy) ? { rules: policy } : (policy as PolicyOptions)
}

interface Problem {
  path: string
  message: string
}

const problemsOf = (error: z.ZodError): Problem[] =>
  error.issues.flatMap((issue) =>
    issue.code === 'unrecognized_keys'
      ? issue.keys.map((key) => ({ path: [...issue.path, key].join('.'), message: 'is not an option of createHost' }))
      : [{ path: issue.path.join('.'), message: issue.message }],
  )

/** A server that cannot be read would be missing without a word, because nobody waits for it. */
const serverProblems = (servers: Readonly<Record<string, unknown>>): Problem[] =>
  Object.entries(servers).flatMap(([name, record]) => {
    const path = `toolkits.servers.${name}`
    try {
      readToolkit(takeFunctions({ name, ...(record as object) }).input)
      return []
    } catch (thrown) {
      const { errors, message } = HostError.from(thrown)
      return errors?.map((error) => ({ path: `${path}.${error.path}`, message: error.message })) ?? [{ path, message }]
    }
  })

function invalidOptions(errors: Problem[]): HostError {
  const listed = errors.map(({ path, message }) => `\`${path}\` ${message}`).join('; ')
  return new HostError('config-invalid', {
    detail: `The options of createHost are not valid: ${listed}.`,
    action: 'Correct the named options. The type HostOptions lists all of them.',
    errors,
  })
}
