/**
 * Converts JSON Schema to a TypeScript type. For every schema the result is valid TypeScript, its length and the work
 * are bounded, and nothing throws. Unsupported or too large parts become `unknown`.
 *
 * Definitions become named types. `TypeNames` assigns the names later, over all tools; until then the text has `NUL
 * index NUL`, which no schema text can contain.
 */
import type { JsonObject } from '../../schema/json.ts'
import { isObject } from '../../util/is-object.ts'
import { findRef, ownProperty } from '../../util/json-pointer.ts'
import { MAX_LISTED, schemaComment } from './jsdoc.ts'
import {
  arrayOf,
  atom,
  intersection,
  literalOf,
  NEVER_TYPE,
  or,
  propertyKeyOf,
  type Text,
  tupleOf,
  UNKNOWN_TYPE,
} from './type-text.ts'

export interface Style {
  /** With comments and named types, on several lines. */
  full: boolean
  depth: number
  properties: number
}

export const FULL: Style = { full: true, depth: 14, properties: 150 }
export const SHORT: Style = { full: false, depth: 3, properties: 15 }
/** Parameter names only. */
export const SHORTEST: Style = { full: false, depth: 1, properties: 15 }

export interface Definition {
  hint: string
  comment: string
  type: Text
}

export interface TypeDraft {
  type: Text
  /** True if no parameter is required. */
  optional: boolean
  definitions: Definition[]
}

const MAX_NODES = 2_000
const MAX_CHARACTERS = 24_000
const MAX_DEFINITIONS = 60
const MAX_BRANCHES = 40
const MAX_OPEN = 8
const MAX_KEY_LENGTH = 200
const ONE_LINE = 90

export function draftType(schema: unknown, style: Style, hint: string): TypeDraft {
  try {
    return new TypeWriter(schema, style, hint).draft()
  } catch {
    // A getter of a non-JSON value threw.
    return { type: UNKNOWN_TYPE, optional: false, definitions: [] }
  }
}

/** Position of a part. `bare`: outside braces and brackets, where a type must not refer to itself. */
interface WriteContext {
  depth: number
  indent: string
  bare: boolean
}

class TypeWriter {
  readonly #root: unknown
  readonly #style: Style
  readonly #hint: string
  readonly #refs = new Map<string, number>()
  readonly #definitions: (Definition & { bareRefs: Set<number> })[] = []
  readonly #open = new Set<string>()
  #bareRefs = new Set<number>()
  #nodes = MAX_NODES
  #characters = MAX_CHARACTERS

  constructor(root: unknown, style: Style, hint: string) {
    this.#root = root
    this.#style = style
    this.#hint = hint
  }

