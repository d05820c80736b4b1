/**
 * Reads fields of apps with other names: Zed, Codex, Gemini CLI, Goose, OpenCode, Crush, Continue, Warp, mcpproxy.
 * Environment variable names become inputs (`${NAME}`); the environment is never read.
 */

import { invalidFields, type JsonObject } from '../../schema/json.ts'
import { PROTOCOLS } from '../../schema/toolkit/toolkit.ts'
import { isObject } from '../../util/is-object.ts'

const RENAMED: Record<string, string> = {
  httpUrl: 'url',
  uri: 'url',
  cmd: 'command',
  envs: 'env',
  environment: 'env',
  http_headers: 'headers',
  working_directory: 'cwd',
  working_dir: 'cwd',
  enabled_tools: 'include',
  includeTools: 'include',
  available_tools: 'include',
  disabled_tools: 'exclude',
  disabledTools: 'exclude',
  excludeTools: 'exclude',
}
/** Fields that only their own app uses. */
const IGNORED = ['source', 'start_on_launch', 'bundled', 'display_name']
/** Goose extension types that are part of Goose. */
const BUILT_IN = new Set(['builtin', 'platform', 'frontend', 'inline_python'])

export function readOtherFields(record: JsonObject): void {
  if (typeof record.type === 'string' && BUILT_IN.has(record.type))
    throw invalidFields([{ path: 'type', message: `is "${record.type}", which is part of its app and no server` }])
  const old = record.command
  // Zed wrote a command as an object; OpenCode and Crush write it as a list.
  if (isObject(old)) {
    delete record.command
    for (const [from, to] of Object.entries({ path: 'command', args: 'args', env: 'env' }))
      if (old[from] !== undefined) record[to] ??= old[from]
  } else if (Array.isArray(old)) {
    const [command, ...args] = old
    Object.assign(record, { command, args: [...args, ...(Array.isArray(record.args) ? record.args : [])] })
  }
  for (const [theirs, ours] of Object.entries(RENAMED)) move(record, theirs, ours)
  // mcpproxy names the transport `protocol`, which is the era in a record of Loadout.
  if (!isEra(record.protocol)) move(record, 'protocol', 'type')
  for (const field of IGNORED) if (record.command !== undefined || record.url !== undefined) delete record[field]
  const { requestOptions } = record
  if (isObject(requestOptions) && isObject(requestOptions.headers)) {
    delete record.requestOptions
    record.headers ??= requestOptions.headers
  }
  if (record.command === undefined && record.url === undefined && isObject(record.settings))
    throw invalidFields([{ path: 'settings', message: 'belongs to an extension of its app, which names no server' }])
  readVariables(record)
  readSeconds(record)
}

const isEra = (value: unknown) => (PROTOCOLS as readonly unknown[]).includes(value)

function move(record: JsonObject, theirs: string, ours: string): void {
  if (record[theirs] === undefined || record[ours] !== undefined) return
  record[ours] = record[theirs]
  delete record[theirs]
}

/** Codex and Goose list environment variable names. */
function readVariables(record: JsonObject): void {
  const { bearer_token_env_var: bearer, env_http_headers: headers, env_vars: variables, env_keys: keys } = record
  if (typeof bearer === 'string') add(record, 'headers', ['Authorization', `Bearer \${${bearer}}`])
  if (isObject(headers))
    for (const [header, name] of Object.entries(headers)) add(record, 'headers', [header, `\${${String(name)}}`])
  for (const list of [variables, keys])
    if (Array.isArray(list))
      for (const name of list) if (typeof name === 'string') add(record, 'env', [name, `\${${name}}`])
  for (const field of ['bearer_token_env_var', 'env_http_headers', 'env_vars', 'env_keys']) delete record[field]
}

function add(record: JsonObject, field: 'env' | 'headers', [name, value]: [name: string, value: string]): void {
  const existing = isObject(record[field]) ? record[field] : {}
  record[field] = Object.hasOwn(existing, name) ? existing : { ...existing, [name]: value }
}

/** Codex timeouts are in seconds. */
function readSeconds(record: JsonObject): void {
  const { startup_timeout_sec: start, tool_timeout_sec: call } = record
  const ms = (value: unknown) => (typeof value === 'number' && value > 0 ? Math.ceil(value * 1000) : undefined)
  const timeouts = {
    ...(ms(start) === undefined ? {} : { connectMs: ms(start), introspectMs: ms(start) }),
    ...(ms(call) === undefined ? {} : { callMs: ms(call) }),
  }
  if (Object.keys(timeouts).length > 0) record.timeouts ??= timeouts
  for (const field of ['startup_timeout_sec', 'startup_timeout_ms', 'tool_timeout_sec']) delete record[field]
}

const OTHER_VARIABLES = [
  // OpenCode
  /(?<!\$)\{env:([A-Za-z_][\w.-]{0,100})\}/g,
  // Continue
  /\$\{\{\s*(?:secrets\.)?([A-Za-z_][\w.-]{0,100})\s*\}\}/g,
  // mcpproxy
  /\$\{keyring:([A-Za-z_][\w.-]{0,100})\}/g,
]

/** Converts variables of other apps to `${NAME}`. */
export function inOurSpelling(value: unknown): unknown {
  if (typeof value === 'string')
    return OTHER_VARIABLES.reduce((text, form) => text.replaceAll(form, (_, name: string) => `\${${name}}`), value)
  if (Array.isArray(value)) return value.map(inOurSpelling)
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, inOurSpelling(inner)]))
}

/** Gemini CLI and Crush: `$NAME` without braces. Elsewhere a `$` is a literal. */
export function withBraces(value: unknown): unknown {
  if (typeof value === 'string') return /^\$[A-Za-z_]\w*$/.test(value) ? `\${${value.slice(1)}}` : value
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, withBraces(inner)]))
}
