/**
 * Converts app-specific server entries to a Loadout record. Nothing is evaluated, read or run, and unsupported fields
 * are warnings. Other fields pass to the toolkit reader unchanged.
 */

import { toolkitId } from '../../schema/ids.ts'
import { invalidFields, type JsonObject } from '../../schema/json.ts'
import { readArgs, readPairs, withoutUndefined } from '../../schema/read/read-values.ts'
import { isObject } from '../../util/is-object.ts'
import { unwrapRemote } from './mcp-remote.ts'
import { inOurSpelling, readOtherFields, withBraces } from './other-fields.ts'
import { takePlaceholders } from './placeholders.ts'

export interface NormalizedEntry {
  record: JsonObject
  warnings: string[]
}

interface Draft extends NormalizedEntry {
  /** Removes a field from the record and returns it. */
  take(field: string): unknown
  warn(field: string, message: string): void
}

type Quirk = (draft: Draft) => void

/** Converts one config entry to a record for the toolkit reader. `${…}` is not expanded yet. */
export function normalizeEntry(key: string, value: unknown): NormalizedEntry {
  if (!isObject(value)) throw invalidFields([{ path: '(body)', message: 'must be an object that describes a server' }])
  const record: JsonObject = { ...value }
  // Some apps write unset fields as null.
  for (const [field, fieldValue] of Object.entries(record)) if (fieldValue === null) delete record[field]
  const warnings: string[] = []
  const draft: Draft = {
    record,
    warnings,
    take: (field) => {
      const taken = Object.hasOwn(record, field) ? record[field] : undefined
      delete record[field]
      return taken
    },
    warn: (field, message) => warnings.push(`"${field}" ${message}`),
  }
  for (const quirk of QUIRKS) quirk(draft)
  setName(draft, key)
  return { record, warnings }
}

const VALUES = ['env', 'environment', 'headers', 'http_headers'] as const

/** Spellings of other apps and `mcp-remote`; runs first. */
const otherApps: Quirk = ({ record, warnings }) => {
  for (const [field, value] of Object.entries(record)) if (field !== 'tools') record[field] = inOurSpelling(value)
  for (const field of VALUES) if (record[field] !== undefined) record[field] = withBraces(record[field])
  readOtherFields(record)
  const remote = unwrapRemote(record)
  if (!remote) return
  for (const field of ['command', 'args', 'env', 'type', 'transport']) delete record[field]
  Object.assign(record, remote.record)
  warnings.push(...remote.warnings)
}

/** A placeholder becomes an input, not a value. */
const placeholders: Quirk = ({ record, warn }) => {
  for (const { path, text } of takePlaceholders(record))
    warn(path, `holds the placeholder ${text.slice(0, 80)}; give its value`)
}

const SPELLINGS: Record<string, string> = { serverUrl: 'url', transportType: 'type' }

const spellings: Quirk = ({ record, take }) => {
  for (const [theirs, ours] of Object.entries(SPELLINGS)) {
    const value = take(theirs)
    if (value !== undefined && record[ours] === undefined) record[ours] = value
    else if (value !== undefined) record[theirs] = value
  }
}

const UNSUPPORTED_FIELDS: Record<string, string> = {
  envFile: 'names a file, which is not read; give its values as env',
  headersHelper: 'names a command, which is not run; give its headers as headers',
}

const unsupportedFields: Quirk = ({ take, warn }) => {
  for (const [field, message] of Object.entries(UNSUPPORTED_FIELDS)) if (take(field) !== undefined) warn(field, message)
}

const APPROVALS = ['alwaysAllow', 'autoApprove', 'trust']

const approvals: Quirk = ({ take, warn }) => {
  for (const field of APPROVALS) {
    const value = take(field)
    const isSet = Array.isArray(value) ? value.length > 0 : value !== undefined && value !== false
    if (isSet) warn(field, 'was not taken over: here policy decides which calls are approved')
  }
}

// VS Code: a null variable is unset.
const pairs: Quirk = ({ record, warn }) => {
  for (const [field, divider] of [
    ['env', '='],
    ['headers', ':'],
  ] as const) {
    const value = readPairs(record[field], divider)
    if (!isObject(value)) continue
    const entries = Object.entries(value).filter(([name, inner]) => {
      if (inner === null) warn(`${field}.${name}`, 'is null and was left out')
      return inner !== null
    })
    record[field] = Object.fromEntries(entries)
  }
  if (typeof record.args === 'string') record.args = readArgs(record.args)
}

const OAUTH = ['clientId', 'client_id', 'clientSecret', 'client_secret', 'scopes', 'scope', 'type']

