/** Converts the field values of all source formats to those of the schemas. */

import { isObject } from '../../util/is-object.ts'
import { invalidInput, type JsonObject } from '../json.ts'
import { toolManifest } from '../toolkit/tool.ts'
import type { Collected, FieldValue } from './field-aliases.ts'

const CALLERS: Record<string, string> = {
  direct: 'direct',
  code: 'code',
  code_execution_20250825: 'code',
  code_execution_20260120: 'code',
  code_execution_20260521: 'code',
  programmatic: 'code',
}

// A WebSocket URL becomes the URL of its Streamable HTTP successor.
export const readUrl = (value: unknown) =>
  typeof value === 'string' ? value.replace(/^ws(s?):\/\//i, 'http$1://') : value

// Source 000: tools by name; source 001: per-tool settings in snake case.
export function readToolValues(value: unknown): unknown {
  const tools = isObject(value)
    ? Object.entries(value).map(([name, tool]) => (isObject(tool) ? { name, ...tool } : tool))
    : value
  return Array.isArray(tools) ? tools.map(readTool) : tools
}

const ONE_TOOL = ['defer_loading', 'allowed_callers', 'allowedCallers']

function readTool(value: unknown): unknown {
  if (!isObject(value) || !ONE_TOOL.some((field) => field in value)) return value
  const { defer_loading, allowed_callers, ...tool } = value
  return withoutUndefined({
    ...tool,
    deferLoading: tool.deferLoading ?? defer_loading,
    allowedCallers: readCallers(tool.allowedCallers ?? allowed_callers),
  })
}

/** Overrides by tool name. Settings in the tool list have lower precedence than `overrides`. */
export function readOverrides(value: unknown, listed?: unknown): unknown {
  if (value !== undefined && !isObject(value)) return value
  const overrides = Object.entries(value ?? {}).map(([name, override]) => [name, readTool(override)] as const)
  const listedOverrides = (Array.isArray(listed) ? listed : []).flatMap((tool) => {
    if (!isObject(tool) || typeof tool.name !== 'string') return []
    const { name, deferLoading, allowedCallers } = tool
    const own = withoutUndefined({ deferLoading, allowedCallers })
    return Object.keys(own).length === 0 ? [] : [[name, own] as const]
  })
  if (value === undefined && listedOverrides.length === 0) return undefined
  const merged = new Map<string, unknown>(listedOverrides)
  for (const [name, override] of overrides)
    merged.set(name, isObject(override) ? { ...(merged.get(name) ?? {}), ...override } : override)
  return Object.fromEntries(merged)
}

/** Declared manifests avoid a discovery. Invalid ones are skipped with a warning that names their path. */
export function readDeclaredTools(field: FieldValue | undefined): { tools: unknown; skipped: string[] } {
  const listed = readToolValues(field?.value)
  if (field === undefined || !Array.isArray(listed)) return { tools: listed, skipped: [] }
  const skipped: string[] = []
  const tools = listed.filter((tool, index) => {
    const { success, error } = toolManifest.safeParse(tool)
    if (error)
      skipped.push(`"${toolPath(field, index)}" cannot be used and was left out: ${invalidInput(error).message}`)
    return success
  })
  return { tools: tools.length === 0 && skipped.length > 0 ? undefined : tools, skipped }
}

/** `tools.search` when the caller wrote tools by name, else `tools.0`. */
export function toolPath({ path, value }: FieldValue, index: number | string): string {
  const key = isObject(value) ? Object.keys(value)[Number(index)] : undefined
  return `${path}.${key ?? index}`
}

// Source 002: args as one comma-separated string.
export function readArgs(value: unknown): unknown {
  if (typeof value !== 'string') return value
  return value.trim() === '' ? [] : value.split(',').map((part) => part.trim())
}

// Source 002: `KEY=value` lines; source 000: numbers and booleans become strings.
export function readPairs(value: unknown, divider: '=' | ':'): unknown {
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

export function readAuth(fields: Collected['fields']): unknown {
  const { auth, oauth } = fields
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

export function readCallers(value: unknown): unknown {
  if (!Array.isArray(value)) return value
  return [
    ...new Set(value.map((item) => (typeof item === 'string' && Object.hasOwn(CALLERS, item) ? CALLERS[item] : item))),
  ]
}

const isScalar = (value: unknown) => ['string', 'number', 'boolean'].includes(typeof value)
export const withoutUndefined = (record: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined))
