/**
 * Compiles a schema to closures, each schema object once. Recursion follows the nesting up to `maxDepth`; references go
 * into a queue, so a long chain of them does not recurse.
 */
import type { FieldError } from '../errors.ts'
import { isObject } from '../util/is-object.ts'
import { BudgetExceeded, type WorkMeter } from './budget.ts'
import { type JsonObject, kindOf, OTHER_KIND, own } from './json-value.ts'
import { contains, itemCounts, items } from './keywords/array.ts'
import { allOf, anyOf, conditional, not, oneOf, references, unevaluated, withEvaluated } from './keywords/logic.ts'
import { dependencies, properties, propertyCounts, propertyNames, required } from './keywords/object.ts'
import { constant, numbers, options, strings, type, typeOnly } from './keywords/value.ts'
import { References, type RefTarget, type Resource } from './refs.ts'
import { compilePattern, type Pattern } from './regex/match.ts'
import { ALWAYS, type Check, INVALID, NEVER_VALID, UNKNOWN_VERDICT, VALID, type ValidationVerdict } from './run.ts'
import { type Compilation, SchemaCompiler, type SubschemaLocation } from './schema-compiler.ts'
import { formatPath, type SchemaPath } from './schema-path.ts'

export interface CompileLimits {
  maxDepth: number
  maxNodes: number
  maxErrors: number
  assertFormats: boolean
}

/** Total size of all patterns in one schema, and their maximum number. */
const MAX_PATTERN_SIZE = 30_000
const MAX_PATTERNS = 500

