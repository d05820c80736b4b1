/** Starts and stops a listening server from settings, for `main.ts` and the CLI. */
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server, STATUS_CODES } from 'node:http'
import { join } from 'node:path'
import type { Duplex } from 'node:stream'
import { HostError, newId, type Storage } from '@loadout/core'
import { offerTemplate } from '@loadout/core/schema'
import type { HostServices } from '@loadout/core/services'
import { createApiKeys } from './auth/api-keys.ts'
import { byApiKey, localOr, restrictToUser, sessionOr } from './auth/authenticate.ts'
import type { SignIn } from './auth/sign-in.ts'
import type { Config } from './config.ts'
import { createApp } from './http/app.ts'
import { toNodeHandler } from './http/node.ts'
import { toProblem } from './http/problem.ts'
import { clientDocument, modelsOf, openHost } from './open-host.ts'
import { createLog, type Log } from './ops/log.ts'
import { openTelemetry } from './ops/telemetry.ts'
import { startWebhook } from './ops/webhook.ts'
import type { StartSettings } from './routes/operator/app.ts'

export interface RunningServer {
  url: string
  /** Setup link for the first operator, if there is none. */
  setup?: { url: string; expiresAt: Date } | undefined
  close(): Promise<void>
}

export interface ServeOptions {
  log?: Log
  /** Folder of the built UI; without it only the API is served. */
  webDir?: string | undefined
  version?: string
  /** Replaces the storage of the settings. The server closes it. */
  storage?: Storage
}

const FINISH_WITHIN_MS = 10_000

/** Fits a query of 10,000 characters in its percent-encoded form: at most 9 bytes for each. */
const MAX_HEADER_BYTES = 128 * 1024

/** File in the data folder with the URL of the live server, for the CLI. */
export const SERVER_FILE = 'server.json'

export async function startServer(config: Config, options: ServeOptions = {}): Promise<RunningServer> {
  const log = options.log ?? createLog(config.logLevel)
  const telemetry = await openTelemetry(config, { version: options.version, log })
  let bound: string | undefined
  const host = await openHost(config, log, { telemetry, address: () => bound, storage: options.storage }).catch(
    async (error) => {
      await telemetry.close()
      throw error
    },
  )
  const webhook = startApprovalWebhook(host, log, config)
  let signIn: SignIn | undefined
  const closeHost = async () => {
    await webhook?.stop()
    await signIn?.close()
    await host.close()
    await telemetry.close()
  }
  const stopping = new AbortController()
  try {
    await host.ready()
    const apiKeys = createApiKeys(host.storage, host.audit.record)
    const byKey = byApiKey(apiKeys, config.bootstrapKey)
    const local = config.mode === 'local'
    signIn = await openSignIn(config, { host, log, address: () => bound })
    const byUserKey = restrictToUser(byKey, host.storage)
    const signedIn = signIn ? sessionOr(byUserKey, signIn, config.publicUrl) : byUserKey
    const app = createApp({
      host,
      apiKeys,
      models: modelsOf(host, config),
      settings: settingsOf(config),
      authenticate: local ? localOr(byKey) : signedIn,
      signIn,
      proxies: config.proxies,
      loopbackOnly: local,
      publicUrl: config.publicUrl,
      clientMetadata: clientDocument(config),
      log,
      metrics: { read: telemetry.metrics, key: config.metricsKey },
      version: options.version ?? '0.0.0',
      stopping: stopping.signal,
      webDir: options.webDir,
    })
    const server = createServer({ maxHeaderSize: MAX_HEADER_BYTES }, toNodeHandler(app))
    server.on('clientError', refuseUnreadable)
    const url = await listen(server, config)
    bound = url
    await noteServer(config, url)
    log.info({ url, mode: config.mode, storage: host.storage.name }, 'listening')
    const setupLink = await signIn?.setupLink()
    return {
      url,
      setup: setupLink && signIn && { url: signIn.urlOf(setupLink), expiresAt: setupLink.expiresAt },
      close: once(() => {
        stopping.abort()
        return shutDown({ server, config, log, closeHost })
      }),
    }
  } catch (error) {
    await closeHost().catch(() => {})
    throw error
  }
}

