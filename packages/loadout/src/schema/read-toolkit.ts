/**
 * The one reader of toolkit records: every spelling that SPEC 4.1 lists becomes one canonical record here.
 * A field may stand at the top or inside `server`, `connection`, `transportSpec`, `transport.spec` or `config_json`;
 * the first place that holds it wins, and an error names the place where it was written, not where we moved it.
 */
import { z } from 'zod'
import { type FieldError, HostError } from '../errors.ts'
import { slugFrom } from './ids.ts'
import { assertPlainJson, invalidInput, type JsonObject } from './json.ts'
import type { Tier } from './scope.ts'
import { type Toolkit, toolkit } from './toolkit.ts'

export interface ReadToolkit {
  toolkit: Toolkit
  /** Whether the id was given, or made from the name. */
  idGiven: boolean
  /** The tier that the record itself names (`scope` of source 001 and 002). */
  tier: Tier | undefined
  /** Fields that we do not know, by their place. They are told, not guessed at. */
  warnings: string[]
}

const SERVER_TYPES: Record<string, 'stdio' | 'http' | 'sse' | 'custom'> = {
  stdio: 'stdio',
  local: 'stdio',
  http: 'http',
  https: 'http',
  remote: 'http',
  websocket: 'http',
  ws: 'http',
  'streamable-http': 'http',
  streamable_http: 'http',
  streamableHttp: 'http',
  streamableHTTP: 'http',
  sse: 'sse',
  custom: 'custom',
}

const CALLERS: Record<string, string> = {
  direct: 'direct',
  code: 'code',
  code_execution_20250825: 'code',
  code_execution_20260120: 'code',
}

// Each canonical field with the spellings that are read for it.
const FIELDS = {
  id: ['id', 'slug'],
  name: ['name', 'serverName'],
  enabled: ['enabled'],
  disabled: ['disabled'],
  type: ['type', 'transport', 'kind'],
  command: ['command'],
  args: ['args'],
  env: ['env'],
  cwd: ['cwd'],
  url: ['url'],
  headers: ['headers'],
  auth: ['auth'],
  oauth: ['oauth'],
  tier: ['scope', 'tier'],
  tools: ['tools'],
  deferLoading: ['deferLoading', 'defer_loading'],
  allowedCallers: ['allowedCallers', 'allowed_callers'],
  include: ['include'],
  exclude: ['exclude'],
  overrides: ['overrides'],
  timeouts: ['timeouts'],
  account: ['account'],
} as const

type Field = keyof typeof FIELDS
const WRAPPERS = ['server', 'connection', 'transportSpec', 'config_json', 'options', 'spec']

export function readToolkit(input: unknown, defaults: { id?: string; name?: string } = {}): ReadToolkit {
  if (typeof input !== 'object' || input === null || Array.isArray(input))
    throw fail([{ path: '(body)', message: 'must be an object that describes a server' }])
  assertPlainJson(input)
  const given = collect(input as JsonObject)
  const { record, problems } = toRecord(given, defaults)
  const parsed = toolkit.safeParse(record)
  const errors = [...problems, ...(parsed.success ? [] : rename(parsed.error, given, problems))]
  if (errors.length > 0 || !parsed.success) throw fail(errors)
  return {
    toolkit: parsed.data,
    idGiven: given.id !== undefined || defaults.id !== undefined,
    tier: readTier(given.tier?.value),
    warnings: given.unknown.map((path) => `"${path}" is not a known field and was ignored`),
  }
}

/** Read a server alone, for a look without registering it. */
export function readServer(input: unknown): Toolkit['server'] {
  return readToolkit(input, { id: 'server', name: 'server' }).toolkit.server
}

interface Given {
  path: string
  value: unknown
}
type Collected = Partial<Record<Field, Given>> & { unknown: string[] }

function collect(body: JsonObject): Collected {
  const found: Collected = { unknown: [] }
  const layers: Array<[string, JsonObject]> = [['', body]]
  const names = new Map<string, Field>()
  for (const field of Object.keys(FIELDS) as Field[]) for (const name of FIELDS[field]) names.set(name, field)

  for (let i = 0; i < layers.length; i++) {
    const [prefix, layer] = layers[i] as [string, JsonObject]
    for (const [key, value] of Object.entries(layer)) {
      const path = prefix + key
      const nested = isObject(value) && (WRAPPERS.includes(key) || key === 'transport')
      if (nested) layers.push([`${path}.`, value])
      else if (names.has(key)) found[names.get(key) as Field] ??= { path, value }
      else found.unknown.push(path)
    }
  }
  return found
}

function toRecord(given: Collected, defaults: { id?: string; name?: string }) {
  const problems: FieldError[] = []
  const server = toServer(given, problems)
  const name = given.name?.value ?? defaults.name ?? given.id?.value
  const id = given.id?.value ?? defaults.id ?? (typeof name === 'string' ? slugFrom(name) : undefined)
  if (name === undefined) problems.push({ path: 'name', message: 'is missing; give the toolkit a name' })
  else if (id === '' && String(name).trim() !== '')
    problems.push({ path: 'id', message: 'cannot be made from this name; give one of a-z, 0-9, "-" and "_"' })
  const knownTools = server?.type === 'custom' ? undefined : given.tools?.value
  const record = withoutUndefined({
    id,
    name,
    enabled: given.enabled?.value ?? (typeof given.disabled?.value === 'boolean' ? !given.disabled.value : undefined),
    server,
    deferLoading: given.deferLoading?.value,
    allowedCallers: readCallers(given.allowedCallers?.value),
    include: given.include?.value,
    exclude: given.exclude?.value,
    overrides: given.overrides?.value,
    timeouts: given.timeouts?.value,
    account: given.account?.value,
    tools: knownTools,
  })
  return { record, problems }
}

