import { z } from 'zod'
import { type FieldError, HostError } from '../errors.ts'

// Not recursive on purpose: what is inside is checked by a schema before it is used, and tsc stays fast.
export type Json = unknown
export type JsonObject = Record<string, unknown>

const FORBIDDEN_KEYS = new Set(['__proto__', 'constructor', 'prototype'])
const MAX_DEPTH = 64

/** Any JSON value. Walked by `assertPlainJson` at the door, so it need not be walked again here. */
export const json = z.unknown()

export const jsonObject = z.record(z.string(), z.unknown(), 'must be a JSON object')

/** A JSON Schema for an object: what a tool takes. The same check stands on the column in SQL. */
export const objectSchema = jsonObject.refine(
  (value) => value.type === 'object',
  'must be a JSON Schema with "type": "object"',
)

/** Parse JSON text from outside; a value that could reach a prototype, or a pit of nesting, is refused by its place. */
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
    // "constructor" and "prototype" are honest names inside a JSON Schema's properties; only __proto__ never is.
    if (key === '__proto__') return { path: pathText(here), message: 'is a key that is never accepted; rename it' }
    const found = textProblem(key, here) ?? findUnsafe((value as Record<string, unknown>)[key], here, depth + 1)
    if (found) return found
  }
  return undefined
}

// Databases refuse both, and a terminal or a model may read them as something else.
function textProblem(text: string, path: string[]): FieldError | undefined {
  if (text.includes('\0')) return { path: pathText(path), message: 'holds a NUL character' }
  return text.isWellFormed()
    ? undefined
    : { path: pathText(path), message: 'holds half a character (a lone surrogate)' }
}

/** A record whose keys come from outside: none that means something to JavaScript, each of the given form. */
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

/** Parse with a schema, or throw an `invalid-input` whose `errors` name every field. */
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

/** The error of an input by its fields. A long list is cut: what is wrong is told, not echoed. */
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
  // A union that fails everywhere: the branch that came furthest says what is meant.
  if (issue.code === 'invalid_union' && issue.errors.length > 0) {
    const best = issue.errors.reduce((a, b) => (depthOf(b) > depthOf(a) ? b : a))
    if (depthOf(best) > 0) return best.flatMap((inner) => fieldErrors(inner, path))
  }
  return [{ path: dotted(path), message: issue.message }]
}

const depthOf = (issues: readonly z.core.$ZodIssue[]) => Math.max(0, ...issues.map((issue) => issue.path.length))

const pathText = (path: readonly string[]) => (path.length === 0 ? '(body)' : path.join('.').slice(0, 300))

const dotted = (path: readonly PropertyKey[]) => (path.length === 0 ? '(body)' : path.map(String).join('.'))

// A database may give keys back in another order.
export const sameJson = (a: unknown, b: unknown): boolean => canonicalJson(a) === canonicalJson(b)
/** The same text for the same value, whatever the order of its keys. */
export const canonicalJson = (value: unknown): string =>
  JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  )
