/** Helpers of schema projection: resolve a ref, merge forms, add null. */

import type { JsonObject } from '../../schema/json.ts'
import { isObject } from '../../util/is-object.ts'
import type { SchemaRules } from './schema-rules.ts'

/** Target of a ref inside the same schema. */
export function refTarget(root: JsonObject, ref: string): JsonObject | undefined {
  if (ref === '#') return root
  if (!ref.startsWith('#/')) return undefined
  let found: unknown = root
  for (const part of ref.slice(2).split('/')) {
    const key = decodePart(part).replaceAll('~1', '/').replaceAll('~0', '~')
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, key)) return undefined
    found = (found as JsonObject)[key]
  }
  return isObject(found) ? found : undefined
}

function decodePart(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

/** Declared types, or those that other keywords imply. */
export function typesOf({ type, properties, items, ...node }: JsonObject): string[] {
  if (typeof type === 'string') return [type]
  if (Array.isArray(type)) return type.filter((name): name is string => typeof name === 'string')
  if (isObject(properties) || isObject(node.patternProperties)) return ['object']
  return isObject(items) || Array.isArray(node.prefixItems) ? ['array'] : []
}

/** Merges several forms: with `every` all required fields are required, else only those that all forms require. */
export function mergeForms(base: JsonObject, forms: readonly JsonObject[], { every }: { every: boolean }): JsonObject {
  const allForms = [base, ...forms]
  const lists = forms.map(({ required }) => (Array.isArray(required) ? required : []))
  const [first = [], ...more] = lists
  const shared = every ? lists.flat() : first.filter((name) => more.every((list) => list.includes(name)))
  const required = [...new Set([...(Array.isArray(base.required) ? base.required : []), ...shared])]
  const properties = Object.assign({}, ...allForms.map((form) => form.properties).filter(isObject)) as JsonObject
  return {
    ...Object.assign({}, ...(every ? [...forms].reverse() : []), base),
    ...(Object.keys(properties).length > 0 ? { properties } : {}),
    ...(required.length > 0 ? { required } : {}),
  }
}

/** Adds null to a schema. */
export function nullable(schema: JsonObject, { nullAs }: SchemaRules, isNullable: boolean): JsonObject {
  if (!isNullable) return schema
  if (nullAs === 'nullable') return { ...schema, nullable: true }
  const { type } = schema
  if (typeof type === 'string' || Array.isArray(type)) {
    const types = [type].flat()
    if (types.includes('null')) return schema
    const enumWithNull = Array.isArray(schema.enum) ? { enum: [...schema.enum, null] } : {}
    return 'const' in schema ? either(schema) : { ...schema, type: [...types, 'null'], ...enumWithNull }
  }
  return either(schema)
}

const either = (schema: JsonObject): JsonObject =>
  Array.isArray(schema.anyOf)
    ? { ...schema, anyOf: [...schema.anyOf, { type: 'null' }] }
    : { anyOf: [schema, { type: 'null' }] }

/** Any value for a provider that requires a type: scalar types with the original labels. */
export function untyped({ nullAs }: SchemaRules, { title, description }: JsonObject): JsonObject {
  const labels = { ...(title === undefined ? {} : { title }), ...(description === undefined ? {} : { description }) }
  return nullAs === 'nullable'
    ? { ...labels, type: 'string' }
    : { ...labels, type: ['string', 'number', 'boolean', 'null'] }
}
