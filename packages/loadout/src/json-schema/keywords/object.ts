/**
 * Object keywords: properties, patternProperties, additionalProperties, required, dependent*, propertyNames and counts.
 */

import { isObject } from '../../util/is-object.ts'
import { STEP } from '../budget.ts'
import { type JsonObject, keysOf, OBJECT, own } from '../json-value.ts'
import { count, expectation, listed, literal, nearest } from '../messages.ts'
import type { Pattern } from '../regex/match.ts'
import {
  ALWAYS,
  and,
  type Check,
  INVALID,
  NEVER_VALID,
  type SchemaProblem,
  VALID,
  type ValidationRun,
  type ValidationVerdict,
} from '../run.ts'
import type { SchemaCompiler } from '../schema-compiler.ts'

/** Above this many properties it is cheaper to iterate over the keys of the value. */
const MANY_NAMES = 24

interface Properties {
  byName: ReadonlyMap<string, Check>
  patterns: readonly PatternRule[]
  rest: Check | undefined
}

interface PatternRule {
  pattern: Pattern | { unsupported: string }
  check: Check
}

export function properties(compiler: SchemaCompiler): void {
  const byName = new Map(
    compiler.entries('properties').map(([key, schema]) => [key, compiler.compile(schema, 'properties', key)]),
  )
  const patterns = compiler.entries('patternProperties').map(([source, schema]) => ({
    pattern: compiler.pattern(source, 'patternProperties', source),
    check: compiler.compile(schema, 'patternProperties', source),
  }))
  const rest = compiler.check('additionalProperties')
  const narrow = patterns.length === 0 && (rest === undefined || rest === ALWAYS) && byName.size <= MANY_NAMES
  compiler.on(OBJECT, narrow ? byNames({ byName, rest }) : byKeys({ byName, patterns, rest }))
}

function byNames({ byName, rest }: { byName: ReadonlyMap<string, Check>; rest: Check | undefined }): Check {
  const names = [...byName.keys()]
  const checks = [...byName.values()]
  return (value, run) => {
    let verdict: ValidationVerdict = VALID
    run.spend(names.length)
    for (let i = 0; i < names.length; i++) {
      const name = names[i] as string
      const part = own(value as object, name)
      if (part === undefined) continue
      run.evaluated?.property(name, run)
      verdict = and(verdict, run.descend(checks[i] as Check, part, name))
      if (verdict === INVALID && !run.wantsMore) return INVALID
    }
    if (run.evaluated && rest) run.evaluated.allProperties = true
    return verdict
  }
}

function byKeys(rules: Properties): Check {
  const names = [...rules.byName.keys()]
  return (value, run) => {
    const object = value as JsonObject
    let verdict: ValidationVerdict = VALID
    for (const key of keysOf(object, run)) {
      if (object[key] === undefined) continue
      verdict = and(verdict, checkKey({ object, key, names, rules }, run))
      if (verdict === INVALID && !run.wantsMore) return INVALID
    }
    return verdict
  }
}

interface KeyToCheck {
  object: JsonObject
  key: string
  names: readonly string[]
  rules: Properties
}

function checkKey({ object, key, names, rules }: KeyToCheck, run: ValidationRun): ValidationVerdict {
  const part = object[key]
  const named = rules.byName.get(key)
  let verdict = named ? run.descend(named, part, key) : VALID
  let matched = named !== undefined
  let unknownReason: string | undefined
  for (const { pattern, check } of rules.patterns) {
    run.spend(STEP)
    if ('unsupported' in pattern) {
      unknownReason = `a pattern of the schema cannot be checked: ${pattern.unsupported}`
      verdict = and(
        verdict,
        perhaps(() => run.descend(check, part, key), unknownReason, run),
      )
    } else if (pattern.test(key, run)) {
      matched = true
      verdict = and(verdict, run.descend(check, part, key))
    }
  }
  if (run.evaluated && (matched || rules.rest)) run.evaluated.property(key, run)
  else if (run.evaluated && unknownReason) run.evaluated.incomplete = true
  const { rest } = rules
  if (matched || !rest) return verdict
  const additional = () =>
    rest === NEVER_VALID ? unknownKey(key, { object, names }, run) : run.descend(rest, part, key)
  return and(verdict, unknownReason ? perhaps(additional, unknownReason, run) : additional())
}

/** A rule that may not apply: it can be valid for certain, but not invalid for certain. */
function perhaps(check: () => ValidationVerdict, unknownReason: string, run: ValidationRun): ValidationVerdict {
  return run.reporting(undefined, check) === VALID ? VALID : run.undecided(unknownReason)
}

