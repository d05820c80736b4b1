/**
 * Reduces a manifest to its meaning. Noise is left out: the order of `enum`, `required`, `type` and alternatives, `default`
 * and `examples`, and white space in titles and descriptions. A property that is named `default` is an argument, not noise.
 */
import type { JsonObject } from '../schema/json.ts'
import type { ToolManifest } from '../schema/toolkit/tool.ts'

const NOISE = new Set(['default', 'examples', 'example'])
const WORDS = new Set(['title', 'description', '$comment'])
/** Lists whose order means nothing to a validator. */
const UNORDERED = new Set(['enum', 'required', 'type'])
const ALTERNATIVES = new Set(['anyOf', 'oneOf', 'allOf'])
/** Keywords that hold schemas by name. */
const BY_NAME = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas'])
/** Keywords that hold values, not schemas: nothing inside is noise. */
const VALUES = new Set(['const', 'enum', 'required', 'type', 'dependentRequired'])
const DEEPEST = 100

export function meaningOf(manifest: ToolManifest | JsonObject): JsonObject {
  const { name, title, description, inputSchema, outputSchema, annotations } = manifest as JsonObject
  return {
    name,
    title: words(title),
    description: words(description),
    inputSchema: schemaMeaning(inputSchema, 0),
    outputSchema: schemaMeaning(outputSchema, 0),
    annotations: hints(annotations),
  }
}

/** Missing and empty texts are equal. */
const words = (text: unknown): unknown =>
  typeof text === 'string' ? text.replace(/\s+/g, ' ').trim() || undefined : text

function hints(annotations: unknown): unknown {
  if (typeof annotations !== 'object' || annotations === null) return undefined
  const { title, ...rest } = annotations as JsonObject
  const hintFields = { ...rest, title: words(title) }
  return Object.values(hintFields).every((value) => value === undefined) ? undefined : hintFields
}

function schemaMeaning(schema: unknown, depth: number): unknown {
  if (depth > DEEPEST || typeof schema !== 'object' || schema === null) return schema
  if (Array.isArray(schema)) return schema.map((item) => schemaMeaning(item, depth + 1))
  const entries = Object.entries(schema).filter(([key]) => !NOISE.has(key))
  return Object.fromEntries(entries.map(([key, value]) => [key, keywordMeaning(key, value, depth + 1)]))
}

function keywordMeaning(key: string, value: unknown, depth: number): unknown {
  if (WORDS.has(key)) return words(value)
  if (BY_NAME.has(key)) return byName(value, depth)
  if (Array.isArray(value)) {
    if (UNORDERED.has(key)) return unordered(key, value)
    if (ALTERNATIVES.has(key)) return sorted(value.map((item) => schemaMeaning(item, depth)))
  }
  return VALUES.has(key) ? value : schemaMeaning(value, depth)
}

function byName(value: unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, schema]) => [name, schemaMeaning(schema, depth + 1)]))
}

/** An empty `required` means the same as none. */
const unordered = (key: string, value: readonly unknown[]) =>
  key === 'required' && value.length === 0 ? undefined : sorted(value)

/** Unique values in canonical order. */
const sorted = (values: readonly unknown[]) =>
  [...new Map(values.map((value) => [canonical(value), value])).entries()]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, value]) => value)

/** JSON with sorted keys, because a database may return keys in another order. */
export function canonical(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  const entries = Object.entries(value).filter(([, inner]) => inner !== undefined)
  entries.sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${entries.map(([key, inner]) => `${JSON.stringify(key)}:${canonical(inner)}`).join(',')}}`
}
