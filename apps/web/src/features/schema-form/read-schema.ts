/**
 * Converts a third-party JSON Schema for the form, or explains why it cannot.
 * - The result is bounded (depth, schemas, expanded references) and has only known keywords.
 * - Every reference points into its own `$defs`; an unresolvable one accepts any JSON.
 * - The result is for display only: validation uses the original schema.
 */
import type { RJSFSchema } from '@rjsf/utils'
import { ANY, alternativesOf, byType, NAME, typesOf } from './alternatives.ts'
import { expandedSize } from './expanded-size.ts'
import { fits, isRecord, type JsonRecord, readKeywords } from './keywords.ts'
import { pointTo } from './point-to.ts'

export type ReadSchema = { ok: true; schema: RJSFSchema } | { ok: false; reason: string }

const MAX_DEPTH = 24
const MAX_SCHEMAS = 1500
const MAX_EXPANDED = 4000
/** Property names that are unsafe on plain form objects. */
const ODD_NAMES = new Set(['__proto__', '__errors'])

class TooMuch extends Error {}

export function readSchema(input: unknown): ReadSchema {
  if (input === true) return { ok: true, schema: { ...ANY } as RJSFSchema }
  if (!isRecord(input)) return { ok: false, reason: 'It is not a schema.' }
  try {
    const reading = new Reading(input)
    const { title: _, description: __, ...root } = reading.root()
    const schema = { ...root, $defs: reading.defs }
    if (expandedSize(schema, MAX_EXPANDED) === undefined) throw new TooMuch('Its references lead to too many fields.')
    return { ok: true, schema: schema as RJSFSchema }
  } catch (error) {
    if (error instanceof TooMuch) return { ok: false, reason: error.message }
    throw error
  }
}

class Reading {
  readonly defs: JsonRecord = {}
  private readonly source: JsonRecord
  private readonly names = new Map<string, string>()
  private left = MAX_SCHEMAS

  constructor(source: JsonRecord) {
    this.source = source
  }

  root(): JsonRecord {
    return this.node(this.source, { depth: 0, required: true })
  }

  private node(schema: unknown, at: { depth: number; required: boolean }): JsonRecord {
    if (--this.left < 0) throw new TooMuch('It has too many fields.')
    if (at.depth > MAX_DEPTH) throw new TooMuch('Its fields lie too deep inside one another.')
    if (!isRecord(schema)) return { ...ANY }
    const keywords = { ...readKeywords(schema), ...this.children(schema, at.depth + 1) }
    if (typeof schema.$ref === 'string') return this.reference(schema.$ref, keywords, at.depth)
    const { types, nullable } = typesOf(schema)
    // For an optional nullable field, absent means the same as null.
    if (types.length > 1 || (nullable && at.required && types.length > 0)) return byType(keywords, types, nullable)
    return typed(alternativesOf(keywords, at.required), types[0] ?? (nullable ? 'null' : undefined))
  }

  private reference(ref: string, keywords: JsonRecord, depth: number): JsonRecord {
    const target = pointTo(this.source, ref)
    if (target === undefined) return { ...ANY, ...labels(keywords) }
    let name = this.names.get(ref)
    if (name === undefined) {
      name = `ref${this.names.size}`
      this.names.set(ref, name)
      this.defs[name] = this.node(target, { depth: depth + 1, required: true })
    }
    return { ...keywords, [NAME]: nameIn(ref), $ref: `#/$defs/${name}` }
  }

  private children(schema: JsonRecord, depth: number): JsonRecord {
    const readNode = (value: unknown, required = true) => this.node(value, { depth, required })
    const list = (value: unknown) => (Array.isArray(value) ? value.map((item) => readNode(item)) : undefined)
    // A referenced schema takes its title from the property name.
    const property = (value: unknown, name: string) => {
      const read = readNode(value, needed.has(name))
      return '$ref' in read && read.title === undefined ? { ...read, title: name } : read
    }
    const needed = new Set(Array.isArray(schema.required) ? schema.required : [])
    const map = (value: unknown) => (isRecord(value) ? this.named(value, property) : undefined)
    const found: JsonRecord = {
      properties: requiredFirst(map(schema.properties), needed),
      patternProperties: map(schema.patternProperties),
      additionalProperties: isRecord(schema.additionalProperties)
        ? readNode(schema.additionalProperties)
        : schema.additionalProperties === true
          ? { ...ANY }
          : undefined,
      ...tuple(schema, readNode),
      allOf: list(schema.allOf),
      anyOf: list(schema.anyOf),
      oneOf: list(schema.oneOf),
      ...conditions(schema, readNode),
      dependencies: map(schema.dependentSchemas),
    }
    return Object.fromEntries(Object.entries(found).filter(([, value]) => value !== undefined))
  }

