/** Small steps of projecting a schema: what a ref points at, forms made one, null beside what was there. */
import type { JsonObject } from '../../schema/json.ts'
import type { SchemaRules } from './schema-rules.ts'

/** What a ref inside the same schema points at. */
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

/** The types that it names, or that its other words mean. */
export function typesOf({ type, properties, items, ...node }: JsonObject): string[] {
  if (typeof type === 'string') return [type]
  if (Array.isArray(type)) return type.filter((name): name is string => typeof name === 'string')
  if (isObject(properties) || isObject(node.patternProperties)) return ['object']
  return isObject(items) || Array.isArray(node.prefixItems) ? ['array'] : []
}

/** Several forms as one: with `every` all that any of them asks for is asked for, else nothing but what all ask for. */
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

/** The same, or null. */
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

/** Any value, for who wants a type said: what is simple, with what was said of it. */
export function untyped({ nullAs }: SchemaRules, { title, description }: JsonObject): JsonObject {
  const labels = { ...(title === undefined ? {} : { title }), ...(description === undefined ? {} : { description }) }
  return nullAs === 'nullable'
    ? { ...labels, type: 'string' }
    : { ...labels, type: ['string', 'number', 'boolean', 'null'] }
}

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