/** Claude Code and VS Code: `oauth`. Cursor: `auth: { CLIENT_ID, CLIENT_SECRET, scopes }`. */
const oauth: Quirk = ({ record, take, warn }) => {
  const { auth } = record
  if (isObject(auth) && auth.type === undefined && (auth.CLIENT_ID !== undefined || auth.CLIENT_SECRET !== undefined)) {
    const { CLIENT_ID: clientId, CLIENT_SECRET: clientSecret, ...rest } = auth
    take('auth')
    record.oauth = withoutUndefined({ clientId, clientSecret, ...rest })
  }
  if (!isObject(record.oauth)) return
  const fields = record.oauth
  for (const field of Object.keys(fields).filter((name) => !OAUTH.includes(name)))
    warn(`oauth.${field}`, 'is not a known field and was ignored')
  record.oauth = Object.fromEntries(Object.entries(fields).filter(([name]) => OAUTH.includes(name)))
}

/** A list of names is an include list; a list with permissions is policy; manifests pass through. */
const tools: Quirk = ({ record, take, warn }) => {
  const value = record.tools
  const excluded = take('exclude_tools')
  if (isNames(excluded) && record.exclude === undefined) record.exclude = excluded
  else if (excluded !== undefined) record.exclude_tools = excluded
  if (!Array.isArray(value)) return
  if (value.length === 0) {
    take('tools')
    warn('tools', 'is empty and was ignored; switch the toolkit or its tools off here')
  } else if (isNames(value)) {
    take('tools')
    if (!value.includes('*')) record.include ??= value
  } else if (value.some((tool) => isObject(tool) && 'permission_policy' in tool)) {
    take('tools')
    warn('tools', 'was not taken over: here policy decides which calls are approved')
  }
}

const isNames = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((name) => typeof name === 'string')

const SECONDS_AT_MOST = 3600

/** Claude Code uses milliseconds and ignores values below 1000; Cline and its forks use seconds. */
const timeout: Quirk = ({ record, take, warn }) => {
  const value = record.timeout
  if (typeof value !== 'number' || !(value > 0) || record.timeouts !== undefined) return
  take('timeout')
  const isClineLike = [...APPROVALS, 'transportType', 'disabled'].some((field) => record[field] !== undefined)
  const seconds = value < 1000 || (isClineLike && value <= SECONDS_AT_MOST)
  record.timeouts = { callMs: Math.ceil(seconds ? value * 1000 : value) }
  warn('timeout', `was read as ${value} ${seconds ? 'seconds' : 'milliseconds'} for a call`)
}

// Claude Code: `alwaysLoad` tools are always in the model's context.
const alwaysLoad: Quirk = ({ record, take }) => {
  if (typeof record.alwaysLoad === 'boolean') record.deferLoading ??= take('alwaysLoad') !== true
}

/** Toolkit settings that an export and import preserve. */
export const PORTABLE_FIELDS = [
  'deferLoading',
  'allowedCallers',
  'include',
  'exclude',
  'overrides',
  'timeouts',
  'shared',
  'account',
  'protocol',
  'logLevel',
  'tools',
] as const
const OWN_FIELDS: readonly string[] = ['id', 'name', ...PORTABLE_FIELDS]

/** Settings that Loadout's own export adds. */
const loadoutFields: Quirk = ({ record, take, warn }) => {
  const value = take('loadout')
  if (!isObject(value)) return
  for (const [field, setting] of Object.entries(value)) {
    if (OWN_FIELDS.includes(field)) record[field] = setting
    else if (field === 'auth') restoreAuth(record, setting)
    else warn(`loadout.${field}`, 'is not a known field and was ignored')
  }
}

/** Moves headers that represent auth back into `auth`. */
function restoreAuth(record: JsonObject, names: unknown): void {
  if (!isObject(record.headers) || record.auth !== undefined) return
  const headers = { ...record.headers }
  const { Authorization: bearer } = headers
  if (names === 'bearer' && typeof bearer === 'string' && bearer.startsWith('Bearer ')) {
    delete headers.Authorization
    record.auth = { type: 'bearer', token: bearer.slice('Bearer '.length) }
  } else if (isNames(names)) {
    const moved = names.filter((name) => Object.hasOwn(headers, name))
    record.auth = { type: 'headers', headers: Object.fromEntries(moved.map((name) => [name, headers[name]])) }
    for (const name of moved) delete headers[name]
  }
  record.headers = headers
}

// `timeout` reads fields that `approvals` removes, so it runs first.
const QUIRKS: readonly Quirk[] = [
  otherApps,
  timeout,
  spellings,
  unsupportedFields,
  approvals,
  pairs,
  oauth,
  tools,
  alwaysLoad,
  loadoutFields,
  placeholders,
]

/** The key is the name of the toolkit, or its id when the entry has its own name. */
function setName({ record }: Draft, key: string): void {
  const named = record.name !== undefined || record.serverName !== undefined
  if (!named) record.name = key
  else if (record.id === undefined && record.slug === undefined && record.name !== key && isId(key)) record.id = key
}

const isId = (key: string) => toolkitId.safeParse(key).success
