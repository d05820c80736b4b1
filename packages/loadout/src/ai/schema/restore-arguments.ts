/**
 * Arguments of a model that was shown a closed schema: where a field might have been missing it wrote null. What the tool's own
 * schema does not know as null is taken away again.
 */
import type { JsonObject } from '../../schema/json.ts'
import { refTarget, typesOf } from './schema-parts.ts'

const DEEPEST = 64

export const restoreArguments = (schema: JsonObject, args: JsonObject): JsonObject =>
  restore({ root: schema, schema, depth: 0 }, args) as JsonObject

interface Place {
  root: JsonObject
  schema: JsonObject
  depth: number
}

function restore({ root, schema: given, depth }: Place, value: unknown): unknown {
  if (depth > DEEPEST) return value
  const schema = followed(root, given)
  if (Array.isArray(value)) {
    const { items } = schema
    return isObject(items) ? value.map((one) => restore({ root, schema: items, depth: depth + 1 }, one)) : value
  }
  if (!isObject(value) || !isObject(schema.properties)) return value
  const required = Array.isArray(schema.required) ? schema.required : []
  const { properties } = schema
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, one]) => {
      const own = Object.hasOwn(properties, name) ? properties[name] : undefined
      if (!isObject(own)) return [[name, one]]
      if (one === null && !required.includes(name) && !takesNull(root, own, depth)) return []
      return [[name, restore({ root, schema: own, depth: depth + 1 }, one)]]
    }),
  )
}

function takesNull(root: JsonObject, given: JsonObject, depth: number): boolean {
  if (depth > DEEPEST) return true
  const schema = followed(root, given)
  if (schema.nullable === true || schema.const === null) return true
  if (Array.isArray(schema.enum)) return schema.enum.includes(null)
  for (const forms of [schema.anyOf, schema.oneOf])
    if (Array.isArray(forms)) return forms.some((form) => isObject(form) && takesNull(root, form, depth + 1))
  const types = typesOf(schema)
  return types.includes('null') || (types.length === 0 && !('const' in schema))
}

const followed = (root: JsonObject, schema: JsonObject): JsonObject =>
  typeof schema.$ref === 'string' ? (refTarget(root, schema.$ref) ?? schema) : schema

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
