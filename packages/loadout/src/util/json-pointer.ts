/** Resolves a `$ref` inside one schema: JSON pointers and anchors. External references are not resolved. */

import type { JsonObject } from '../schema/json.ts'
import { isObject } from './is-object.ts'

const MAX_REF_LENGTH = 1_000
const DEFINITION_KEYWORDS = ['$defs', 'definitions'] as const

export interface Target {
  schema: unknown
  /** Name hint for a generated type. */
  hint: string
}

export function findRef(root: unknown, ref: string): Target | undefined {
  if (!ref.startsWith('#') || ref.length > MAX_REF_LENGTH) return undefined
  if (ref === '#' || ref === '#/') return { schema: root, hint: '' }
  return ref.startsWith('#/') ? byPointer(root, ref) : byAnchor(root, ref.slice(1))
}

function byPointer(root: unknown, ref: string): Target | undefined {
  const steps = ref.slice(2).split('/').map(unescapeStep)
  let node: unknown = root
  for (const step of steps) {
    if (typeof node !== 'object' || node === null || !Object.hasOwn(node, step)) return undefined
    node = (node as JsonObject)[step]
  }
  const nameSteps = steps.filter((step) => !STRUCTURE.includes(step))
  return { schema: node, hint: (nameSteps.length === 0 ? steps : nameSteps).slice(-2).join(' ') }
}

const STRUCTURE = [
  ...DEFINITION_KEYWORDS,
  'properties',
  'items',
  'anyOf',
  'oneOf',
  'allOf',
  'additionalProperties',
] as string[]

function unescapeStep(step: string): string {
  try {
    return decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~')
  } catch {
    return step
  }
}

/** Searches only the definitions, where anchors are declared. */
function byAnchor(root: unknown, name: string): Target | undefined {
  const hasAnchor = (schema: unknown) =>
    isObject(schema) && (ownProperty(schema, '$anchor') === name || ownProperty(schema, '$dynamicAnchor') === name)
  if (hasAnchor(root)) return { schema: root, hint: '' }
  for (const folder of DEFINITION_KEYWORDS) {
    const schemas = isObject(root) ? ownProperty(root, folder) : undefined
    if (!isObject(schemas)) continue
    const found = Object.keys(schemas).find((key) => hasAnchor(schemas[key]))
    if (found !== undefined) return { schema: schemas[found], hint: found }
  }
  return undefined
}

export const ownProperty = (object: JsonObject, key: string): unknown =>
  Object.hasOwn(object, key) ? object[key] : undefined
