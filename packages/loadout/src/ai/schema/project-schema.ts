/**
 * A tool's schema as a provider takes it, and a list of what was lost on the way. A loss widens, and arguments are held against
 * the tool's own schema behind it; where it narrows, so that a model cannot say what the tool takes, that is told. It never
 * throws, and there is an end to it whatever a server wrote.
 */
import type { JsonObject } from '../../schema/json.ts'
import { restoreArguments } from './restore-arguments.ts'
import { merged, nullable, refTarget, typesOf, untyped } from './schema-parts.ts'
import { REMARKS, SCHEMA_RULES, type SchemaProvider, type SchemaRules } from './schema-rules.ts'

export { restoreArguments, type SchemaProvider }

export interface LostInSchema {
  /** A JSON Pointer into the schema as it was. */
  path: string
  what: string
  /** What is sent takes less than the tool does. */
  narrows?: true
}

export interface ProjectedSchema {
  schema: JsonObject
  lost: LostInSchema[]
}

const MAX_NODES = 20_000
/** Forms inside forms count as one level for a provider; not for us. */
const DEEPEST = 200
const MAX_LOST = 200

interface Walk {
  rules: SchemaRules
  root: JsonObject
  lost: LostInSchema[]
  nodes: number
  fields: number
}

/** Where it is: how deep by the provider's count and by ours, and inside which refs. */
interface Place {
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

/** Where any value can be said nothing is narrower by it. */
const replace = (walk: Walk, path: string, what: string) => (walk.rules.untyped ? lose : narrow)(walk, path, what)

/** No provider takes several forms at the top: one object that allows each of them is what is left. */
function flatRoot(walk: Walk, root: JsonObject, place: Place): JsonObject {
  const pointed = typeof root.$ref === 'string' ? refTarget(walk.root, root.$ref) : undefined
  const { $ref: _, ...rest } = pointed ? { ...pointed, ...root } : root
  let flat: JsonObject = rest
  for (const word of ['allOf', 'anyOf', 'oneOf'] as const) {
    const forms = flat[word]
    if (!Array.isArray(forms) || forms.length === 0) continue
    const { [word]: __, ...without } = flat
    const all = forms.filter(isObject).map((form) => followed(walk, form, place))
    flat = merged(without, all, { every: word === 'allOf' })
    if (word !== 'allOf') lose(walk, `/${word}`, `which of ${forms.length} forms it must have`)
  }
  return { ...flat, type: 'object' }
}

/** What it points at, through as many refs as there are. */
function followed(walk: Walk, node: JsonObject, { refs, path }: Place): JsonObject {
  const seen = new Set(refs)
  let found = node
  while (typeof found.$ref === 'string') {
    const { $ref, ...beside } = found as JsonObject & { $ref: string }
    const target = seen.has($ref) ? undefined : refTarget(walk.root, $ref)
    if (!target) lose(walk, path, `what is at ${$ref.slice(0, 200)}`)
    seen.add($ref)
    found = { ...target, ...beside }
  }
  return found
}

function project(walk: Walk, node: unknown, place: Place): JsonObject {
  const { rules } = walk
  if (++walk.nodes > MAX_NODES) {
    if (walk.nodes === MAX_NODES + 1) replace(walk, place.path, 'all that is behind this: it is too large')
    return anyValue(rules)
  }
  if (node === false) lose(walk, place.path, 'that nothing may be here')
  if (!isObject(node)) return anyValue(rules)
  if (typeof node.$ref === 'string') return projectRef(walk, node, place)
  if (place.depth > rules.depth || place.level > DEEPEST) {
    replace(walk, place.path, `what is deeper than ${rules.depth} levels`)
    return anyValue(rules)
  }
  return projectPlain(walk, ...withForms(walk, node, place))
}

function projectRef(walk: Walk, node: JsonObject, place: Place): JsonObject {
  const { rules } = walk
  const ref = node.$ref as string
  const target = refTarget(walk.root, ref)
  if (!target) {
    replace(walk, place.path, `what is at ${ref.slice(0, 200)}`)
    return anyValue(rules)
  }
  const isKept = rules.refs === 'keep' && /^#(\/(\$defs|definitions)\/[^/]+)?$/.test(ref)
  if (isKept) return rules.closed ? { $ref: ref } : { ...node, $ref: ref }
  if (place.refs.includes(ref)) {
    replace(walk, place.path, `that it goes on inside itself (${ref.slice(0, 200)})`)
    return anyValue(rules)
  }
  const { $ref: _, ...beside } = node
  return project(walk, { ...target, ...beside }, { ...place, level: place.level + 1, refs: [...place.refs, ref] })
}

/** `allOf` and `oneOf` for who does not know them. */
function withForms(walk: Walk, node: JsonObject, place: Place): [JsonObject, Place] {
  const { keeps } = walk.rules
  let flat = node
  let refs = place.refs
  if (Array.isArray(flat.allOf) && keeps && !keeps.has('allOf')) {
    const { allOf, ...rest } = flat
    const forms = (allOf as unknown[]).filter(isObject)
    flat = merged(
      rest,
      forms.map((form) => followed(walk, form, place)),
      { every: true },
    )
    refs = [...refs, ...forms.flatMap(({ $ref }) => (typeof $ref === 'string' ? [$ref] : []))]
  }
  if (Array.isArray(flat.oneOf) && flat.oneOf.length > 0 && keeps && !keeps.has('oneOf')) {
    const { oneOf, anyOf, ...rest } = flat
    lose(walk, `${place.path}/oneOf`, 'that it fits one form and no other')
    flat = { ...rest, anyOf: [...(oneOf as unknown[]), ...(Array.isArray(anyOf) ? anyOf : [])] }
  }
  // A tuple as it was written before 2020.
  if (Array.isArray(flat.items)) flat = { ...flat, prefixItems: flat.items, items: flat.additionalItems ?? {} }
  return [flat, { ...place, refs }]
}

function projectPlain(walk: Walk, node: JsonObject, place: Place): JsonObject {
  const types = typesOf(node)
  const { rules } = walk
  const isNullable = types.includes('null') && types.length > 1
  const [type, ...others] = types.filter((one) => one !== 'null')
  if (rules.nullAs === 'nullable' && others.length > 0) {
    const forms = [type, ...others].map((one) => ({ ...node, type: one }))
    return nullable({ anyOf: forms.map((form) => project(walk, form, place)) }, rules, isNullable)
  }
  const plain = rules.nullAs === 'nullable' && isNullable ? { ...node, type } : node
  const isOpen = types.length === 0 && !hasForms(plain) && !('const' in plain) && !Array.isArray(plain.enum)
  if (isOpen && !rules.untyped) {
    narrow(walk, place.path, 'that it may be any value')
    return untyped(rules, plain)
  }
  const projected = types.includes('object') ? objectOf(walk, plain, place) : keywordsOf(walk, plain, place)
  return rules.nullAs === 'nullable' ? nullable(projected, rules, isNullable) : projected
}

function keywordsOf(walk: Walk, node: JsonObject, place: Place): JsonObject {
  const kept: JsonObject = {}
  for (const [word, value] of Object.entries(node)) {
    const said = keywordOf(walk, { word, value, node }, place)
    if (said !== undefined) kept[word === 'const' && Array.isArray(said) ? 'enum' : word] = said
  }
  return kept
}

/** Their value is one schema. */
const INSIDE = new Set(['additionalProperties', 'not', 'if', 'then', 'else', 'contains', 'propertyNames'])

/** One keyword as it may stay; undefined: it goes. */
function keywordOf(
  walk: Walk,
  { word, value, node }: { word: string; value: unknown; node: JsonObject },
  place: Place,
): unknown {
  const { keeps, formats, enums, refs } = walk.rules
  const isKept = !keeps || keeps.has(word)
  const path = `${place.path}/${escaped(word)}`
  const inside = { ...place, path, depth: place.depth + 1, level: place.level + 1 }
  if (word === '$defs' || word === 'definitions') return refs === 'keep' ? recordOf(walk, value, inside) : undefined
  if (word === 'properties') return recordOf(walk, value, inside)
  if (isKept && INSIDE.has(word) && isObject(value)) return project(walk, value, inside)
  if (word === 'items') return project(walk, value, inside)
  if (word === 'anyOf' || ((word === 'oneOf' || word === 'allOf' || word === 'prefixItems') && isKept)) {
    if (!Array.isArray(value) || value.length === 0) return undefined
    // Forms are the same level, not a deeper one.
    return value.map((form, index) => project(walk, form, { ...inside, path: `${path}/${index}`, depth: place.depth }))
  }
  if (word === 'const' && enums) return enumOf(walk, [value], path)
  if (word === 'enum' && enums) return enumOf(walk, value, path)
  if (word === 'format' && formats && !formats.has(value as string)) {
    lose(walk, path, typeof value === 'string' ? `the format ${value.slice(0, 100)}` : 'a format that is no text')
    return undefined
  }
  if (isKept) return value
  if (!REMARKS.has(word) && !isSaid(word, value, node)) lose(walk, path, word)
  return undefined
}

/** Keywords that say no more than was said without them. */
const isSaid = (word: string, value: unknown, node: JsonObject) =>
  (word === 'additionalProperties' && (value === false || isObject(node.properties))) ||
  (word === 'minLength' && value === 0) ||
  (word === 'uniqueItems' && value === false)

function enumOf(walk: Walk, value: unknown, path: string): unknown {
  const values = Array.isArray(value) ? value : []
  const { enums } = walk.rules
  if (values.every((one) => enums?.has(typeof one))) return values
  lose(walk, path, `that it is one of ${values.length} values`)
  return undefined
}

function recordOf(walk: Walk, value: unknown, place: Place): JsonObject {
  const { names, fields } = walk.rules
  const kept: JsonObject = {}
  for (const [name, one] of isObject(value) ? Object.entries(value) : []) {
    const path = `${place.path}/${escaped(name)}`
    if (names && place.path.endsWith('/properties') && !names.test(name))
      narrow(walk, path, 'the field: its name is not one that the provider takes')
    else if (++walk.fields > fields) narrow(walk, path, `the field: there are more than ${fields}`)
    else kept[name] = project(walk, one, { ...place, path })
  }
  return kept
}

function objectOf(walk: Walk, node: JsonObject, place: Place): JsonObject {
  const { rules } = walk
  const kept = keywordsOf(walk, node, place)
  const properties = isObject(kept.properties) ? kept.properties : {}
  const names = Object.keys(properties)
  const required = (Array.isArray(node.required) ? node.required : []).filter((name) => names.includes(String(name)))
  if (!rules.closed) return names.length > 0 || place.depth === 0 ? withRequired(kept, required, properties) : kept
  const isFree = names.length === 0 && node.additionalProperties !== false
  if (isFree || isObject(node.patternProperties) || isOpenSchema(node.additionalProperties))
    narrow(walk, place.path, 'fields whose names are not known before')
  return {
    ...kept,
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

function withRequired(kept: JsonObject, required: readonly unknown[], properties: JsonObject): JsonObject {
  const { required: _, ...rest } = kept
  return { ...rest, properties, ...(required.length > 0 ? { required } : {}) }
}

const anyValue = (rules: SchemaRules): JsonObject => (rules.untyped ? {} : untyped(rules, {}))
const escaped = (word: string) => word.replaceAll('~', '~0').replaceAll('/', '~1')
const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
