/**
 * Finds every subschema that may apply to a position in a value, whichever branch validates, to decide whether the
 * position is secret. Patterns are not executed, references are followed only inside the schema, and the number of
 * steps is limited. When the budget is spent, everything counts as secret.
 */
import type { JsonObject } from '../../schema/json.ts'

const MAX_STEPS = 4000
const NONE: readonly JsonObject[] = []
const BRANCHES = ['allOf', 'anyOf', 'oneOf'] as const
const CONDITIONALS = ['if', 'then', 'else'] as const
const APPLICATORS = [...BRANCHES, ...CONDITIONALS, '$ref', '$dynamicRef', 'dependentSchemas'] as const

export class SchemaNodes {
  /** Subschemas of the whole value. */
  readonly root: readonly JsonObject[]
  readonly #document: unknown
  #steps: number

  /** `steps` limits the work: when they are spent, everything counts as secret. */
  constructor(schema: unknown, steps = MAX_STEPS) {
    this.#steps = steps
    this.#document = schema
    this.root = this.#expand([schema])
  }

  get isSpent(): boolean {
    return this.#steps <= 0
  }

  isSecret(schemas: readonly JsonObject[]): boolean {
    return this.isSpent || schemas.some((schema) => schema.writeOnly === true || schema.format === 'password')
  }

  /** Subschemas of a property. */
  property(schemas: readonly JsonObject[], name: string): readonly JsonObject[] {
    if (schemas.length === 0) return NONE
    const found: unknown[] = []
    for (const schema of schemas) {
      const named = ownValue(ownValue(schema, 'properties'), name)
      if (named !== undefined) found.push(named)
      else if (schema.additionalProperties !== undefined) found.push(schema.additionalProperties)
      if (schema.patternProperties !== undefined) found.push(...values(schema.patternProperties))
      if (schema.unevaluatedProperties !== undefined) found.push(schema.unevaluatedProperties)
    }
    return this.#expand(found)
  }

  /** Subschemas of an array item. */
  item(schemas: readonly JsonObject[], index: number): readonly JsonObject[] {
    if (schemas.length === 0) return NONE
    const found: unknown[] = []
    for (const { items, prefixItems, additionalItems, unevaluatedItems, contains } of schemas) {
      const prefix = Array.isArray(prefixItems) ? prefixItems : Array.isArray(items) ? items : []
      found.push(index < prefix.length ? prefix[index] : Array.isArray(items) ? additionalItems : items)
      found.push(unevaluatedItems, contains)
    }
    return this.#expand(found)
  }

  /** Adds the schemas that these refer to or branch into. */
  #expand(schemas: readonly unknown[]): readonly JsonObject[] {
    const first = schemas.length === 1 ? schemas[0] : undefined
    // Fast path: most positions have one schema without applicators.
    if (isObject(first) && !APPLICATORS.some((keyword) => first[keyword] !== undefined)) {
      this.#steps--
      return [first]
    }
    const found = new Set<JsonObject>()
    const queue = [...schemas]
    while (queue.length > 0 && this.#steps-- > 0) {
      const schema = queue.pop()
      if (!isObject(schema) || found.has(schema)) continue
      found.add(schema)
      for (const keyword of BRANCHES) if (Array.isArray(schema[keyword])) queue.push(...capped(schema[keyword]))
      for (const keyword of CONDITIONALS) queue.push(schema[keyword])
      queue.push(...values(schema.dependentSchemas), this.#resolve(schema.$ref), this.#resolve(schema.$dynamicRef))
    }
    return [...found]
  }

  #resolve(ref: unknown): unknown {
    if (typeof ref !== 'string' || !ref.startsWith('#')) return undefined
    if (ref === '#') return this.#document
    // A fragment without a slash is an anchor among the definitions.
    if (!ref.startsWith('#/')) return this.#anchor(ref.slice(1))
    let node: unknown = this.#document
    for (const part of ref.slice(2, 1000).split('/')) {
      this.#steps--
      node = ownValue(node, unescapePointer(part))
    }
    return node
  }

  #anchor(name: string): unknown {
    const { $defs, definitions } = isObject(this.#document) ? this.#document : {}
    return [...values($defs), ...values(definitions)].find(
      (schema) => isObject(schema) && (schema.$anchor === name || schema.$dynamicAnchor === name),
    )
  }
}

const MAX_BRANCHES = 1000

const capped = (list: readonly unknown[]) => list.slice(0, MAX_BRANCHES)

const isObject = (value: unknown): value is JsonObject => typeof value === 'object' && value !== null

const values = (value: unknown): unknown[] => (isObject(value) ? capped(Object.values(value)) : [])

const ownValue = (value: unknown, name: string): unknown =>
  isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined

function unescapePointer(part: string): string {
  if (!/[~%]/.test(part)) return part
  try {
    return decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~')
  } catch {
    return part
  }
}