  draft(): TypeDraft {
    const indent = this.#style.full ? '  ' : ''
    const written = this.#write(this.#root, { depth: 0, indent, bare: true })
    for (const [index, definition] of this.#definitions.entries())
      if (this.#isCircular(index)) definition.type = UNKNOWN_TYPE
    const self = this.#refs.get('#') ?? this.#refs.get('#/')
    const required = isObject(this.#root) ? ownProperty(this.#root, 'required') : undefined
    return {
      type: self === undefined ? written : reference(self),
      optional: isObject(this.#root) && !(Array.isArray(required) && required.length > 0),
      definitions: this.#definitions,
    }
  }

  #write(schema: unknown, context: WriteContext): Text {
    if (schema === false) return NEVER_TYPE
    if (!isObject(schema) || --this.#nodes < 0 || context.depth > this.#style.depth) return UNKNOWN_TYPE
    if (this.#characters < 0) return UNKNOWN_TYPE
    const text = this.#combine(schema, context)
    return ownProperty(schema, 'nullable') === true ? or([text, atom('null')]) : text
  }

  #combine(schema: JsonObject, context: WriteContext): Text {
    const value = this.#value(schema)
    if (value) return value
    const ref = ownProperty(schema, '$ref') ?? ownProperty(schema, '$dynamicRef')
    const parts = [
      ...(typeof ref === 'string' ? [this.#reference(ref, context)] : []),
      ...this.#branches(schema, 'allOf', context),
      ...['anyOf', 'oneOf'].flatMap((word) => {
        const branches = this.#branches(schema, word, context)
        return branches.length === 0 ? [] : [or(branches)]
      }),
    ].filter((part) => part !== UNKNOWN_TYPE)
    const base = this.#base(schema, context, parts.length > 0)
    return intersection(base === undefined ? parts : [base, ...parts])
  }

  #branches(schema: JsonObject, word: string, context: WriteContext): Text[] {
    const branches = ownProperty(schema, word)
    if (!Array.isArray(branches)) return []
    if (branches.length > MAX_BRANCHES) return [UNKNOWN_TYPE]
    return branches.map((branch) => this.#write(branch, { ...context, depth: context.depth + 1 }))
  }

  #value(schema: JsonObject): Text | undefined {
    if (Object.hasOwn(schema, 'const')) return literal(schema.const)
    const values = ownProperty(schema, 'enum')
    if (!Array.isArray(values) || values.length === 0) return undefined
    if (values.length <= MAX_LISTED) return or(values.map(literal))
    return or(
      [...new Set(values.slice(0, 1_000).map(kindOf))].map((kind) => (kind === 'unknown' ? UNKNOWN_TYPE : atom(kind))),
    )
  }

  /** Type from `type` and its keywords. `narrowed`: other parts already describe the object. */
  #base(schema: JsonObject, context: WriteContext, narrowed: boolean): Text | undefined {
    const declaredType = ownProperty(schema, 'type')
    const types = (Array.isArray(declaredType) ? declaredType.slice(0, 10) : [declaredType ?? guessed(schema)]).filter(
      (type) => typeof type === 'string',
    )
    if (types.length === 0) return undefined
    const isBare =
      types.length === 1 && types[0] === 'object' && !OBJECT_WORDS.some((word) => Object.hasOwn(schema, word))
    if (isBare && narrowed) return undefined
    return or(
      types.map((type) => {
        if (type === 'object') return this.#object(schema, context)
        if (type === 'array') return this.#array(schema, context)
        return Object.hasOwn(PRIMITIVES, type) ? atom(PRIMITIVES[type] as string) : UNKNOWN_TYPE
      }),
    )
  }

  #array(schema: JsonObject, context: WriteContext): Text {
    const inside = { ...context, depth: context.depth + 1, bare: false }
    const items = ownProperty(schema, 'items')
    const prefix = ownProperty(schema, 'prefixItems') ?? (Array.isArray(items) ? items : undefined)
    if (!Array.isArray(prefix) || prefix.length === 0) return arrayOf(this.#write(items ?? true, inside))
    const rest = Array.isArray(items) ? ownProperty(schema, 'additionalItems') : items
    const least = ownProperty(schema, 'minItems')
    return tupleOf(
      prefix.slice(0, MAX_BRANCHES).map((item) => this.#write(item, inside)),
      {
        least: typeof least === 'number' ? least : prefix.length,
        rest: rest === true || isObject(rest) || prefix.length > MAX_BRANCHES ? this.#write(rest, inside) : undefined,
      },
    )
  }

  #object(schema: JsonObject, context: WriteContext): Text {
    const rawProperties = ownProperty(schema, 'properties')
    const properties = isObject(rawProperties) ? rawProperties : {}
    const required = ownProperty(schema, 'required')
    const needed = new Set(Array.isArray(required) ? required.filter((name) => typeof name === 'string') : [])
    const listed = Object.keys(properties).filter((name) => name.length <= MAX_KEY_LENGTH)
    const unlisted = [...needed].filter((name) => name.length <= MAX_KEY_LENGTH && !Object.hasOwn(properties, name))
    const names = [...listed, ...unlisted].slice(0, this.#style.properties)
    const inside = { depth: context.depth + 1, indent: this.#style.full ? `${context.indent}  ` : '', bare: false }
    const members: string[] = []
    for (const name of names) {
      if (this.#characters < 0) break
      const property = Object.hasOwn(properties, name) ? properties[name] : true
      const text = `${propertyKeyOf(name)}${needed.has(name) ? '' : '?'}: ${this.#write(property, inside).text}`
      const comment = this.#style.full && isObject(property) ? schemaComment(property, inside.indent) : ''
      this.#characters -= text.length + comment.length
      members.push(`${comment}${inside.indent}${text}`)
    }
    const isCut = members.length < Object.keys(properties).length + unlisted.length
    const others = this.#others(schema, inside, members.length === 0)
    const index = isCut ? UNKNOWN_TYPE : others
    const isPlain = index !== undefined && (index === UNKNOWN_TYPE || members.length === 0)
    const all = isPlain ? [...members, `${inside.indent}[key: string]: ${index.text}`] : members
    const object = atom(braces(all, context.indent))
    return index === undefined || isPlain ? object : intersection([object, atom(`{ [key: string]: ${index.text} }`)])
  }

  /** Index signature of unlisted properties; undefined if there are none. */
  #others(schema: JsonObject, context: WriteContext, isEmpty: boolean): Text | undefined {
    const patterns = ownProperty(schema, 'patternProperties')
    const more = ownProperty(schema, 'additionalProperties') ?? ownProperty(schema, 'unevaluatedProperties')
    const schemas = isObject(patterns) ? Object.values(patterns).slice(0, MAX_BRANCHES) : []
    if (isObject(more) || more === true) schemas.push(more)
    if (schemas.length > 0) return or(schemas.map((one) => this.#write(one, context)))
    return isEmpty && more !== false ? UNKNOWN_TYPE : undefined
  }

  #reference(ref: string, context: WriteContext): Text {
    const target = findRef(this.#root, ref)
    if (!target) return UNKNOWN_TYPE
    if (!this.#style.full) return this.#expanded(ref, target.schema, context)
    let index = this.#refs.get(ref)
    if (index === undefined) {
      if (this.#definitions.length >= MAX_DEFINITIONS) return UNKNOWN_TYPE
      index = this.#definitions.length
      this.#refs.set(ref, index)
      this.#define(target.schema, target.hint || this.#hint)
    }
    if (context.bare) this.#bareRefs.add(index)
    return reference(index)
  }

  #define(schema: unknown, hint: string): void {
    const before = this.#bareRefs
    this.#bareRefs = new Set()
    const definition = { hint, comment: '', type: UNKNOWN_TYPE, bareRefs: this.#bareRefs }
    this.#definitions.push(definition)
    if (isObject(schema)) definition.comment = schemaComment(schema, '')
    definition.type = this.#write(schema, { depth: 0, indent: '', bare: true })
    this.#characters -= definition.type.text.length
    this.#bareRefs = before
  }

  /** One-line forms have no named types, so circular references become `unknown`. */
  #expanded(ref: string, schema: unknown, context: WriteContext): Text {
    if (this.#open.has(ref) || this.#open.size >= MAX_OPEN) return UNKNOWN_TYPE
    this.#open.add(ref)
    const text = this.#write(schema, context)
    this.#open.delete(ref)
    return text
  }

  #isCircular(index: number): boolean {
    const seen = new Set<number>()
    const next = [...(this.#definitions[index]?.bareRefs ?? [])]
    for (let at = next.pop(); at !== undefined; at = next.pop()) {
      if (at === index) return true
      if (seen.has(at)) continue
      seen.add(at)
      next.push(...(this.#definitions[at]?.bareRefs ?? []))
    }
    return false
  }
}

const PRIMITIVES: Readonly<Record<string, string>> = {
  string: 'string',
  number: 'number',
  integer: 'number',
  boolean: 'boolean',
  null: 'null',
}
const OBJECT_WORDS = ['properties', 'required', 'additionalProperties', 'patternProperties', 'unevaluatedProperties']
const ARRAY_WORDS = ['items', 'prefixItems']

function guessed(schema: JsonObject): string | undefined {
  if (OBJECT_WORDS.some((word) => Object.hasOwn(schema, word))) return 'object'
  return ARRAY_WORDS.some((word) => Object.hasOwn(schema, word)) ? 'array' : undefined
}

const reference = (index: number): Text => atom(`\0${index}\0`)

function literal(value: unknown): Text {
  const text = literalOf(value)
  if (text !== undefined) return atom(text)
  const kind = kindOf(value)
  return kind === 'unknown' ? UNKNOWN_TYPE : atom(kind)
}

function kindOf(value: unknown): string {
  if (value === null) return 'null'
  return ['string', 'number', 'boolean'].includes(typeof value) ? typeof value : 'unknown'
}

function braces(members: readonly string[], indent: string): string {
  if (members.length === 0) return '{}'
  const line = `{ ${members.map((member) => member.trimStart()).join('; ')} }`
  if (indent === '' && !members.some((member) => member.startsWith(' ') || member.includes('\n'))) return line
  if (line.length <= ONE_LINE && !line.includes('\n')) return line
  return `{\n${members.map((member) => `${member};\n`).join('')}${indent}}`
}
