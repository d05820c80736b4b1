/**
 * Projects a tool schema to what a provider accepts, and lists the losses. A loss usually widens the schema, and
 * arguments are still validated against the tool's own schema; a loss that narrows it is marked. Never throws, and its
 * work is bounded.
 */

import type { JsonObject } from '../../schema/json.ts'
import { isObject } from '../../util/is-object.ts'
import { restoreArguments } from './restore-arguments.ts'
import { mergeForms, nullable, refTarget, typesOf, untyped } from './schema-parts.ts'
import { REMARKS, SCHEMA_RULES, type SchemaProvider, type SchemaRules } from './schema-rules.ts'

export { restoreArguments, type SchemaProvider }

export interface LostInSchema {
  /** JSON Pointer into the original schema. */
  path: string
  what: string
  /** The projection accepts less than the tool does. */
  narrows?: true
}

export interface ProjectedSchema {
  schema: JsonObject
  lost: LostInSchema[]
}

const MAX_NODES = 20_000
/** Nested forms count as one level for a provider, but not for this limit. */
const MAX_LEVEL = 200
const MAX_LOST = 200

interface Walk {
  rules: SchemaRules
  root: JsonObject
  lost: LostInSchema[]
  nodes: number
  fields: number
}

/** Position of the walk: path, depth by the provider's count, own level, and open refs. */
interface SchemaPosition {
  path: string
  depth: number
  level: number
  refs: readonly string[]
}

export function projectSchema(schema: unknown, provider: SchemaProvider): ProjectedSchema {
  const rules = SCHEMA_RULES[provider]
  const root = isObject(schema) ? schema : {}
  const walk: Walk = { rules, root, lost: [], nodes: 0, fields: 0 }
  if (!isObject(schema)) lose(walk, '', 'it is no JSON Schema')
  const top = { path: '', depth: 0, level: 0, refs: [] }
  const flat = flatRoot(walk, { ...root, type: 'object' }, top)
  return { schema: objectOf(walk, flat, top), lost: walk.lost }
}

function lose(walk: Walk, path: string, what: string): void {
  if (walk.lost.length < MAX_LOST) walk.lost.push({ path, what })
}

function narrow(walk: Walk, path: string, what: string): void {
  if (walk.lost.length < MAX_LOST) walk.lost.push({ path, what, narrows: true })
}

/** When any value can be expressed, the replacement does not narrow. */
const replace = (walk: Walk, path: string, what: string) => (walk.rules.untyped ? lose : narrow)(walk, path, what)

/** No provider accepts several forms at the root, so they become one object that allows each of them. */
function flatRoot(walk: Walk, root: JsonObject, position: SchemaPosition): JsonObject {
  const pointed = typeof root.$ref === 'string' ? refTarget(walk.root, root.$ref) : undefined
  const { $ref: _, ...rest } = pointed ? { ...pointed, ...root } : root
  let flat: JsonObject = rest
  for (const word of ['allOf', 'anyOf', 'oneOf'] as const) {
    const forms = flat[word]
    if (!Array.isArray(forms) || forms.length === 0) continue
    const { [word]: __, ...without } = flat
    const resolved = forms.filter(isObject).map((form) => resolveRefs(walk, form, position))
    flat = mergeForms(without, resolved, { every: word === 'allOf' })
    if (word !== 'allOf') lose(walk, `/${word}`, `which of ${forms.length} forms it must have`)
  }
  return { ...flat, type: 'object' }
}

/** Resolves a chain of refs. */
function resolveRefs(walk: Walk, node: JsonObject, { refs, path }: SchemaPosition): JsonObject {
  const visited = new Set(refs)
  let found = node
  while (typeof found.$ref === 'string') {
    const { $ref, ...beside } = found as JsonObject & { $ref: string }
    const target = visited.has($ref) ? undefined : refTarget(walk.root, $ref)
    if (!target) lose(walk, path, `what is at ${$ref.slice(0, 200)}`)
    visited.add($ref)
    found = { ...target, ...beside }
  }
  return found
}

function project(walk: Walk, node: unknown, position: SchemaPosition): JsonObject {
  const { rules } = walk
  if (++walk.nodes > MAX_NODES) {
    if (walk.nodes === MAX_NODES + 1) replace(walk, position.path, 'all that is behind this: it is too large')
    return anyValue(rules)
  }
  if (node === false) lose(walk, position.path, 'that nothing may be here')
  if (!isObject(node)) return anyValue(rules)
  if (typeof node.$ref === 'string') return projectRef(walk, node, position)
  if (position.depth > rules.depth || position.level > MAX_LEVEL) {
    replace(walk, position.path, `what is deeper than ${rules.depth} levels`)
    return anyValue(rules)
  }
  return projectPlain(walk, ...withForms(walk, node, position))
}

