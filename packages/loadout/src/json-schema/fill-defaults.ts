/**
 * Fills missing required properties that have a default, also inside objects and arrays. The work is bounded: beyond
 * the limit values stay unchanged, and validation reports what is missing.
 */

import type { JsonObject } from '../schema/json.ts'
import { isObject } from '../util/is-object.ts'

const MAX_STEPS = 10_000
const MAX_DEPTH = 32
const MAX_REFERENCES = 8

/** Returns the same value when nothing is missing, else a copy. */
export function fillDefaults(schema: JsonObject, value: JsonObject): JsonObject {
  return new Filler(schema).fill(schema, value, 0) as JsonObject
}

const own = (value: JsonObject, name: string): unknown => (Object.hasOwn(value, name) ? value[name] : undefined)

class Filler {
  readonly #root: JsonObject
  #steps = 0

  constructor(root: JsonObject) {
    this.#root = root
  }

  fill(schemaOrRef: unknown, value: unknown, depth: number): unknown {
    if (depth > MAX_DEPTH || ++this.#steps > MAX_STEPS) return value
    const schema = this.#resolve(schemaOrRef)
    if (!schema) return value
    const filled = Array.isArray(value) ? this.#list(schema, value, depth) : this.#object(schema, value, depth)
    const { allOf } = schema
    return Array.isArray(allOf)
      ? allOf.reduce((result: unknown, part) => this.fill(part, result, depth + 1), filled)
      : filled
  }

  #list({ items }: JsonObject, value: readonly unknown[], depth: number): unknown {
    if (!isObject(items)) return value
    const filled = value.map((item) => this.fill(items, item, depth + 1))
    return filled.some((item, index) => item !== value[index]) ? filled : value
  }

  #object({ properties, required }: JsonObject, value: unknown, depth: number): unknown {
    if (!isObject(value) || !isObject(properties)) return value
    const needed = new Set(Array.isArray(required) ? required : [])
    const filled: Array<[string, unknown]> = []
    for (const [name, schema] of Object.entries(properties)) {
      if (name === '__proto__') continue
      const before = own(value, name)
      const missing = before === undefined && needed.has(name) ? this.#defaultOf(schema) : undefined
      const after = this.fill(schema, missing ?? before, depth + 1)
      if (after !== before) filled.push([name, after])
    }
    return filled.length === 0 ? value : { ...value, ...Object.fromEntries(filled) }
  }

  #defaultOf(schemaOrRef: unknown): unknown {
    // A default beside a reference belongs to the property.
    const value = isObject(schemaOrRef)
      ? (own(schemaOrRef, 'default') ?? own(this.#resolve(schemaOrRef) ?? {}, 'default'))
      : undefined
    return typeof value === 'object' && value !== null ? structuredClone(value) : value
  }

  /** Resolves local references such as `#/$defs/Block`. */
  #resolve(schemaOrRef: unknown): JsonObject | undefined {
    let schema = schemaOrRef
    for (let count = 0; count < MAX_REFERENCES; count++) {
      if (!isObject(schema)) return undefined
      const reference = own(schema, '$ref')
      if (typeof reference !== 'string') return schema
      schema = this.#followPointer(reference)
    }
    return undefined
  }

  #followPointer(reference: string): unknown {
    if (reference !== '#' && !reference.startsWith('#/')) return undefined
    let target: unknown = this.#root
    for (const name of reference.split('/').slice(1)) {
      target = isObject(target) ? own(target, name.replaceAll('~1', '/').replaceAll('~0', '~')) : undefined
    }
    return target
  }
}