  private named(value: JsonRecord, read: (item: unknown, name: string) => JsonRecord): JsonRecord {
    const entries = Object.entries(value).filter(([, item]) => item !== false)
    if (entries.some(([name]) => ODD_NAMES.has(name))) throw new TooMuch('It has a field with a reserved name.')
    return Object.fromEntries(entries.map(([name, item]) => [name, read(item, name)]))
  }
}

/** Required properties come first, because storage may reorder keys. */
function requiredFirst(properties: JsonRecord | undefined, needed: ReadonlySet<unknown>): JsonRecord | undefined {
  if (!properties) return undefined
  const entries = Object.entries(properties)
  const isNeeded = ([name]: [string, unknown]) => needed.has(name)
  return Object.fromEntries([...entries.filter(isNeeded), ...entries.filter((entry) => !isNeeded(entry))])
}

/** The form library knows only the older tuple keywords. */
function tuple(schema: JsonRecord, readNode: (value: unknown) => JsonRecord): JsonRecord {
  const first = Array.isArray(schema.prefixItems)
    ? schema.prefixItems
    : Array.isArray(schema.items)
      ? schema.items
      : undefined
  if (!first) return schema.items === undefined || schema.items === false ? {} : { items: readNode(schema.items) }
  const rest = Array.isArray(schema.prefixItems) ? schema.items : schema.additionalItems
  return { items: first.map(readNode), additionalItems: isRecord(rest) ? readNode(rest) : false }
}

const conditions = (schema: JsonRecord, readNode: (value: unknown) => JsonRecord): JsonRecord =>
  Object.fromEntries(
    ['if', 'then', 'else'].flatMap((key) => (isRecord(schema[key]) ? [[key, readNode(schema[key])]] : [])),
  )

const labels = ({ title, description }: JsonRecord): JsonRecord => ({
  ...(title === undefined ? {} : { title }),
  ...(description === undefined ? {} : { description }),
})

/** Adds a guessed type if none is declared, or accepts any JSON. */
function typed(keywords: JsonRecord, declaredType: string | undefined): JsonRecord {
  const type = declaredType ?? guess(keywords)
  const combined = ['$ref', 'allOf', 'anyOf', 'oneOf', 'enum', 'if'].some((key) => key in keywords)
  if (
    type === 'object' &&
    !combined &&
    !['properties', 'additionalProperties', 'patternProperties'].some((key) => key in keywords)
  )
    return { ...ANY, ...labels(keywords), ...(isRecord(keywords.default) ? { default: keywords.default } : {}) }
  if (type === 'array' && !combined && keywords.items === undefined) return { ...keywords, type, items: { ...ANY } }
  if (type === undefined) return combined ? keywords : { ...keywords, ...ANY }
  const { default: defaultValue, ...rest } = keywords
  return { ...rest, type, ...(defaultValue !== undefined && fits(defaultValue, type) ? { default: defaultValue } : {}) }
}

const HINTS: ReadonlyArray<[type: string, keywords: readonly string[]]> = [
  ['object', ['properties', 'additionalProperties', 'patternProperties']],
  ['array', ['items', 'minItems', 'maxItems', 'uniqueItems']],
  ['string', ['minLength', 'maxLength', 'format']],
  ['number', ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf']],
]

const guess = (found: JsonRecord): string | undefined =>
  HINTS.find(([, keywords]) => keywords.some((key) => key in found))?.[0]

const nameIn = (ref: string): string => decodeURIComponentSafe(ref.split('/').at(-1) ?? '').replace(/^#$/, '')

function decodeURIComponentSafe(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
