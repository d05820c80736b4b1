/**
 * Restores arguments of a closed schema: the model wrote null for absent fields. Nulls that the tool's own schema does
 * not accept are removed.
 */

import type { JsonObject } from '../../schema/json.ts'
import { isObject } from '../../util/is-object.ts'
import { refTarget, typesOf } from './schema-parts.ts'

const MAX_DEPTH = 64

export const restoreArguments = (schema: JsonObject, args: JsonObject): JsonObject =>
  restore({ root: schema, schema, depth: 0 }, args) as JsonObject

interface Position {
  root: JsonObject
  schema: JsonObject
  depth: number
}

function restore({ root, schema: schemaOrRef, depth }: Position, value: unknown): unknown {
  if (depth > MAX_DEPTH) return value
  const schema = resolveRef(root, schemaOrRef)
  if (Array.isArray(value)) {
    const { items } = schema
    return isObject(items) ? value.map((item) => restore({ root, schema: items, depth: depth + 1 }, item)) : value
  }
  if (!isObject(value) || !isObject(schema.properties)) return value
  const required = Array.isArray(schema.required) ? schema.required : []
  const { properties } = schema
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, inner]) => {
      const propertySchema = Object.hasOwn(properties, name) ? properties[name] : undefined
      if (!isObject(propertySchema)) return [[name, inner]]
      if (inner === null && !required.includes(name) && !takesNull(root, propertySchema, depth)) return []
      return [[name, restore({ root, schema: propertySchema, depth: depth + 1 }, inner)]]
    }),
  )
}

function takesNull(root: JsonObject, schemaOrRef: JsonObject, depth: number): boolean {
  if (depth > MAX_DEPTH) return true
  const schema = resolveRef(root, schemaOrRef)
  if (schema.nullable === true || schema.const === null) return true
  if (Array.isArray(schema.enum)) return schema.enum.includes(null)
  for (const forms of [schema.anyOf, schema.oneOf])
    if (Array.isArray(forms)) return forms.some((form) => isObject(form) && takesNull(root, form, depth + 1))
  const types = typesOf(schema)
  return types.includes('null') || (types.length === 0 && !('const' in schema))
}

const resolveRef = (root: JsonObject, schema: JsonObject): JsonObject =>
  typeof schema.$ref === 'string' ? (refTarget(root, schema.$ref) ?? schema) : schema
