/** All settings with their defaults and error messages. The only module that reads `process.env`. */
import { readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { HostError } from '@loadout/core'
import { modelPattern } from '@loadout/core/agents/models'
import type { SandboxOptions } from '@loadout/core/node'
import type { StdioTemplate } from '@loadout/core/schema'
import { z } from 'zod'
import type { OidcSettings } from './auth/better-auth.ts'
import { commandEnv } from './command-env.ts'
import { readTemplates, sandboxDir } from './ops/stdio-settings.ts'

const flag = z.enum(['on', 'off', 'true', 'false', '1', '0']).transform((value) => ['on', 'true', '1'].includes(value))
const whole = (min: number, max: number) =>
  z.string().regex(/^\d+$/, 'must be a whole number').transform(Number).pipe(z.number().min(min).max(max))

/** A comma inside braces belongs to a glob. */
const commaList = (text: string) =>
  text
    .split(/,(?![^{}]*\})/)
    .map((part) => part.trim())
    .filter((part) => part !== '')
const fileHost = z
  .string()
  .toLowerCase()
  .regex(/^(\*\.)?[a-z0-9_-]+(\.[a-z0-9_-]+)*(:\d{1,5})?$/, 'must be host names, with commas between them')

const privateHost = z.string().regex(/^[\w.:/*-]+$/, 'must be host names, addresses or CIDRs, with commas between them')

const httpUrl = z.url({ protocol: /^https?$/, error: 'must be an http:// or https:// URL' })

const environment = z.object({
  PORT: whole(0, 65_535).default(4300),
  HOST: z.string().min(1).optional(),
  LOADOUT_MODE: z.enum(['local', 'multi-user']).default('local'),
  LOADOUT_DATA_DIR: z.string().min(1).optional(),
  DATABASE_URL: z
    .string()
    .regex(/^postgres(ql)?:\/\/\S+$/, 'must be a postgres:// URL')
    .optional(),
  LOADOUT_MASTER_KEY: z.string().min(1).optional(),
  LOADOUT_LOST_KEYS: z.string().transform(commaList).default([]),
  LOADOUT_BOOTSTRAP_KEY: z.string().min(32, 'must have at least 32 characters').optional(),
  LOADOUT_PUBLIC_URL: httpUrl.optional(),
  LOADOUT_PROXIES: whole(0, 10).default(0),
  LOADOUT_SESSION_MS: whole(60_000, 31_536_000_000).default(604_800_000),
  LOADOUT_SIGN_UP: flag.default(false),
  LOADOUT_PASSWORDS: flag.default(true),
  LOADOUT_OIDC_ISSUER: httpUrl.optional(),
  LOADOUT_OIDC_CLIENT_ID: z.string().min(1).optional(),
  LOADOUT_OIDC_CLIENT_SECRET: z.string().min(1).optional(),
  LOADOUT_OIDC_NAME: z.string().min(1).max(100).optional(),
  LOADOUT_OIDC_TRUST_EMAIL: flag.default(false),
  LOADOUT_WEBHOOK_URL: httpUrl.optional(),
  LOADOUT_WEBHOOK_SECRET: z.string().min(16, 'must have at least 16 characters').optional(),
  LOADOUT_STDIO: z.enum(['off', 'templates', 'sandbox', 'on']).optional(),
  LOADOUT_STDIO_TEMPLATES: z.string().min(1).optional(),
  LOADOUT_STDIO_START_MS: whole(1000, 3_600_000).default(60_000),
  LOADOUT_STDIO_START_MOST_MS: whole(1000, 3_600_000).default(300_000),
  LOADOUT_STDIO_NETWORK_ENV: flag.default(false),
  LOADOUT_SANDBOX_DIR: z.string().startsWith('/', 'must be an absolute path').optional(),
  LOADOUT_NPM_REGISTRY: httpUrl.optional(),
  LOADOUT_PYPI_INDEX: httpUrl.optional(),
  LOADOUT_PYPI_FILE_HOSTS: z.string().transform(commaList).pipe(z.array(fileHost)).optional(),
  LOADOUT_SANDBOX_MAX_BYTES: whole(2 * 1024 ** 3, Number.MAX_SAFE_INTEGER).optional(),
  LOADOUT_SANDBOX_CGROUPS: z.enum(['auto', 'required', 'off']).default('auto'),
  LOADOUT_PRIVATE_NETWORK: flag.optional(),
  LOADOUT_PRIVATE_HOSTS: z.string().transform(commaList).pipe(z.array(privateHost)).optional(),
  // The limit of a JavaScript string is 512 MiB.
  LOADOUT_MAX_RESPONSE_BYTES: whole(1024, 512 * 1024 * 1024 - 1024).optional(),
  LOADOUT_AUDIT_STRICT: flag.default(false),
  LOADOUT_PROGRAMS: z.enum(['off', 'thread', 'process', 'bubblewrap']).default('thread'),
  LOADOUT_APPROVAL_MS: whole(1000, 604_800_000).default(600_000),
  LOADOUT_MODEL: z
    .string()
    .regex(
      /^(anthropic|openai|google|openai-compatible):\S+$/,
      'must be provider:model with anthropic, openai, google or openai-compatible, for example anthropic:claude-sonnet-4-5',
    )
    .optional(),
  LOADOUT_MODELS: z.string().transform(commaList).pipe(z.array(modelPattern).max(200)).default([]),
  LOADOUT_MODEL_URL: httpUrl.optional(),
  LOADOUT_MODEL_KEY: z.string().min(1).optional(),
  LOADOUT_MAX_STEPS_PER_ANSWER: whole(1, 100).optional(),
  LOADOUT_MAX_TOKENS_PER_ANSWER: whole(1, 100_000_000).optional(),
  MCP_TOOL_CACHE_TTL_MS: whole(0, 31_536_000_000).default(3_600_000),
  MCP_SECRET_PATH: z.string().min(1).optional(),
  HTTPS_PROXY: httpUrl.optional(),
  NO_PROXY: z.string().optional(),
  NODE_EXTRA_CA_CERTS: z.string().min(1).optional(),
  LOADOUT_METRICS_KEY: z.string().min(32, 'must have at least 32 characters').optional(),
  OTEL_EXPORTER_OTLP_ENDPOINT: httpUrl.optional(),
  OTEL_SERVICE_NAME: z.string().min(1).max(100).default('loadout'),
  LOG_LEVEL: z.enum(['silent', 'fatal', 'error', 'warn', 'info', 'debug', 'trace']).default('info'),
})

export interface Config {
  mode: 'local' | 'multi-user'
  port: number
  hostname: string
  dataDir: string
  databaseUrl: string | undefined
  masterKey: string | undefined
  /** Ids of lost keys; secrets sealed with them are unrecoverable. */
  lostKeys: string[]
  bootstrapKey: string | undefined
  publicUrl: string | undefined
  /** Number of reverse proxies before the server. */
  proxies: number
  /** Idle timeout of a session. */
  sessionMs: number
  /** Whether a provider user without an account gets one. */
  signUp: boolean
  /** Whether users sign in with email and password. */
  passwords: boolean
  /** OIDC provider. */
  oidc: OidcSettings | undefined
  /** Receives approval requests. */
  webhook: { url: string; secret: string | undefined } | undefined
  stdio: 'off' | 'templates' | 'sandbox' | 'on'
  /** Command templates of the operator. */
  stdioTemplates: StdioTemplate[]
  sandbox: SandboxOptions & { dir: string }
  privateNetwork: boolean
  /** Private hosts that servers may use. */
  privateHosts: string[]
  /** Max response size of a server; undefined uses the library default. */
  maxResponseBytes: number | undefined
  /** Whether a call waits for its audit entry. */
  auditStrict: boolean
  /** Lifetime of an approval request. */
  approvalMs: number
  /** Isolation of programs; `off` disables them. */
  programs: 'off' | 'thread' | 'process' | 'bubblewrap'
  /** Default model of agents and chats. */
  model: string | undefined
  /** Further models that app keys may be used for, as globs. */
  models: string[]
  modelUrl: string | undefined
  modelKey: string | undefined
  /** Upper limit of one response of a chat or agent. */
  ceiling: { maxSteps: number | undefined; budget: number | undefined }
  toolCacheTtlMs: number
  secretPath: string | undefined
  /** Candidate files with global toolkits; the first existing file is used. */
  globalFiles: string[]
  logLevel: string
  /** Key for `/metrics` only. */
  metricsKey: string | undefined
  /** OTLP collector. */
  otlpEndpoint: string | undefined
  serviceName: string
  /** Variables that stdio servers inherit. */
  commandEnv: Record<string, string>
  /** Start timeouts of commands. */
  startup: { stdioMs: number; stdioMostMs: number }
  proxy: { url: string; noProxy?: string } | undefined
  /** Extra certificate authorities as PEM. */
  certificates: string | undefined
}

/** Settings of this process; `overrides` come from the command line. */
export function configFromEnvironment(overrides: Record<string, string | undefined> = {}): Config {
  const set = Object.entries(overrides).filter(([, value]) => value !== undefined)
  return readConfig({ ...process.env, ...Object.fromEntries(set) })
}

const LOOPBACK = new Set(['127.0.0.1', 'localhost', '::1'])

/** Parses the settings; throws `config-invalid` with one line that names the setting and its fix. */
export function readConfig(env: Record<string, string | undefined>): Config {
  const set = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined && value !== ''))
  const parsed = environment.safeParse(set)
  if (!parsed.success) {
    const [issue] = parsed.error.issues
    throw bad(String(issue?.path[0]), issue?.message ?? 'is not valid')
  }
  const values = parsed.data
  const local = values.LOADOUT_MODE === 'local'
  const config: Config = {
    mode: values.LOADOUT_MODE,
    port: values.PORT,
    hostname: values.HOST ?? (local ? '127.0.0.1' : '0.0.0.0'),
    dataDir: values.LOADOUT_DATA_DIR ?? join(homedir(), '.loadout'),
    databaseUrl: values.DATABASE_URL,
    masterKey: values.LOADOUT_MASTER_KEY,
    lostKeys: values.LOADOUT_LOST_KEYS,
    bootstrapKey: values.LOADOUT_BOOTSTRAP_KEY,
    publicUrl: values.LOADOUT_PUBLIC_URL,
    proxies: values.LOADOUT_PROXIES,
    sessionMs: values.LOADOUT_SESSION_MS,
    signUp: values.LOADOUT_SIGN_UP,
    passwords: values.LOADOUT_PASSWORDS,
    oidc: oidcOf(values),
    webhook:
      values.LOADOUT_WEBHOOK_URL === undefined
        ? undefined
        : { url: values.LOADOUT_WEBHOOK_URL, secret: values.LOADOUT_WEBHOOK_SECRET },
    stdio: values.LOADOUT_STDIO ?? (local ? 'on' : 'off'),
    stdioTemplates: readTemplates(values.LOADOUT_STDIO_TEMPLATES),
    sandbox: sandboxOf(values),
    privateNetwork: values.LOADOUT_PRIVATE_NETWORK ?? local,
    privateHosts: values.LOADOUT_PRIVATE_HOSTS ?? [],
    maxResponseBytes: values.LOADOUT_MAX_RESPONSE_BYTES,
    auditStrict: values.LOADOUT_AUDIT_STRICT,
    approvalMs: values.LOADOUT_APPROVAL_MS,
    programs: values.LOADOUT_PROGRAMS,
    model: values.LOADOUT_MODEL,
    models: values.LOADOUT_MODELS,
    modelUrl: values.LOADOUT_MODEL_URL,
    modelKey: values.LOADOUT_MODEL_KEY,
    ceiling: { maxSteps: values.LOADOUT_MAX_STEPS_PER_ANSWER, budget: values.LOADOUT_MAX_TOKENS_PER_ANSWER },
    toolCacheTtlMs: values.MCP_TOOL_CACHE_TTL_MS,
    secretPath: values.MCP_SECRET_PATH,
    globalFiles: ['./mcp-servers.json', join(homedir(), '.loadout', 'mcp-servers.json')],
    logLevel: values.LOG_LEVEL,
    metricsKey: values.LOADOUT_METRICS_KEY,
    otlpEndpoint: values.OTEL_EXPORTER_OTLP_ENDPOINT,
    serviceName: values.OTEL_SERVICE_NAME,
    commandEnv: commandEnv(env, { network: values.LOADOUT_STDIO_NETWORK_ENV || local }),
    startup: { stdioMs: values.LOADOUT_STDIO_START_MS, stdioMostMs: values.LOADOUT_STDIO_START_MOST_MS },
    proxy:
      values.HTTPS_PROXY === undefined
        ? undefined
        : { url: values.HTTPS_PROXY, ...(values.NO_PROXY === undefined ? {} : { noProxy: values.NO_PROXY }) },
    certificates: values.NODE_EXTRA_CA_CERTS === undefined ? undefined : readCertificates(values.NODE_EXTRA_CA_CERTS),
  }
  assertCoherent(config)
  return config
}