/** Keyword groups in evaluation order: cheap checks with clear messages run first. */
const GROUPS: readonly (readonly [(compiler: SchemaCompiler) => void, readonly string[]])[] = [
  [type, ['type']],
  [options, ['enum']],
  [constant, ['const']],
  [numbers, ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf']],
  [strings, ['minLength', 'maxLength', 'pattern', 'format']],
  [required, ['required']],
  [propertyCounts, ['minProperties', 'maxProperties']],
  [itemCounts, ['minItems', 'maxItems', 'uniqueItems']],
  [properties, ['properties', 'patternProperties', 'additionalProperties']],
  [propertyNames, ['propertyNames']],
  [dependencies, ['dependentRequired', 'dependentSchemas', 'dependencies']],
  [items, ['items', 'prefixItems', 'additionalItems']],
  [contains, ['contains', 'minContains', 'maxContains']],
  [references, ['$ref', '$dynamicRef', '$recursiveRef']],
  [allOf, ['allOf']],
  [anyOf, ['anyOf']],
  [oneOf, ['oneOf']],
  [not, ['not']],
  [conditional, ['if', 'then', 'else']],
  [unevaluated, ['unevaluatedProperties', 'unevaluatedItems']],
]

const GROUP_OF: ReadonlyMap<string, number> = new Map(
  GROUPS.flatMap(([, keywords], group) => keywords.map((keyword) => [keyword, group] as const)),
)

const TYPE_GROUP = 1

/** Check of a schema object, set once it is compiled. */
interface Node {
  check?: Check
}

export class SchemaCompilation implements Compilation {
  readonly errors: FieldError[] = []
  readonly notes: FieldError[] = []
  readonly meter: WorkMeter
  readonly limits: CompileLimits
  private readonly references: References
  private readonly nodes = new Map<object, Node>()
  private readonly queue: { node: Node; target: RefTarget }[] = []
  private readonly patterns = new Map<string, Pattern | { unsupported: string }>()
  private patternSize = 0

  constructor(schema: unknown, limits: CompileLimits) {
    this.limits = limits
    this.references = new References(schema)
    // The schema size is bounded before this point, so literals need only a depth limit.
    this.meter = { maxDepth: limits.maxDepth, spend: () => undefined }
  }

  /** Compiles the whole schema. The check is valid only if `errors` stays empty. */
  run(): Check {
    const { root } = this.references
    const check = this.compile(root.root, { path: undefined, resource: root, depth: 0 })
    for (let next = this.queue.pop(); next; next = this.queue.pop()) {
      const { path, resource, schema } = next.target
      next.node.check ??= this.compile(schema, { path, resource, depth: 0 })
    }
    return check
  }

  compile(schema: unknown, at: SubschemaLocation): Check {
    if (schema === true) return ALWAYS
    if (schema === false) return NEVER_VALID
    if (!isObject(schema)) return this.reject(at.path, 'must be a schema: an object, true or false')
    const node = this.nodeOf(schema)
    if (node.check) return node.check
    if (this.nodes.size > this.limits.maxNodes)
      throw new BudgetExceeded(`it has more than ${this.limits.maxNodes} schemas inside it`)
    if (at.depth > this.limits.maxDepth)
      return this.reject(at.path, `is nested deeper than ${this.limits.maxDepth} schemas`)
    const resource = this.references.resourceOf(schema, at.path, at.resource)
    node.check = this.compileObject(schema, resource === at.resource ? at : { ...at, resource })
    return node.check
  }

  follow(reference: string, from: Resource, dynamic: boolean): Check | undefined {
    if (dynamic && this.references.isOpen(reference)) return undefined
    const target = this.references.resolve(reference, from)
    if (target?.schema === true) return ALWAYS
    if (target?.schema === false) return NEVER_VALID
    if (!target || !isObject(target.schema)) return undefined
    const node = this.nodeOf(target.schema)
    if (node.check) return node.check
    this.queue.push({ node, target })
    return (value, run) => (node.check as Check)(value, run)
  }

  pattern(source: string): Pattern | { unsupported: string } {
    const cached = this.patterns.get(source)
    if (cached) return cached
    if (this.patterns.size >= MAX_PATTERNS) return { unsupported: `the schema has more than ${MAX_PATTERNS} patterns` }
    const pattern = compilePattern(source, MAX_PATTERN_SIZE - this.patternSize)
    if (!('unsupported' in pattern)) this.patternSize += pattern.size
    this.patterns.set(source, pattern)
    return pattern
  }

  error(path: SchemaPath | undefined, message: string): void {
    if (this.errors.length < this.limits.maxErrors) this.errors.push({ path: formatPath(path), message })
  }

  note(path: SchemaPath | undefined, message: string): void {
    if (this.notes.length < this.limits.maxErrors) this.notes.push({ path: formatPath(path), message })
  }

  private compileObject(schema: JsonObject, at: SubschemaLocation): Check {
    let groups = 0
    for (const keyword of Object.keys(schema)) {
      const group = GROUP_OF.get(keyword)
      if (group !== undefined) groups |= 1 << group
    }
    if (groups === 0) return ALWAYS
    const simple = groups === TYPE_GROUP ? typeOnly(own(schema, 'type')) : undefined
    if (simple) return simple
    const compiler = new SchemaCompiler(schema, at, this)
    for (let group = 0; group < GROUPS.length; group++) if (groups & (1 << group)) GROUPS[group]?.[0](compiler)
    return compiler.isEmpty ? ALWAYS : assemble(compiler)
  }

  private nodeOf(schema: object): Node {
    const existing = this.nodes.get(schema)
    if (existing) return existing
    const node = {}
    this.nodes.set(schema, node)
    return node
  }

  private reject(path: SchemaPath | undefined, message: string): Check {
    this.error(path, message)
    return NEVER_VALID
  }
}

const NOT_JSON: readonly Check[] = [(_value, run) => run.fail(() => 'must be a JSON value')]

function assemble(compiler: SchemaCompiler): Check {
  const { last } = compiler
  const byKind = compiler.lists()
  byKind[OTHER_KIND] = NOT_JSON
  const others: Check = (value, run) => {
    const checks = byKind[kindOf(value)] as readonly Check[]
    run.enter(checks.length + 1)
    let verdict: ValidationVerdict = VALID
    for (let i = 0; i < checks.length; i++) {
      const result = (checks[i] as Check)(value, run)
      if (result === VALID) continue
      if (result === INVALID) verdict = INVALID
      else if (verdict === VALID) verdict = UNKNOWN_VERDICT
      if (verdict === INVALID && !run.wantsMore) break
    }
    run.leave()
    return verdict
  }
  return last.length === 0 ? others : withEvaluated(others, last)
}