function toServer(given: Collected, problems: FieldError[]): JsonObject | undefined {
  const type = readType(given, problems)
  if (type === undefined) return undefined
  if (type === 'custom') return withoutUndefined({ type, tools: given.tools?.value }) as JsonObject
  if (type === 'stdio') {
    if (given.command === undefined)
      problems.push({ path: 'command', message: 'is missing; a stdio server needs a command' })
    return withoutUndefined({
      type,
      command: given.command?.value,
      args: readArgs(given.args?.value),
      env: readPairs(given.env?.value, '='),
      cwd: given.cwd?.value,
    }) as JsonObject
  }
  if (given.url === undefined)
    problems.push({ path: 'url', message: `is missing; a server of type "${type}" needs a url` })
  return withoutUndefined({
    type,
    url: given.url?.value,
    headers: readPairs(given.headers?.value, ':'),
    auth: readAuth(given),
  }) as JsonObject
}

function readType(given: Collected, problems: FieldError[]) {
  if (given.type !== undefined) {
    const { path, value } = given.type
    const type = typeof value === 'string' && Object.hasOwn(SERVER_TYPES, value) ? SERVER_TYPES[value] : undefined
    if (type === undefined)
      problems.push({ path, message: `${show(value)} is not a known transport; use one of stdio, http, sse, custom` })
    return type
  }
  if (given.command !== undefined) return 'stdio'
  if (given.url !== undefined) return 'http'
  if (given.tools !== undefined) return 'custom'
  problems.push({ path: 'command', message: 'is missing; give a command (stdio), a url (http) or tools (custom)' })
  return undefined
}

// Source 002: args as one comma-separated string.
function readArgs(value: unknown): unknown {
  if (typeof value !== 'string') return value
  return value.trim() === '' ? [] : value.split(',').map((part) => part.trim())
}

// Source 002: `KEY=value` lines; source 000: values that are numbers or booleans become strings.
function readPairs(value: unknown, divider: '=' | ':'): unknown {
  if (typeof value === 'string') {
    const lines = value
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== '')
    return Object.fromEntries(lines.map((line) => splitPair(line, divider)))
  }
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, isScalar(item) ? String(item) : item]))
}

function splitPair(line: string, divider: string): [string, string] {
  const at = line.indexOf(divider)
  return at < 0 ? [line, ''] : [line.slice(0, at).trim(), line.slice(at + 1).trim()]
}

function readAuth(given: Collected): unknown {
  const { auth, oauth } = given
  if (auth === undefined && oauth?.value) return { type: 'oauth', ...oauthFields(oauth.value) }
  const value = auth?.value
  if (typeof value === 'string') return { type: value }
  if (isObject(value) && value.type === 'oauth') return { type: 'oauth', ...oauthFields(value) }
  return value
}

function oauthFields(value: unknown): JsonObject {
  if (!isObject(value)) return {}
  const { type: _type, client_id, client_secret, scope, ...rest } = value
  const scopes = rest.scopes ?? scope
  return withoutUndefined({
    ...rest,
    clientId: rest.clientId ?? client_id,
    clientSecret: rest.clientSecret ?? client_secret,
    scopes: typeof scopes === 'string' ? scopes.split(/\s+/).filter(Boolean) : scopes,
  }) as JsonObject
}

function readCallers(value: unknown): unknown {
  if (!Array.isArray(value)) return value
  return [
    ...new Set(value.map((item) => (typeof item === 'string' && Object.hasOwn(CALLERS, item) ? CALLERS[item] : item))),
  ]
}

function readTier(value: unknown): Tier | undefined {
  if (value === 'global' || value === 'app') return 'app'
  return value === 'user' ? 'user' : undefined
}

// The canonical path of a problem, put back to where the caller wrote it; what was already told is not told twice.
function rename(error: z.ZodError, given: Collected, told: FieldError[]): FieldError[] {
  const flattened = new z.ZodError(
    error.issues.map((issue) => (issue.path[0] === 'server' ? { ...issue, path: issue.path.slice(1) } : issue)),
  )
  const already = new Set(told.map((problem) => problem.path))
  return (invalidInput(flattened).errors ?? []).flatMap((problem) => {
    const [head = '', ...rest] = problem.path.split('.')
    const field = Object.hasOwn(FIELDS, head) ? given[head as Field] : undefined
    const path = [field?.path ?? head, ...rest].join('.')
    // Without a name there is no id to make, and without a transport no server: that is told already.
    const follows = head === '(body)' || (head === 'id' && given.id === undefined)
    return already.has(path) || already.has(head) || follows ? [] : [{ path, message: problem.message }]
  })
}

function fail(errors: FieldError[]): HostError {
  return new HostError('invalid-input', { detail: errors.map((e) => `${e.path}: ${e.message}`).join('; '), errors })
}

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const isScalar = (value: unknown) => ['string', 'number', 'boolean'].includes(typeof value)
const show = (value: unknown) => (typeof value === 'string' ? `"${value.slice(0, 40)}"` : `a ${typeof value}`)
const withoutUndefined = (record: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined))