function sandboxOf(values: z.infer<typeof environment>): Config['sandbox'] {
  const { LOADOUT_SANDBOX_DIR, LOADOUT_DATA_DIR, LOADOUT_NPM_REGISTRY, LOADOUT_PYPI_INDEX } = values
  const { LOADOUT_PYPI_FILE_HOSTS, LOADOUT_SANDBOX_MAX_BYTES, LOADOUT_SANDBOX_CGROUPS } = values
  return {
    dir: sandboxDir(LOADOUT_SANDBOX_DIR, LOADOUT_DATA_DIR ?? join(homedir(), '.loadout')),
    cgroups: LOADOUT_SANDBOX_CGROUPS === 'required' ? 'required' : LOADOUT_SANDBOX_CGROUPS === 'auto',
    ...(LOADOUT_NPM_REGISTRY === undefined ? {} : { npmRegistry: LOADOUT_NPM_REGISTRY }),
    ...(LOADOUT_PYPI_INDEX === undefined ? {} : { pypiIndex: LOADOUT_PYPI_INDEX }),
    ...(LOADOUT_PYPI_FILE_HOSTS === undefined ? {} : { pypiFileHosts: LOADOUT_PYPI_FILE_HOSTS }),
    ...(LOADOUT_SANDBOX_MAX_BYTES === undefined ? {} : { packagesBytes: LOADOUT_SANDBOX_MAX_BYTES }),
  }
}

