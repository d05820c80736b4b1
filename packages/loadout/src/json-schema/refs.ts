/**
 * Resolves references inside one schema document; nothing is ever fetched. `$id` and anchors are indexed on first use,
 * and walks are iterative, so depth cannot overflow the stack.
 */
import { isObject } from '../util/is-object.ts'
import { type JsonObject, own } from './json-value.ts'
import { childPath, type SchemaPath } from './schema-path.ts'

/** A schema resource: the root, or a schema with `$id`. */
export interface Resource {
  uri: string
  root: unknown
  path: SchemaPath | undefined
}

export interface RefTarget {
  schema: unknown
  resource: Resource
  path: SchemaPath | undefined
}

interface Index {
  /** Resources by URI, and anchors by URI and name. */
  targets: Map<string, RefTarget>
  dynamicNames: Map<string, number>
}

/** Base URI of documents without one; it only has to be hierarchical. */
const NO_BASE = 'schema:///'

/** Resolution time grows with both URIs, and a schema may contain thousands of references. */
const MAX_URI = 1_000

const SINGLE = new Set([
  'not',
  'if',
  'then',
  'else',
  'items',
  'contains',
  'additionalProperties',
  'propertyNames',
  'unevaluatedProperties',
  'unevaluatedItems',
  'additionalItems',
])
const LISTS = new Set(['allOf', 'anyOf', 'oneOf', 'prefixItems', 'items'])
const MAPS = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas', 'dependencies'])

/** Resource of a schema: its own if it has an `$id`. */
function resourceOf(schema: JsonObject, path: SchemaPath | undefined, outer: Resource): Resource {
  const id = own(schema, '$id')
  if (typeof id !== 'string' || id.startsWith('#') || outer.root === schema) return outer
  const uri = absolute(id, outer.uri)
  return uri === undefined ? outer : { uri: withoutFragment(uri), root: schema, path }
}

export class References {
  readonly root: Resource
  private built: Index | undefined
  private readonly resources = new Map<object, Resource>()

  constructor(schema: unknown) {
    const whole: Resource = { uri: NO_BASE, root: undefined, path: undefined }
    this.root = { ...(isObject(schema) ? resourceOf(schema, undefined, whole) : whole), root: schema }
  }

  resolve(reference: string, from: Resource): RefTarget | undefined {
    if (reference === '#') return { schema: from.root, resource: from, path: from.path }
    if (reference.startsWith('#/')) return this.followPointer(reference.slice(1), from)
    const uri = absolute(reference, from.uri)
    if (uri === undefined) return undefined
    const { targets } = this.index
    const base = targets.get(withoutFragment(uri))
    const hash = uri.indexOf('#')
    const fragment = hash < 0 ? '' : uri.slice(hash + 1)
    if (!base || fragment === '') return base
    if (fragment.startsWith('/')) return this.followPointer(fragment, base.resource)
    return targets.get(`${base.resource.uri}#${fragment}`)
  }

  /** Whether a `$dynamicRef` may resolve differently from a `$ref`: several schemas have its name. */
  isOpen(reference: string): boolean {
    const name = reference.slice(reference.indexOf('#') + 1)
    return (this.index.dynamicNames.get(name) ?? 0) > 1
  }

  /** Resource of a nested schema. Cached, because many references may pass one `$id`. */
  resourceOf(schema: JsonObject, path: SchemaPath | undefined, outer: Resource): Resource {
    if (!Object.hasOwn(schema, '$id')) return outer
    const cached = this.resources.get(schema) ?? resourceOf(schema, path, outer)
    this.resources.set(schema, cached)
    return cached
  }

  private followPointer(pointer: string, from: Resource): RefTarget | undefined {
    let { root: schema, path } = from
    let resource = from
    for (const part of pointer.split('/').slice(1)) {
      const key = unescapePart(part)
      if (key === undefined || typeof schema !== 'object' || schema === null || !Object.hasOwn(schema, key))
        return undefined
      schema = (schema as JsonObject)[key]
      path = childPath(path, key)
      if (isObject(schema)) resource = this.resourceOf(schema, path, resource)
    }
    return { schema, resource, path }
  }

  private get index(): Index {
    this.built ??= this.buildIndex()
    return this.built
  }

  private buildIndex(): Index {
    const { root } = this
    const targets = new Map<string, RefTarget>()
    const dynamicNames = new Map<string, number>()
    const open: RefTarget[] = [{ schema: root.root, resource: root, path: undefined }]
    for (let at = open.pop(); at; at = open.pop()) {
      const { schema, path } = at
      if (!isObject(schema)) continue
      const resource = at.path ? this.resourceOf(schema, path, at.resource) : at.resource
      const target = { schema, resource, path }
      if (resource.root === schema) addTarget(targets, resource.uri, target)
      for (const anchor of [own(schema, '$anchor'), own(schema, '$dynamicAnchor'), draft7Anchor(schema)])
        if (typeof anchor === 'string') addTarget(targets, `${resource.uri}#${anchor}`, target)
      const dynamic = own(schema, '$dynamicAnchor')
      if (typeof dynamic === 'string') dynamicNames.set(dynamic, (dynamicNames.get(dynamic) ?? 0) + 1)
      for (const child of subschemas(target)) open.push(child)
    }
    return { targets, dynamicNames }
  }
}

function unescapePart(part: string): string | undefined {
  if (!/[~%]/.test(part)) return part
  try {
    return decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~')
  } catch {
    return undefined
  }
}

/** The first target of a name wins; the order is deterministic. */
function addTarget(targets: Map<string, RefTarget>, uri: string, target: RefTarget): void {
  if (!targets.has(uri)) targets.set(uri, target)
}

function draft7Anchor(schema: JsonObject): string | undefined {
  const id = own(schema, '$id')
  return typeof id === 'string' && id.startsWith('#') ? id.slice(1) : undefined
}

function* subschemas({ schema, resource, path }: RefTarget): Generator<RefTarget> {
  for (const [keyword, value] of Object.entries(schema as JsonObject)) {
    const keywordPath = childPath(path, keyword)
    if (SINGLE.has(keyword) && isObject(value)) yield { schema: value, resource, path: keywordPath }
    const isMap = MAPS.has(keyword) && isObject(value)
    const isList = LISTS.has(keyword) && Array.isArray(value)
    if (!isMap && !isList) continue
    for (const [key, part] of Object.entries(value)) yield { schema: part, resource, path: childPath(keywordPath, key) }
  }
}

function absolute(reference: string, base: string): string | undefined {
  if (reference.length + base.length > MAX_URI) return undefined
  return URL.parse(reference, base)?.href
}

function withoutFragment(uri: string): string {
  const hash = uri.indexOf('#')
  return hash < 0 ? uri : uri.slice(0, hash)
}