function projectRef(walk: Walk, node: JsonObject, position: SchemaPosition): JsonObject {
  const { rules } = walk
  const ref = node.$ref as string
  const target = refTarget(walk.root, ref)
  if (!target) {
    replace(walk, position.path, `what is at ${ref.slice(0, 200)}`)
    return anyValue(rules)
  }
  const canKeepRef = rules.refs === 'keep' && /^#(\/(\$defs|definitions)\/[^/]+)?$/.test(ref)
  if (canKeepRef) return rules.closed ? { $ref: ref } : { ...node, $ref: ref }
  if (position.refs.includes(ref)) {
    replace(walk, position.path, `that it goes on inside itself (${ref.slice(0, 200)})`)
    return anyValue(rules)
  }
  const { $ref: _, ...beside } = node
  return project(
    walk,
    { ...target, ...beside },
    { ...position, level: position.level + 1, refs: [...position.refs, ref] },
  )
}

/** Merges `allOf` and `oneOf` for providers without them. */
function withForms(walk: Walk, node: JsonObject, position: SchemaPosition): [JsonObject, SchemaPosition] {
  const { keeps } = walk.rules
  let flat = node
  let refs = position.refs
  if (Array.isArray(flat.allOf) && keeps && !keeps.has('allOf')) {
    const { allOf, ...rest } = flat
    const forms = (allOf as unknown[]).filter(isObject)
    flat = mergeForms(
      rest,
      forms.map((form) => resolveRefs(walk, form, position)),
      { every: true },
    )
    refs = [...refs, ...forms.flatMap(({ $ref }) => (typeof $ref === 'string' ? [$ref] : []))]
  }
  if (Array.isArray(flat.oneOf) && flat.oneOf.length > 0 && keeps && !keeps.has('oneOf')) {
    const { oneOf, anyOf, ...rest } = flat
    lose(walk, `${position.path}/oneOf`, 'that it fits one form and no other')
    flat = { ...rest, anyOf: [...(oneOf as unknown[]), ...(Array.isArray(anyOf) ? anyOf : [])] }
  }
  // Tuple syntax before 2020-12.
  if (Array.isArray(flat.items)) flat = { ...flat, prefixItems: flat.items, items: flat.additionalItems ?? {} }
  return [flat, { ...position, refs }]
}

function projectPlain(walk: Walk, node: JsonObject, position: SchemaPosition): JsonObject {
  const types = typesOf(node)
  const { rules } = walk
  const isNullable = types.includes('null') && types.length > 1
  const [type, ...others] = types.filter((name) => name !== 'null')
  if (rules.nullAs === 'nullable' && others.length > 0) {
    const forms = [type, ...others].map((name) => ({ ...node, type: name }))
    return nullable({ anyOf: forms.map((form) => project(walk, form, position)) }, rules, isNullable)
  }
  const plain = rules.nullAs === 'nullable' && isNullable ? { ...node, type } : node
  const isOpen = types.length === 0 && !hasForms(plain) && !('const' in plain) && !Array.isArray(plain.enum)
  if (isOpen && !rules.untyped) {
    narrow(walk, position.path, 'that it may be any value')
    return untyped(rules, plain)
  }
  const projected = types.includes('object') ? objectOf(walk, plain, position) : keywordsOf(walk, plain, position)
  return rules.nullAs === 'nullable' ? nullable(projected, rules, isNullable) : projected
}

function keywordsOf(walk: Walk, node: JsonObject, position: SchemaPosition): JsonObject {
  const result: JsonObject = {}
  for (const [word, value] of Object.entries(node)) {
    const projected = keywordOf(walk, { word, value, node }, position)
    if (projected !== undefined) result[word === 'const' && Array.isArray(projected) ? 'enum' : word] = projected
  }
  return result
}

/** Keywords whose value is one schema. */
const SCHEMA_KEYWORDS = new Set(['additionalProperties', 'not', 'if', 'then', 'else', 'contains', 'propertyNames'])

