/**
 * The only reader of toolkit records: turns every spelling of SPEC 4.1 into one canonical record, also for partial
 * updates. Invalid fields are errors and unused fields are warnings; none is dropped silently.
 */
import { z } from 'zod'
import type { FieldError } from '../../errors.ts'
import { isObject } from '../../util/is-object.ts'
import { slugFrom } from '../ids.ts'
import { assertPlainJson, invalidFields, invalidInput, type JsonObject } from '../json.ts'
import type { Tier } from '../scope.ts'
import { type Toolkit, type ToolkitDefaults, toolkit } from '../toolkit/toolkit.ts'
import { type Collected, collectFields, FIELDS, type Field, type FieldValue, SERVER_FIELDS } from './field-aliases.ts'
import {
  readArgs,
  readAuth,
  readCallers,
  readDeclaredTools,
  readOverrides,
  readPairs,
  readToolValues,
  readUrl,
  toolPath,
  withoutUndefined,
} from './read-values.ts'

export interface ReadToolkit {
  toolkit: Toolkit
  /** Whether the caller set the id; else it is derived from the name. */
  hasExplicitId: boolean
  /** Tier in the record itself (`scope` of source 001 and 002). */
  tier: Tier | undefined
  /** Unknown fields by path. */
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

export interface ReadOptions {
  /** Used when the record has no id of its own. */
  id?: string
  name?: string
  /** The record that this one updates: absent fields keep its values. */
  over?: Toolkit
  /** Values for fields that the record does not set. */
  defaults?: ToolkitDefaults
}

export function readToolkit(input: unknown, { id, name, over, defaults = {} }: ReadOptions = {}): ReadToolkit {
  if (!isObject(input)) throw invalidFields([{ path: '(body)', message: 'must be an object that describes a server' }])
  if (isObject(input.mcpServers))
    throw invalidFields([
      { path: 'mcpServers', message: 'is a config of several servers; use the import, or give one server' },
    ])
  assertPlainJson(input)
  const collected = collectFields(input)
  const fields = over ? mergeFields(collected, over) : collected.fields
  const problems = [...collected.problems]
  const tier = readTier(fields.tier, problems)
  const skipped: string[] = []
  const record = { ...defaults, ...toRecord(fields, { id, name, problems, skipped }) }
  const parsed = toolkit.safeParse(record)
  const errors = [
    ...problems,
    ...(parsed.success
      ? []
      : toCallerPaths(parsed.error, { fields, reported: problems, idIsDerived: id === undefined })),
  ]
  if (errors.length > 0 || !parsed.success) throw invalidFields(errors)
  return {
    toolkit: parsed.data,
    hasExplicitId: fields.id !== undefined || id !== undefined,
    tier,
    warnings: warningsOf(collected, parsed.data.server.type, skipped),
  }
}

/** Reads a server without a toolkit, for discovery before registration. */
export function readServer(input: unknown): Toolkit['server'] {
  return readToolkit(input, { id: 'server', name: 'server' }).toolkit.server
}

type Fields = Collected['fields']

/** Merges the fields over those of the current record. A different kind of server inherits nothing. */
function mergeFields({ fields, wholeServer }: Collected, { server, ...rest }: Toolkit): Fields {
  const current = collectFields({ ...rest, ...server } as JsonObject).fields
  const kind = kindOf(fields)
  if (wholeServer || (kind !== undefined && familyOf(kind) !== familyOf(server.type)))
    for (const field of SERVER_FIELDS) delete current[field]
  // `disabled` and `oauth` are aliases of `enabled` and `auth`, so the new field must remove the current alias.
  if (fields.disabled) delete current.enabled
  if (fields.oauth) delete current.auth
  // A command and a template exclude each other: the new one removes the fields of the other.
  if (fields.template) for (const field of COMMAND_LINE) delete current[field]
  else if (fields.command) for (const field of TEMPLATE) delete current[field]
  return { ...current, ...fields }
}

const COMMAND_LINE = ['command', 'args', 'env', 'cwd', 'hosts'] as const
const TEMPLATE = ['template', 'values'] as const

// Streamable HTTP and SSE use the same fields.
const familyOf = (type: Toolkit['server']['type']) => (type === 'sse' ? 'http' : type)

const MAX_WARNINGS = 50

function warningsOf({ unknown, fields }: Collected, type: Toolkit['server']['type'], skipped: string[]): string[] {
  const unused = SERVER_FIELDS.filter((field) => fields[field] && !USED[type].includes(field)).map(
    (field) => fields[field]?.path,
  )
  const warnings = [
    ...skipped.map((warning) => warning.slice(0, 500)),
    ...unused.map((path) => `"${path}" is not used by a ${type} server and was ignored`),
    ...unknown.map((path) => `"${path.slice(0, 200)}" is not a known field and was ignored`),
  ]
  return warnings.length > MAX_WARNINGS
    ? [...warnings.slice(0, MAX_WARNINGS), `and ${warnings.length - MAX_WARNINGS} more`]
    : warnings
}

const REMOTE: readonly Field[] = ['type', 'url', 'headers', 'auth', 'oauth', 'tools']
const USED: Record<Toolkit['server']['type'], readonly Field[]> = {
  stdio: ['type', 'command', 'args', 'env', 'cwd', 'template', 'values', 'hosts', 'tools'],
  http: REMOTE,
  sse: REMOTE,
  custom: ['type', 'tools', 'secrets'],
}

function toRecord(
  fields: Fields,
  {
    id: defaultId,
    name: defaultName,
    problems,
    skipped,
  }: { id?: string | undefined; name?: string | undefined; problems: FieldError[]; skipped: string[] },
) {
  const server = toServer(fields, problems)
  const declared = server?.type === 'custom' ? undefined : readDeclaredTools(fields.tools)
  skipped.push(...(declared?.skipped ?? []))
  const name = fields.name?.value ?? defaultName ?? fields.id?.value
  const id = fields.id?.value ?? defaultId ?? (typeof name === 'string' ? slugFrom(name) : undefined)
  if (name === undefined) problems.push({ path: 'name', message: 'is missing; give the toolkit a name' })
  else if (id === '' && String(name).trim() !== '')
    problems.push({ path: 'id', message: 'cannot be made from this name; give one of a-z, 0-9, "-" and "_"' })
  return withoutUndefined({
    id,
    name,
    enabled: fields.enabled?.value ?? readDisabled(fields.disabled, problems),
    server,
    deferLoading: fields.deferLoading?.value,
    allowedCallers: readCallers(fields.allowedCallers?.value),
    include: fields.include?.value,
    exclude: fields.exclude?.value,
    overrides: readOverrides(fields.overrides?.value, declared?.tools),
    timeouts: fields.timeouts?.value,
    shared: fields.shared?.value,
    untrusted: fields.untrusted?.value,
    protocol: fields.protocol?.value,
    logLevel: fields.logLevel?.value,
    account: fields.account?.value,
    tools: declared?.tools,
  })
}

function toServer(fields: Fields, problems: FieldError[]): JsonObject | undefined {
  const type = readType(fields, problems)
  if (type === undefined) return undefined
  if (type === 'custom')
    return withoutUndefined({
      type,
      tools: readToolValues(fields.tools?.value),
      secrets: readPairs(fields.secrets?.value, '='),
    }) as JsonObject
  if (type === 'stdio') {
    if (fields.command === undefined && fields.template === undefined)
      problems.push({ path: 'command', message: 'is missing; a stdio server needs a command' })
    return withoutUndefined({
      type,
      command: fields.command?.value,
      args: readArgs(fields.args?.value),
      env: readPairs(fields.env?.value, '='),
      cwd: fields.cwd?.value,
      template: fields.template?.value,
      values: readPairs(fields.values?.value, '='),
      hosts: fields.hosts?.value,
    }) as JsonObject
  }
  if (fields.url === undefined)
    problems.push({ path: 'url', message: `is missing; a server of type "${type}" needs a url` })
  return withoutUndefined({
    type,
    url: readUrl(fields.url?.value),
    headers: readPairs(fields.headers?.value, ':'),
    auth: readAuth(fields),
  }) as JsonObject
}

function readType(fields: Fields, problems: FieldError[]) {
  const kind = kindOf(fields)
  if (fields.type !== undefined && kind === undefined) {
    const { path, value } = fields.type
    problems.push({ path, message: `${quote(value)} is not a known transport; use one of stdio, http, sse, custom` })
  } else if (kind === undefined) {
    problems.push({ path: 'command', message: 'is missing; give a command (stdio), a url (http) or tools (custom)' })
  } else if (fields.type === undefined && fields.command !== undefined && fields.url !== undefined) {
    problems.push({ path: fields.url.path, message: 'stands beside a command; give one of them, or say the transport' })
  }
  return kind
}

/** Kind of server that the fields describe, or undefined. */
function kindOf({ type, command, template, url, tools }: Fields) {
  if (type !== undefined)
    return typeof type.value === 'string' && Object.hasOwn(SERVER_TYPES, type.value)
      ? SERVER_TYPES[type.value]
      : undefined
  if (command !== undefined || template !== undefined) return 'stdio'
  if (url !== undefined) return 'http'
  return tools !== undefined ? 'custom' : undefined
}

function readDisabled(field: FieldValue | undefined, problems: FieldError[]): boolean | undefined {
  if (field === undefined) return undefined
  if (typeof field.value === 'boolean') return !field.value
  problems.push({ path: field.path, message: 'must be true or false' })
  return undefined
}

function readTier(field: FieldValue | undefined, problems: FieldError[]): Tier | undefined {
  if (field === undefined) return undefined
  if (field.value === 'global' || field.value === 'app') return 'app'
  if (field.value === 'user') return 'user'
  problems.push({ path: field.path, message: `${quote(field.value)} is not a tier of toolkits; use app or user` })
  return undefined
}

interface CallerPathInput {
  fields: Fields
  reported: readonly FieldError[]
  /** Whether the id is derived from the name when the record has none. */
  idIsDerived: boolean
}

// Maps canonical paths back to those of the caller. Skips problems that are already reported.
function toCallerPaths(error: z.ZodError, { fields, reported, idIsDerived }: CallerPathInput): FieldError[] {
  const flattened = new z.ZodError(
    error.issues.map((issue) => (issue.path[0] === 'server' ? { ...issue, path: issue.path.slice(1) } : issue)),
  )
  const reportedPaths = new Set(reported.map((problem) => problem.path))
  const found = invalidInput(flattened).errors ?? []
  const nameIsWrong = reportedPaths.has('name') || reportedPaths.has('id') || found.some(({ path }) => path === 'name')
  return found.flatMap((problem) => {
    const [head = '', ...rest] = problem.path.split('.')
    const isDerivedId = head === 'id' && fields.id === undefined && idIsDerived
    if (isDerivedId && !nameIsWrong) return [{ path: fields.name?.path ?? 'name', message: noIdFrom(problem.message) }]
    const field = Object.hasOwn(FIELDS, head) ? fields[head as Field] : undefined
    const [index, ...within] = rest
    const isTool = head === 'tools' && field !== undefined && index !== undefined
    const path = [isTool ? toolPath(field, index) : (field?.path ?? head), ...(isTool ? within : rest)].join('.')
    // A missing name or transport is already reported, so its follow-up errors are skipped.
    const follows = head === '(body)' || isDerivedId
    return reportedPaths.has(path) || reportedPaths.has(head) || follows ? [] : [{ path, message: problem.message }]
  })
}

const noIdFrom = (requirement: string) => `cannot become an id, which ${requirement}; or give an id beside it`

const quote = (value: unknown) => (typeof value === 'string' ? `"${value.slice(0, 40)}"` : `a ${typeof value}`)
