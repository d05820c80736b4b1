/**
 * Validates parameters that a server wants mirrored into headers (`x-mcp-header`, SEP-2243). A tool with an invalid
 * declaration must not be offered, because its calls could not be sent correctly.
 */

import type { JsonObject } from '../schema/json.ts'
import { isObject } from '../util/is-object.ts'

const KEY = 'x-mcp-header'
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
const PRIMITIVES = new Set<unknown>(['string', 'integer', 'boolean'])
const DEEPEST = 100

/** Returns the problem, or undefined. */
export function headerProblem(schema: JsonObject): string | undefined {
  const names = new Set<string>()
  return inProperties(schema, names, 0)
}

/** The keyword is only valid on properties reachable through `properties`. */
function inProperties(schema: JsonObject, names: Set<string>, depth: number): string | undefined {
  if (depth > DEEPEST) return undefined
  for (const [key, inner] of Object.entries(schema)) {
    if (key !== 'properties' || !isObject(inner)) {
      if (key !== KEY && mentions(inner, depth + 1)) return `"${KEY}" stands where no property can be reached`
      continue
    }
    for (const [name, property] of Object.entries(inner)) {
      if (!isObject(property)) continue
      const problem = ownProblem(name, property, names) ?? inProperties(property, names, depth + 1)
      if (problem !== undefined) return problem
    }
  }
  return depth === 0 && schema[KEY] !== undefined ? `"${KEY}" stands where no property can be reached` : undefined
}

function ownProblem(property: string, schema: JsonObject, names: Set<string>): string | undefined {
  const header = schema[KEY]
  if (header === undefined) return undefined
  const label = property.slice(0, 80)
  if (typeof header !== 'string' || !TOKEN.test(header)) return `the header of "${label}" is not a name of one`
  if (!PRIMITIVES.has(schema.type))
    return `"${label}" is mirrored into a header, but is no text, whole number or boolean`
  const lower = header.toLowerCase()
  if (names.has(lower)) return `two parameters are mirrored into the same header`
  names.add(lower)
  return undefined
}

function mentions(value: unknown, depth: number): boolean {
  if (depth > DEEPEST || typeof value !== 'object' || value === null) return false
  if (Array.isArray(value)) return value.some((inner) => mentions(inner, depth + 1))
  return Object.entries(value).some(([key, inner]) => key === KEY || mentions(inner, depth + 1))
}