function oidcOf(values: z.infer<typeof environment>): OidcSettings | undefined {
  const { LOADOUT_OIDC_ISSUER: issuer, LOADOUT_OIDC_CLIENT_ID: clientId } = values
  const { LOADOUT_OIDC_CLIENT_SECRET: clientSecret, LOADOUT_OIDC_NAME, LOADOUT_OIDC_TRUST_EMAIL: trustEmail } = values
  if (issuer === undefined) {
    if (values.LOADOUT_SIGN_UP)
      throw bad('LOADOUT_SIGN_UP', 'needs LOADOUT_OIDC_ISSUER: only whom a provider vouches for can sign up')
    return undefined
  }
  if (clientId === undefined) throw bad('LOADOUT_OIDC_CLIENT_ID', 'is needed with LOADOUT_OIDC_ISSUER')
  if (clientSecret === undefined) throw bad('LOADOUT_OIDC_CLIENT_SECRET', 'is needed with LOADOUT_OIDC_ISSUER')
  return { issuer, clientId, clientSecret, name: LOADOUT_OIDC_NAME ?? new URL(issuer).host, trustEmail }
}

function readCertificates(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    throw bad('NODE_EXTRA_CA_CERTS', `names a file that cannot be read: ${path}`)
  }
}

function assertCoherent(config: Config): void {
  if (config.model?.startsWith('openai-compatible:') && config.modelUrl === undefined)
    throw bad('LOADOUT_MODEL_URL', 'is needed with a model of openai-compatible: the base URL of its API')
  if (config.mode === 'local') {
    if (!LOOPBACK.has(config.hostname))
      throw bad(
        'HOST',
        `must be a loopback address in local mode, which has no sign-in; set LOADOUT_MODE=multi-user to serve others`,
      )
    return
  }
  if (!config.passwords && !config.oidc)
    throw bad('LOADOUT_PASSWORDS', 'can be off only with LOADOUT_OIDC_ISSUER: else nobody could sign in')
  if (!config.databaseUrl) throw bad('DATABASE_URL', 'is needed in multi-user mode')
  if (!config.masterKey)
    throw bad('LOADOUT_MASTER_KEY', 'is needed in multi-user mode; make one with `openssl rand -base64 32`')
}

function bad(name: string, message: string): HostError {
  return new HostError('config-invalid', { detail: `${name} ${message}`, errors: [{ path: name, message }] })
}