/** Projected value of one keyword; undefined removes it. */
function keywordOf(
  walk: Walk,
  { word, value, node }: { word: string; value: unknown; node: JsonObject },
  position: SchemaPosition,
): unknown {
  const { keeps, formats, enums, refs } = walk.rules
  const isAllowed = !keeps || keeps.has(word)
  const path = `${position.path}/${escaped(word)}`
  const child = { ...position, path, depth: position.depth + 1, level: position.level + 1 }
  if (word === '$defs' || word === 'definitions') return refs === 'keep' ? recordOf(walk, value, child) : undefined
  if (word === 'properties') return recordOf(walk, value, child)
  if (isAllowed && SCHEMA_KEYWORDS.has(word) && isObject(value)) return project(walk, value, child)
  if (word === 'items') return project(walk, value, child)
  if (word === 'anyOf' || ((word === 'oneOf' || word === 'allOf' || word === 'prefixItems') && isAllowed)) {
    if (!Array.isArray(value) || value.length === 0) return undefined
    // Forms are on the same level.
    return value.map((form, index) =>
      project(walk, form, { ...child, path: `${path}/${index}`, depth: position.depth }),
    )
  }
  if (word === 'const' && enums) return enumOf(walk, [value], path)
  if (word === 'enum' && enums) return enumOf(walk, value, path)
  if (word === 'format' && formats && !formats.has(value as string)) {
    lose(walk, path, typeof value === 'string' ? `the format ${value.slice(0, 100)}` : 'a format that is no text')
    return undefined
  }
  if (isAllowed) return value
  if (!REMARKS.has(word) && !isRedundant(word, value, node)) lose(walk, path, word)
  return undefined
}

/** Keywords that add nothing to the rest of the schema. */
const isRedundant = (word: string, value: unknown, node: JsonObject) =>
  (word === 'additionalProperties' && (value === false || isObject(node.properties))) ||
  (word === 'minLength' && value === 0) ||
  (word === 'uniqueItems' && value === false)

function enumOf(walk: Walk, value: unknown, path: string): unknown {
  const values = Array.isArray(value) ? value : []
  const { enums } = walk.rules
  if (values.every((item) => enums?.has(typeof item))) return values
  lose(walk, path, `that it is one of ${values.length} values`)
  return undefined
}

function recordOf(walk: Walk, value: unknown, position: SchemaPosition): JsonObject {
  const { names, fields } = walk.rules
  const result: JsonObject = {}
  for (const [name, schema] of isObject(value) ? Object.entries(value) : []) {
    const path = `${position.path}/${escaped(name)}`
    if (names && position.path.endsWith('/properties') && !names.test(name))
      narrow(walk, path, 'the field: its name is not one that the provider takes')
    else if (++walk.fields > fields) narrow(walk, path, `the field: there are more than ${fields}`)
    else result[name] = project(walk, schema, { ...position, path })
  }
  return result
}

function objectOf(walk: Walk, node: JsonObject, position: SchemaPosition): JsonObject {
  const { rules } = walk
  const result = keywordsOf(walk, node, position)
  const properties = isObject(result.properties) ? result.properties : {}
  const names = Object.keys(properties)
  const required = (Array.isArray(node.required) ? node.required : []).filter((name) => names.includes(String(name)))
  if (!rules.closed)
    return names.length > 0 || position.depth === 0 ? withRequired(result, required, properties) : result
  const isFree = names.length === 0 && node.additionalProperties !== false
  if (isFree || isObject(node.patternProperties) || isOpenSchema(node.additionalProperties))
    narrow(walk, position.path, 'fields whose names are not known before')
  return {
    ...result,
    properties: Object.fromEntries(
      names.map((name) => [
        name,
        required.includes(name) ? properties[name] : nullable(properties[name] as JsonObject, rules, true),
      ]),
    ),
    required: names,
    additionalProperties: false,
  }
}

const hasForms = ({ anyOf }: JsonObject) => Array.isArray(anyOf) && anyOf.length > 0
const isOpenSchema = (value: unknown) => value === true || isObject(value)

function withRequired(result: JsonObject, required: readonly unknown[], properties: JsonObject): JsonObject {
  const { required: _, ...rest } = result
  return { ...rest, properties, ...(required.length > 0 ? { required } : {}) }
}

const anyValue = (rules: SchemaRules): JsonObject => (rules.untyped ? {} : untyped(rules, {}))
const escaped = (word: string) => word.replaceAll('~', '~0').replaceAll('/', '~1')
