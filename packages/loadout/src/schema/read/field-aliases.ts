/**
 * Collects the fields of a toolkit record from all accepted spellings and wrappers: the top level, `server`,
 * `connection`, `transportSpec`, `transport.spec`, `options` and `config_json`. Errors name the path as the caller
 * wrote it.
 */

import type { FieldError } from '../../errors.ts'
import { isObject } from '../../util/is-object.ts'
import type { JsonObject } from '../json.ts'

/** Canonical fields with their accepted spellings. */
export const FIELDS = {
  id: ['id', 'slug'],
  name: ['name', 'serverName'],
  enabled: ['enabled'],
  disabled: ['disabled'],
  type: ['type', 'transport', 'kind'],
  command: ['command'],
  args: ['args'],
  env: ['env'],
  cwd: ['cwd'],
  template: ['template'],
  values: ['values'],
  hosts: ['hosts'],
  url: ['url'],
  headers: ['headers'],
  auth: ['auth'],
  oauth: ['oauth'],
  tier: ['scope', 'tier'],
  tools: ['tools'],
  secrets: ['secrets'],
  deferLoading: ['deferLoading', 'defer_loading'],
  allowedCallers: ['allowedCallers', 'allowed_callers'],
  include: ['include'],
  exclude: ['exclude'],
  overrides: ['overrides'],
  timeouts: ['timeouts'],
  shared: ['shared'],
  untrusted: ['untrusted'],
  account: ['account'],
  protocol: ['protocol'],
  logLevel: ['logLevel', 'log_level'],
} as const

export type Field = keyof typeof FIELDS

export const SERVER_FIELDS: readonly Field[] = [
  'type',
  'command',
  'args',
  'env',
  'cwd',
  'template',
  'values',
  'hosts',
  'url',
  'headers',
  'auth',
  'oauth',
  'tools',
  'secrets',
]
export const WRAPPERS: readonly string[] = [
  'server',
  'connection',
  'transportSpec',
  'config_json',
  'options',
  'spec',
  'transport',
]
/** A record with one of these wrappers replaces the whole server. */
const SERVER_WRAPPERS = ['server', 'connection', 'transportSpec', 'config_json', 'transport']

export interface FieldValue {
  path: string
  value: unknown
}

export interface Collected {
  fields: Partial<Record<Field, FieldValue>>
  /** Paths of unknown fields. */
  unknown: string[]
  /** Fields with different values in two wrappers. */
  problems: FieldError[]
  wholeServer: boolean
}

export function collectFields(body: JsonObject): Collected {
  const names = new Map<string, Field>()
  for (const [field, spellings] of Object.entries(FIELDS)) for (const name of spellings) names.set(name, field as Field)
  const collected: Collected = { fields: {}, unknown: [], problems: [], wholeServer: false }
  const layers: Array<[string, JsonObject]> = [['', body]]
  for (let i = 0; i < layers.length; i++) {
    const [prefix, layer] = layers[i] as [string, JsonObject]
    for (const [key, value] of Object.entries(layer)) {
      if (value === undefined) continue
      const path = prefix + key
      const field = names.get(key)
      if (isObject(value) && WRAPPERS.includes(key)) {
        layers.push([`${path}.`, value])
        if (prefix === '' && SERVER_WRAPPERS.includes(key)) collected.wholeServer = true
      } else if (field === undefined) collected.unknown.push(path)
      else add(collected, field, { path, value })
    }
  }
  return collected
}

function add({ fields, problems }: Collected, field: Field, entry: FieldValue): void {
  const existing = fields[field]
  if (existing === undefined) fields[field] = entry
  else if (JSON.stringify(existing.value) !== JSON.stringify(entry.value))
    problems.push({
      path: entry.path,
      message: `is also given as "${existing.path}", and they differ; give one of them`,
    })
}