function unknownKey(
  key: string,
  { object, names }: { object: JsonObject; names: readonly string[] },
  run: ValidationRun,
): ValidationVerdict {
  return run.fail(() => {
    run.spend(names.length)
    const free = names.filter((name) => own(object, name) === undefined)
    const near = nearest(key, free, run)
    if (near !== undefined) return `is not a known property; did you mean ${literal(near)}?`
    return names.length === 0 ? 'is not a known property' : `is not a known property; known are ${listed(names)}`
  }, key)
}

export function required(compiler: SchemaCompiler): void {
  const names = readNames(compiler, compiler.get('required'), 'required')
  const expected = expectations(compiler)
  if (names.length === 0) return
  compiler.on(OBJECT, (value, run) => requireAll(names, value as JsonObject, { run, expected }))
}

interface Requirement {
  run: ValidationRun
  /** Expected value of a property, from the schemas beside the requirement. */
  expected: (name: string) => string | undefined
  because?: string
}

function requireAll(
  names: readonly string[],
  object: JsonObject,
  { run, expected, because }: Requirement,
): ValidationVerdict {
  let verdict: ValidationVerdict = VALID
  run.spend(names.length)
  for (const name of names) {
    if (own(object, name) !== undefined) continue
    verdict = run.fail(() => {
      const needed = because === undefined ? 'is required' : `is required when ${literal(because)} is given`
      const expectedText = expected(name)
      return expectedText === undefined ? needed : `${needed}: ${expectedText}`
    }, name)
    if (!run.wantsMore) return INVALID
  }
  return verdict
}

function expectations(compiler: SchemaCompiler): (name: string) => string | undefined {
  const properties = compiler.get('properties')
  const cache = new Map<string, string | undefined>()
  return (name) => {
    if (!cache.has(name)) cache.set(name, expectation(isObject(properties) ? own(properties, name) : undefined))
    return cache.get(name)
  }
}

function readNames(compiler: SchemaCompiler, value: unknown, keyword: string): string[] {
  if (Array.isArray(value) && value.every((name) => typeof name === 'string')) return value
  compiler.wrong(keyword, 'must be an array of property names')
  return []
}

export function dependencies(compiler: SchemaCompiler): void {
  for (const [name, names] of compiler.entries('dependentRequired'))
    requireWith(compiler, name, readNames(compiler, names, 'dependentRequired'))
  for (const [name, schema] of compiler.entries('dependentSchemas'))
    checkWith(compiler, name, compiler.compile(schema, 'dependentSchemas', name))
  // Draft 7 has both in one keyword.
  for (const [name, either] of compiler.entries('dependencies')) {
    if (Array.isArray(either)) requireWith(compiler, name, readNames(compiler, either, 'dependencies'))
    else checkWith(compiler, name, compiler.compile(either, 'dependencies', name))
  }
}

function requireWith(compiler: SchemaCompiler, name: string, names: readonly string[]): void {
  const expected = expectations(compiler)
  compiler.on(OBJECT, (value, run) =>
    own(value as object, name) === undefined
      ? VALID
      : requireAll(names, value as JsonObject, { run, expected, because: name }),
  )
}

function checkWith(compiler: SchemaCompiler, name: string, check: Check): void {
  compiler.on(OBJECT, (value, run) => (own(value as object, name) === undefined ? VALID : check(value, run)))
}

export function propertyNames(compiler: SchemaCompiler): void {
  const check = compiler.check('propertyNames')
  if (!check || check === ALWAYS) return
  compiler.on(OBJECT, (value, run) => {
    let verdict: ValidationVerdict = VALID
    for (const key of keysOf(value as object, run)) {
      const problems: SchemaProblem[] | undefined = run.problems && []
      verdict = and(
        verdict,
        run.reporting(problems, () => run.descend(check, key, key)),
      )
      for (const { message } of problems ?? []) run.fail(() => `has a name that ${message}`, key)
      if (verdict === INVALID && !run.wantsMore) return INVALID
    }
    return verdict
  })
}

export function propertyCounts(compiler: SchemaCompiler): void {
  const min = compiler.count('minProperties')
  const max = compiler.count('maxProperties')
  if (min === undefined && max === undefined) return
  compiler.on(OBJECT, (value, run) => {
    const object = value as JsonObject
    const size = keysOf(object, run).filter((key) => object[key] !== undefined).length
    if (min !== undefined && size < min) return run.fail(() => `must have at least ${count(min, 'property')}`)
    if (max !== undefined && size > max) return run.fail(() => `must have at most ${count(max, 'property')}`)
    return VALID
  })
}
