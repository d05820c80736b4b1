/** Creates a host from the settings. */
import { constants } from 'node:fs'
import { access, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { type Agent, type Drivers, HostError, type KeyRing, masterKeyRing, type Storage } from '@loadout/core'
import { createModels, type ModelProvider, type Models } from '@loadout/core/agents/models'
import { quickjs } from '@loadout/core/code-mode/quickjs'
import {
  ambientContext,
  fileJournal,
  fileSource,
  keyFileRing,
  localFiles,
  nodeDrivers,
  wordVectors,
} from '@loadout/core/node'
import {
  clientMetadataOf,
  createServices,
  type HostServices,
  type SignInOptions,
  type TelemetryOptions,
} from '@loadout/core/services'
import { pglite } from '@loadout/core/storage/pglite'
import { postgres } from '@loadout/core/storage/postgres'
import type { Config } from './config.ts'
import { joinUrl } from './http/base-path.ts'
import { callLog, type Log } from './ops/log.ts'
import { logHost } from './ops/log-host.ts'
import type { ServerTelemetry } from './ops/telemetry.ts'

export interface OpenHostOptions {
  telemetry?: ServerTelemetry
  /** Address of the server, once it listens. */
  address?: () => string | undefined
  /** Replaces the storage of the settings. */
  storage?: Storage | undefined
}

export async function openHost(config: Config, log: Log, options: OpenHostOptions = {}): Promise<HostServices> {
  const { telemetry, address, storage = openStorage(config) } = options
  await makeDataDir(config.dataDir)
  const keyRing = await openKeyRing(config)
  const onListenerError = (err: unknown) => log.error({ err }, 'A listener failed')
  const drivers = openDrivers(config, log)
  const host: HostServices = createServices({
    agent: agentOf(() => modelsOf(host, config)),
    runInContext: ambientContext,
    storage,
    keyRing,
    lostKeys: config.lostKeys,
    drivers,
    search: { vectors: wordVectors },
    executor: config.programs === 'off' ? undefined : quickjs({ isolation: config.programs }),
    signIn: signInOf(config, address),
    startup: config.startup,
    toolCacheTtlMs: config.toolCacheTtlMs,
    approvalMs: config.approvalMs,
    sources: [fileSource({ paths: config.globalFiles })],
    files: localFiles({ secretPath: config.secretPath }),
    audit: openAudit(config, log),
    onListenerError,
    ...(telemetry ? { telemetry: telemetryOf(telemetry, log) } : {}),
  })
  logHost(host, log)
  logWarnings(drivers, log)
  return host
}

/** Runs agent nodes; the agent module is loaded on first use. */
export function agentOf(models: () => Models): Agent {
  const run: Agent = async (request) => {
    const { nodeAgent } = await import('@loadout/core/agents')
    return nodeAgent({ models: models() })(request)
  }
  const problem: Agent['problem'] = (userId, model) =>
    models()
      .open(userId, model)
      .then(
        () => undefined,
        (error: unknown) => HostError.from(error),
      )
  return Object.assign(run, { problem, ceiling: () => models().ceiling() })
}

/** Models from the settings; URL and key belong to the provider of `model`. */
export function modelsOf(host: HostServices, { model, models, modelUrl, modelKey, ceiling }: Config): Models {
  const provider = model?.slice(0, model.indexOf(':')) as ModelProvider | undefined
  const byProvider = <T>(value: T | undefined) =>
    provider === undefined || value === undefined ? {} : { [provider]: value }
  return createModels({
    host,
    model,
    ceiling,
    appModels: models,
    baseUrls: byProvider(modelUrl),
    keys: byProvider(modelKey),
  })
}

/** Logs missing or weak sandbox features in the background. */
function logWarnings(drivers: Drivers, log: Log): void {
  void drivers.warnings?.().then(
    (warnings) => {
      for (const warning of warnings) log.warn(warning)
    },
    (err: unknown) => log.warn({ err }, 'it is not known whether sandboxes work here'),
  )
}

/** OAuth redirects use the public URL, or else the address of the server. */
function signInOf({ publicUrl }: Config, address: (() => string | undefined) | undefined): SignInOptions {
  const base = () => publicUrl ?? address?.()
  return {
    redirectUrl: () => {
      const at = base()
      return at === undefined ? undefined : joinUrl(at, '/api/oauth/callback')
    },
    ...(publicUrl?.startsWith('https:') ? { clientMetadataUrl: clientMetadataUrl(publicUrl) } : {}),
  }
}

const clientMetadataUrl = (publicUrl: string) => joinUrl(publicUrl, '/client-metadata.json')

/** OAuth client metadata document, which needs a public https URL. */
export function clientDocument({ publicUrl }: Config): Record<string, unknown> | undefined {
  if (!publicUrl?.startsWith('https:')) return undefined
  const redirectUrl = joinUrl(publicUrl, '/api/oauth/callback')
  return {
    client_id: clientMetadataUrl(publicUrl),
    ...clientMetadataOf({}, redirectUrl),
    client_uri: publicUrl,
    token_endpoint_auth_method: 'none',
  }
}

function telemetryOf({ meter, tracer }: ServerTelemetry, log: Log): TelemetryOptions {
  return { meter, onCall: callLog(log), ...(tracer ? { tracer } : {}) }
}

function openStorage({ databaseUrl, dataDir }: Config): Storage {
  return databaseUrl === undefined ? pglite({ dataDir }) : postgres({ url: databaseUrl })
}

/** The journal in the data folder stores audit entries before the database has them. */
function openAudit({ dataDir, auditStrict: strict }: Config, log: Log) {
  return {
    strict,
    journal: fileJournal({
      dir: join(dataDir, 'journal'),
      onDamage: (damage) => log.warn(damage, 'lines of a journal cannot be read'),
    }),
    onProblem: (err: HostError) => log.error({ err, cause: err.cause }, 'the log does not reach the database'),
  }
}

// Opened before the server listens, so that a weak or unsafe key stops the start.
function openKeyRing({ masterKey, dataDir }: Config): Promise<KeyRing> {
  return masterKey === undefined ? keyFileRing(join(dataDir, 'keys.json')) : masterKeyRing(masterKey)
}

function openDrivers(config: Config, log: Log) {
  const { stdio, stdioTemplates, sandbox, privateNetwork, commandEnv, dataDir, proxy, certificates } = config
  const { maxResponseBytes, privateHosts: allow } = config
  return nodeDrivers({
    stdio,
    templates: stdioTemplates,
    sandbox,
    baseEnv: commandEnv,
    onLeftProcesses: (left) => {
      for (const leftProcess of left)
        log.warn(leftProcess, 'A stdio server left a detached process running; end it by its pid')
    },
    processDir: join(dataDir, 'processes'),
    ...(maxResponseBytes === undefined ? {} : { maxResponseBytes }),
    guard: {
      privateNetwork,
      allow,
      ...(proxy ? { proxy } : {}),
      ...(certificates === undefined ? {} : { ca: certificates }),
    },
  })
}

async function makeDataDir(dataDir: string): Promise<void> {
  await mkdir(dataDir, { recursive: true, mode: 0o700 })
    .then(() => access(dataDir, constants.W_OK))
    .catch((error: NodeJS.ErrnoException) => {
      throw new HostError('config-invalid', {
        detail: `LOADOUT_DATA_DIR "${dataDir}" cannot be written to (${error.code})`,
        cause: error,
      })
    })
}
