import { z } from 'zod'
import { type FieldError, HostError } from '../errors.ts'

// Not recursive: a schema checks nested values before they are used, and tsc stays fast.
export type Json = unknown
export type JsonObject = Record<string, unknown>

const FORBIDDEN_KEYS = new Set(['__proto__', 'constructor', 'prototype'])
const MAX_DEPTH = 64

/** Any JSON value. `assertPlainJson` walks it at the API boundary, so this schema does not walk it again. */
export const json = z.unknown()

export const jsonObject = z.record(z.string(), z.unknown(), 'must be a JSON object')

/** JSON Schema of an object: the input of a tool. The SQL column has the same check. */
export const objectSchema = jsonObject.refine(
  (value) => value.type === 'object',
  'must be a JSON Schema with "type": "object"',
)

/** Parses external JSON text. Rejects prototype keys and deep nesting with the path of the problem. */
export function parseJson(text: string): Json {
  let value: Json
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw new HostError('invalid-json', { detail: 'The body is not valid JSON.', cause })
  }
  assertPlainJson(value)
  return value
}

export function assertPlainJson(value: unknown): void {
  const found = findUnsafe(value, [], 0)
  if (found) throw invalidFields([found])
}

function findUnsafe(value: unknown, path: string[], depth: number): FieldError | undefined {
  if (typeof value === 'string') return textProblem(value, path)
  if (typeof value !== 'object' || value === null) return undefined
  if (depth > MAX_DEPTH) return { path: pathText(path.slice(0, 8)), message: `is nested deeper than ${MAX_DEPTH}` }
  for (const key of Object.keys(value)) {
    const here = [...path, key]
    // "constructor" and "prototype" are valid names inside a JSON Schema's properties; `__proto__` never is.
    if (key === '__proto__') return { path: pathText(here), message: 'is a key that is never accepted; rename it' }
    const found = textProblem(key, here) ?? findUnsafe((value as Record<string, unknown>)[key], here, depth + 1)
    if (found) return found
  }
  return undefined
}

// Databases reject both, and a terminal or a model may misread them.
function textProblem(text: string, path: string[]): FieldError | undefined {
  if (text.includes('\0')) return { path: pathText(path), message: 'holds a NUL character' }
  return text.isWellFormed()
    ? undefined
    : { path: pathText(path), message: 'holds half a character (a lone surrogate)' }
}

/** Record with external keys: rejects keys with a meaning in JavaScript and keys that do not match `keys.form`. */
export function safeRecord<T extends z.ZodType>(value: T, { maxEntries = 200, keys }: RecordRules = {}) {
  return z.record(z.string().min(1).max(200), value).superRefine((record, context) => {
    const problem = (key: string, message: string) => context.addIssue({ code: 'custom', path: [key], message })
    const names = Object.keys(record)
    if (names.length > maxEntries) context.addIssue({ code: 'custom', message: `has more than ${maxEntries} entries` })
    for (const name of names) {
      if (FORBIDDEN_KEYS.has(name)) problem(name, 'is a name that is never accepted; choose another')
      else if (keys && !keys.form.test(name)) problem(name, keys.message)
    }
  })
}

interface RecordRules {
  maxEntries?: number
  keys?: { form: RegExp; message: string }
}

/** Parses with a schema, or throws `invalid-input` with an error per field. */
export function parse<T extends z.ZodType>(
  schema: T,
  value: unknown,
  prefix: readonly PropertyKey[] = [],
): z.output<T> {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  throw invalidInput(result.error, prefix)
}

export function invalidInput(error: z.ZodError, prefix: readonly PropertyKey[] = []): HostError {
  return invalidFields(error.issues.flatMap((issue) => fieldErrors(issue, prefix)))
}

const MAX_ERRORS = 50

/** `invalid-input` error by field. The list is capped, and values are not repeated. */
export function invalidFields(problems: readonly FieldError[]): HostError {
  const errors = problems
    .slice(0, MAX_ERRORS)
    .map(({ path, message }) => ({ path: path.slice(0, 300), message: message.slice(0, 500) }))
  const more = problems.length > MAX_ERRORS ? `; and ${problems.length - MAX_ERRORS} more` : ''
  return new HostError('invalid-input', {
    detail: `${errors.map((e) => `${e.path}: ${e.message}`).join('; ')}${more}`,
    errors,
  })
}

function fieldErrors(issue: z.core.$ZodIssue, prefix: readonly PropertyKey[]): FieldError[] {
  const path = [...prefix, ...issue.path]
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map((key) => ({ path: dotted([...path, key]), message: 'is not a known field' }))
  // When every branch of a union fails, report the branch that matched deepest.
  if (issue.code === 'invalid_union' && issue.errors.length > 0) {
    const best = issue.errors.reduce((a, b) => (depthOf(b) > depthOf(a) ? b : a))
    if (depthOf(best) > 0) return best.flatMap((inner) => fieldErrors(inner, path))
  }
  return [{ path: dotted(path), message: issue.message }]
}

const depthOf = (issues: readonly z.core.$ZodIssue[]) => Math.max(0, ...issues.map((issue) => issue.path.length))

const pathText = (path: readonly string[]) => (path.length === 0 ? '(body)' : path.join('.').slice(0, 300))

const dotted = (path: readonly PropertyKey[]) => (path.length === 0 ? '(body)' : path.map(String).join('.'))

// Databases may return keys in another order.
export const sameJson = (a: unknown, b: unknown): boolean => canonicalJson(a) === canonicalJson(b)
/** Same text for the same value, for any key order. */
export const canonicalJson = (value: unknown): string =>
  JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  )