export function settingsOf(config: Config): StartSettings {
  const { mode, stdio, stdioTemplates, privateNetwork, privateHosts, programs, approvalMs } = config
  const { model, models, ceiling } = config
  // Environment values of templates may be secrets.
  const templates = stdioTemplates.map(({ id, command, args }) => ({ id, command, args }))
  const offered = stdioTemplates.map(offerTemplate)
  const base = { mode, stdio, templates, offered, privateNetwork, privateHosts, programs, approvalMs }
  return { ...base, model, models, ceiling }
}

interface SignInDeps {
  host: HostServices
  log: Log
  address: () => string | undefined
}

/** Local mode has no sign-in and does not load better-auth. */
async function openSignIn(config: Config, { host, log, address }: SignInDeps): Promise<SignIn | undefined> {
  const { mode, masterKey, publicUrl, sessionMs, signUp, passwords: byPassword, oidc, proxy, certificates: ca } = config
  if (mode === 'local' || masterKey === undefined) return undefined
  if (publicUrl === undefined)
    log.warn('LOADOUT_PUBLIC_URL is not set: cookies are not marked as for https, and links lead to this machine')
  const { createSignIn, signInSecret } = await import('./auth/sign-in.ts')
  return createSignIn({
    storage: host.storage,
    secret: signInSecret(masterKey),
    sessionMs,
    signUp,
    byPassword,
    oidc,
    log,
    reach: { ...(proxy ? { proxy } : {}), ...(ca === undefined ? {} : { ca }) },
    baseUrl: () => publicUrl ?? address() ?? 'http://localhost',
    record: host.audit.record,
  })
}

/** Sends approval requests to the webhook, if configured. */
function startApprovalWebhook(host: HostServices, log: Log, { webhook, proxy, certificates }: Config) {
  return webhook ? startWebhook(host, log, { ...webhook, proxy, certificates }) : undefined
}

/** Answers a request that Node cannot read with a problem document, instead of a bare status line. */
function refuseUnreadable(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy()
  const tooLarge = error.code === 'HPE_HEADER_OVERFLOW'
  const refusal = tooLarge
    ? new HostError('headers-too-large', {
        detail: `URL and headers together are larger than ${MAX_HEADER_BYTES / 1024} KB.`,
        action: 'Send a shorter query, or the text in a body.',
      })
    : new HostError('invalid-request', {
        detail: `The request is not HTTP/1.1 (\`${error.code ?? error.name}\`).`,
        action: 'Send the request with an HTTP client.',
      })
  const body = JSON.stringify(toProblem(refusal, newId('request')))
  const head = [
    `HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status]}`,
    'content-type: application/problem+json',
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
  ]
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`)
}

async function listen(server: Server, { port, hostname }: Config): Promise<string> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, hostname, resolve)
  }).catch((error: NodeJS.ErrnoException) => {
    const taken = error.code === 'EADDRINUSE'
    throw new HostError('config-invalid', {
      detail: taken
        ? `PORT ${port} is taken by another process`
        : `HOST ${hostname} cannot be listened on (${error.code})`,
      action: taken
        ? 'Set PORT to another number, or stop the process that has it.'
        : 'Set HOST to an address of this machine.',
      cause: error,
    })
  })
  const address = server.address()
  const bound = typeof address === 'object' && address !== null ? address.port : port
  const name = hostname.includes(':') ? `[${hostname}]` : hostname === '0.0.0.0' ? 'localhost' : hostname
  return `http://${name}:${bound}`
}

async function noteServer({ databaseUrl, dataDir }: Config, url: string): Promise<void> {
  if (databaseUrl !== undefined) return
  await mkdir(dataDir, { recursive: true, mode: 0o700 })
  await writeFile(join(dataDir, SERVER_FILE), JSON.stringify({ pid: process.pid, url }), { mode: 0o600 })
}

/** Stops accepting requests, waits up to 10 s for running ones, then closes the host. */
async function shutDown(deps: {
  server: Server
  config: Config
  log: Log
  closeHost: () => Promise<void>
}): Promise<void> {
  const { server, config, log, closeHost } = deps
  const finished = new Promise<void>((resolve) => server.close(() => resolve()))
  server.closeIdleConnections()
  const late = setTimeout(() => server.closeAllConnections(), FINISH_WITHIN_MS)
  await finished
  clearTimeout(late)
  if (config.databaseUrl === undefined) await rm(join(config.dataDir, SERVER_FILE), { force: true })
  await closeHost()
  log.info('stopped')
}

function once(work: () => Promise<void>): () => Promise<void> {
  let done: Promise<void> | undefined
  return () => {
    done ??= work()
    return done
  }
}
