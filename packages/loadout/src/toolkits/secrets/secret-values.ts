/**
 * Decides which values of a toolkit are masked in errors, results, logs and the audit log. Every environment and header
 * value is encrypted at rest; only values that are secret by declaration, name or form are masked in texts. URLs,
 * hosts, paths, user names and switches stay readable, and so do values below eight characters or without entropy,
 * unless their field is declared secret.
 */
import type { Server } from '../../schema/toolkit/server.ts'
import { isSecretName, isStrong, keyFormsIn, looksSecret } from './looks-secret.ts'
import { maskUrl, PLACEHOLDER } from './url-secrets.ts'

const NAMED = /^(?:env|headers|values)\.(.+)$/s
/** Fields that contain only a secret: tokens, client secrets, a custom toolkit's secrets, secret inputs. */
const DECLARED = /^(?:secrets\.|auth\.(?!headers\.)|(?:args|url)\.input\d+$)/
const CONTEXT_PREFIX = 'carried.'
const MIN_DECLARED_LENGTH = 4
const PATH = /^(?:\/|~\/|\.{1,2}\/|[A-Za-z]:\\)/
const MAX_JSON_LENGTH = 64 * 1024
const MAX_JSON_DEPTH = 8
/** `Server=db;Password=hunter22;` */
const PAIR = /(?:^|[;\s])([\w -]{1,60})=([^;\s]+)/g

/** Texts to mask. `opened` has the values by field. */
export function secretValues(opened: Readonly<Record<string, string>>): readonly string[] {
  return [...new Set(Object.entries(opened).flatMap(([field, value]) => secretsIn(field, value)))]
}

/** Whether a stored field counts as a secret by its name: `PATH` in `env` does not. */
export function isSecretField(field: string): boolean {
  const path = withoutContextPrefix(field)
  const name = NAMED.exec(path)?.[1]
  return name === undefined || isSecretName(name)
}

/** Fields whose placeholders are secrets, without duplicates. */
export const secretFieldsOf = (server: Server): string[] =>
  [...new Set([...JSON.stringify(server).matchAll(PLACEHOLDER)].map(([, field = '']) => field))].filter(isSecretField)

const withoutContextPrefix = (field: string) =>
  field.startsWith(CONTEXT_PREFIX) ? field.slice(CONTEXT_PREFIX.length) : field

function secretsIn(field: string, value: string): string[] {
  const path = withoutContextPrefix(field)
  if (DECLARED.test(path)) return value.length >= MIN_DECLARED_LENGTH ? [value] : []
  const name = NAMED.exec(path)?.[1]
  // An argument, URL part or sign-in header was extracted because it looked like a secret.
  const named = valueSecrets(value, name === undefined || isSecretName(name), 0)
  // A key inside an option or a sentence is a secret without its neighbors, too.
  return [...named, ...keyFormsIn(value)]
}

function valueSecrets(value: string, isNamed: boolean, depth: number): string[] {
  const url = secretsOfUrl(value)
  if (url !== undefined) return url
  const inside = insideJson(value, depth) ?? insidePairs(value)
  if (isNamed) return isStrong(value) && !isPath(value) ? [value, ...inside] : inside
  return [...linesOf(value).filter(looksSecret), ...inside]
}

/** A URL stays readable except for its credentials. */
function secretsOfUrl(value: string): string[] | undefined {
  if (!/^[a-z][a-z0-9+.-]*:\/\/\S+$/i.test(value)) return undefined
  const parts: string[] = []
  const take = (part: string) => {
    parts.push(part)
    return ''
  }
  return maskUrl(value, take) === undefined ? undefined : parts.filter(isStrong)
}

/** JSON such as a service account key file: its own keys say which values are secret. */
function insideJson(value: string, depth: number): string[] | undefined {
  if (!/^\s*[{[]/.test(value) || value.length > MAX_JSON_LENGTH) return undefined
  try {
    return jsonSecrets(JSON.parse(value), '', depth)
  } catch {
    return undefined
  }
}

function jsonSecrets(value: unknown, name: string, depth: number): string[] {
  if (depth > MAX_JSON_DEPTH) return []
  if (typeof value === 'string') return valueSecrets(value, isSecretName(name), depth + 1)
  if (Array.isArray(value)) return value.flatMap((item) => jsonSecrets(item, name, depth + 1))
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, inner]) => jsonSecrets(inner, key, depth + 1))
}

const insidePairs = (value: string): string[] =>
  [...value.slice(0, MAX_JSON_LENGTH).matchAll(PAIR)]
    .filter(([, name = '', text = '']) => isSecretName(name) && isStrong(text))
    .map(([, , text = '']) => text)

const linesOf = (value: string) =>
  value.includes('PRIVATE KEY-----') ? [value] : value.split(/\r?\n/).map((line) => line.trim())

/** Base64 may begin with a slash too. */
const isPath = (value: string) => PATH.test(value) && !value.split(/[\\/]/).some(looksSecret)
