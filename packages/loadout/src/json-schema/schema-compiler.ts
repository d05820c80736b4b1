/**
 * One schema object during compilation: keywords read their values and register checks by kind of value. A known
 * keyword with an invalid value is an error at its path; the reader gets undefined and continues.
 */

import { isObject } from '../util/is-object.ts'
import type { WorkMeter } from './budget.ts'
import { type JsonObject, KINDS, type Kind, own } from './json-value.ts'
import type { Resource } from './refs.ts'
import type { Pattern } from './regex/match.ts'
import type { Check } from './run.ts'
import { childPath, type SchemaPath } from './schema-path.ts'

/** Part of the compilation that a `SchemaCompiler` needs. */
export interface Compilation {
  readonly meter: WorkMeter
  readonly limits: { assertFormats: boolean }
  compile(schema: unknown, at: SubschemaLocation): Check
  /** Check behind a reference, which may be compiled later; undefined if the target is unknown. */
  follow(reference: string, from: Resource, dynamic: boolean): Check | undefined
  pattern(source: string): Pattern | { unsupported: string }
  error(path: SchemaPath, message: string): void
  note(path: SchemaPath, message: string): void
}

export interface SubschemaLocation {
  path: SchemaPath | undefined
  resource: Resource
  depth: number
}

const NONE: readonly Check[] = []

export class SchemaCompiler {
  readonly schema: JsonObject
  readonly resource: Resource
  readonly compilation: Compilation
  /** Checks per kind of value, in registration order. */
  private readonly byKind: (readonly Check[])[] = Array(KINDS).fill(NONE)
  private readonly common: Check[] = []
  /** Checks that run after all others. */
  readonly last: Check[] = []
  /** Refused kinds, as a bit mask. */
  private closed = 0
  private readonly at: SubschemaLocation

  constructor(schema: JsonObject, at: SubschemaLocation, compilation: Compilation) {
    this.schema = schema
    this.at = at
    this.resource = at.resource
    this.compilation = compilation
  }

  on(kind: Kind, check: Check): void {
    if (this.closed & (1 << kind)) return
    const checks = this.byKind[kind] as Check[]
    if (checks.length === 0) this.byKind[kind] = [check]
    else checks.push(check)
  }

  /** Registers a check for values of every kind; it runs after those of the kind. */
  onAny(check: Check): void {
    this.common.push(check)
  }

  /** All checks per kind. Lists are shared where possible, because a schema may contain thousands. */
  lists(): (readonly Check[])[] {
    const { common } = this
    if (common.length === 0) return this.byKind
    return this.byKind.map((checks, kind) => {
      if (this.closed & (1 << kind)) return checks
      return checks.length === 0 ? common : [...checks, ...common]
    })
  }

  /** Values of this kind fail with this check only, without further messages. */
  refuse(kind: Kind, checks: readonly [Check]): void {
    this.byKind[kind] = checks
    this.closed |= 1 << kind
  }

  get isEmpty(): boolean {
    return this.last.length + this.common.length === 0 && this.byKind.every((checks) => checks.length === 0)
  }

  has(keyword: string): boolean {
    return Object.hasOwn(this.schema, keyword)
  }

  get(keyword: string): unknown {
    return own(this.schema, keyword)
  }

  pathTo(...keys: (string | number)[]): SchemaPath {
    let path = this.at.path
    for (const key of keys) path = childPath(path, key)
    return path as SchemaPath
  }

  wrong(keyword: string, message: string): undefined {
    this.compilation.error(this.pathTo(keyword), message)
  }

  count(keyword: string): number | undefined {
    if (!this.has(keyword)) return undefined
    const value = this.get(keyword)
    if (typeof value === 'number' && Number.isInteger(value) && value >= 0) return value
    return this.wrong(keyword, 'must be a whole number that is not negative')
  }

  number(keyword: string): number | undefined {
    if (!this.has(keyword)) return undefined
    const value = this.get(keyword)
    return typeof value === 'number' && Number.isFinite(value) ? value : this.wrong(keyword, 'must be a number')
  }

  text(keyword: string): string | undefined {
    if (!this.has(keyword)) return undefined
    const value = this.get(keyword)
    return typeof value === 'string' ? value : this.wrong(keyword, 'must be a string')
  }

  list(keyword: string): unknown[] | undefined {
    if (!this.has(keyword)) return undefined
    const value = this.get(keyword)
    return Array.isArray(value) ? value : this.wrong(keyword, 'must be an array')
  }

  /** Entries of a keyword that maps names to values; empty if the keyword is absent. */
  entries(keyword: string): [string, unknown][] {
    if (!this.has(keyword)) return []
    const value = this.get(keyword)
    if (isObject(value)) return Object.entries(value)
    this.wrong(keyword, 'must be an object')
    return []
  }

  compile(schema: unknown, ...keys: (string | number)[]): Check {
    return this.compilation.compile(schema, {
      path: this.pathTo(...keys),
      resource: this.at.resource,
      depth: this.at.depth + 1,
    })
  }

  check(keyword: string): Check | undefined {
    return this.has(keyword) ? this.compile(this.get(keyword), keyword) : undefined
  }

  checks(keyword: string): Check[] | undefined {
    return this.list(keyword)?.map((schema, i) => this.compile(schema, keyword, i))
  }

  pattern(source: string, ...keys: string[]): Pattern | { unsupported: string } {
    const pattern = this.compilation.pattern(source)
    if ('unsupported' in pattern)
      this.compilation.note(this.pathTo(...keys), `this pattern cannot be checked: ${pattern.unsupported}`)
    return pattern
  }
}
