/**
 * Finds the inputs of a config: its `${…}` variables. One name has one value in all positions. Values never come from
 * the environment or file system; an input without a value is missing.
 */

import { invalidFields, type JsonObject } from '../../schema/json.ts'
import { WRAPPERS } from '../../schema/read/field-aliases.ts'
import type { ImportInput } from '../../schema/records/import-report.ts'
import { isObject } from '../../util/is-object.ts'
import { isSecretName, looksSecret } from '../secrets/looks-secret.ts'
import { readVariables, type Variable, variablesIn } from './variables.ts'

/** Location of a text in a record. */
export interface TextLocation {
  /** `env.GITHUB_TOKEN` */
  path: string
  /** `env` */
  field: string
}

const VALUE_FIELDS = new Set(['command', 'args', 'env', 'cwd', 'values', 'url', 'headers', 'auth', 'oauth'])
// The toolkit reader rejects longer texts, so they are not scanned here.
const MAX_TEXT_LENGTH = 8192

type MapText = (text: string, location: TextLocation) => string

/** Maps each text that may contain variables. Names, manifests and code are skipped. */
export function mapTexts(record: JsonObject, map: MapText, prefix = ''): JsonObject {
  return Object.fromEntries(
    Object.entries(record).map(([key, value]) => {
      const path = prefix + key
      if (VALUE_FIELDS.has(key)) return [key, mapAll(value, { path, field: key }, map)]
      const inner = isObject(value) && WRAPPERS.includes(key) ? mapTexts(value, map, `${path}.`) : value
      return [key, inner]
    }),
  )
}

function mapAll(value: unknown, location: TextLocation, map: MapText): unknown {
  if (typeof value === 'string')
    return value.length <= MAX_TEXT_LENGTH && value.includes('${') ? map(value, location) : value
  const child = (key: string) => ({ ...location, path: `${location.path}.${key}` })
  if (Array.isArray(value)) return value.map((item, index) => mapAll(item, child(String(index)), map))
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, mapAll(item, child(key), map)]))
}

/** Declaration of an input (VS Code: `inputs`). */
export interface DeclaredInput {
  description?: string
  default?: string
  password: boolean
  options?: string[]
}

// A declaration is repeated in every entry that uses it, so its texts are capped.
const MAX_DECLARED = 1000
const MAX_OPTIONS = 20
const MAX_OPTION_LENGTH = 50
const MAX_REPORTED_LENGTH = 300

export function readDeclared(inputs: unknown): { declared: Map<string, DeclaredInput>; warnings: string[] } {
  const declared = new Map<string, DeclaredInput>()
  const warnings: string[] = []
  for (const input of Array.isArray(inputs) ? inputs.slice(0, MAX_DECLARED) : []) {
    if (!isObject(input) || typeof input.id !== 'string') continue
    if (input.type === 'command')
      warnings.push(`The input "${input.id.slice(0, 80)}" is made by a command, which is not run; give its value`)
    const options = Array.isArray(input.options) ? input.options.map(optionOf).filter((option) => option !== '') : []
    declared.set(input.id, {
      password: input.password === true,
      ...(typeof input.description === 'string'
        ? { description: input.description.slice(0, MAX_REPORTED_LENGTH) }
        : {}),
      ...(isDefault(input.default) ? { default: input.default } : {}),
      ...(options.length > 0 ? { options: options.slice(0, MAX_OPTIONS) } : {}),
    })
  }
  return { declared, warnings }
}

const optionOf = (option: unknown) => {
  const value = isObject(option) ? option.value : option
  return typeof value === 'string' ? value.slice(0, MAX_OPTION_LENGTH) : ''
}

const isDefault = (value: unknown): value is string => typeof value === 'string' && value.length <= MAX_TEXT_LENGTH

/** An input with its default, also when the default is secret. */
export interface DetectedInput extends ImportInput {
  fallback: string | undefined
}

/** Name of the input for a variable. A stored-secret placeholder refers only to its own entry. */
export const inputName = (variable: Variable, entry: string) =>
  variable.name !== undefined && variable.isSecretRef ? `${entry.slice(0, 100)}.${variable.name}` : variable.name

const MAX_INPUTS = 50
const MAX_PATHS = 50
const MAX_PATH_LENGTH = 300

/** Inputs of one entry, by name. */
export function findInputs(
  record: JsonObject,
  { entry, declared }: { entry: string; declared: ReadonlyMap<string, DeclaredInput> },
): Map<string, DetectedInput> {
  const inputs = new Map<string, DetectedInput>()
  mapTexts(record, (text, location) => {
    for (const variable of variablesIn(readVariables(text).parts)) {
      const name = inputName(variable, entry)
      if (name === undefined) continue
      const declaration = variable.isSecretRef ? undefined : declared.get(name)
      const fallback = plainFallback(variable) ?? declaration?.default
      const input = inputs.get(name) ?? {
        name,
        ...(declaration?.description === undefined ? {} : { description: declaration.description }),
        ...(declaration?.options === undefined ? {} : { options: declaration.options }),
        secret: variable.isSecretRef || declaration?.password === true || isSecretName(name),
        places: [],
        fallback,
      }
      input.fallback ??= fallback
      input.secret ||= isSecretLocation(location) || (fallback !== undefined && looksSecret(fallback))
      const path = location.path.slice(0, MAX_PATH_LENGTH)
      if (input.places.length < MAX_PATHS && !input.places.includes(path)) input.places.push(path)
      inputs.set(name, input)
      if (inputs.size > MAX_INPUTS)
        throw invalidFields([{ path: '(body)', message: `asks for more than ${MAX_INPUTS} inputs` }])
    }
    return text
  })
  return inputs
}

function plainFallback({ fallback }: Variable): string | undefined {
  return fallback?.every((part) => typeof part === 'string') ? fallback.join('') : undefined
}

function isSecretLocation({ field, path }: TextLocation): boolean {
  if (field === 'auth') return !/\.(type|clientId|client_id|scopes?)(\.|$)/.test(path)
  return ['env', 'headers', 'oauth'].includes(field) && isSecretName(path.slice(path.lastIndexOf('.') + 1))
}

/** Input for the report. The default of a secret is omitted. */
export function toImportInput({ fallback, ...input }: DetectedInput): ImportInput {
  const includesDefault = !input.secret && fallback !== undefined && fallback.length <= MAX_REPORTED_LENGTH
  return includesDefault ? { ...input, default: fallback } : input
}
