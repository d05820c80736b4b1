/**
 * Keywords that apply schemas to the same value: allOf, anyOf, oneOf, not, if/then/else, references and unevaluated*.
 */
import { STEP } from '../budget.ts'
import { Evaluated } from '../evaluated.ts'
import { type JsonObject, keysOf } from '../json-value.ts'
import { expectation, literal, once, reportAlternatives } from '../messages.ts'
import {
  ALWAYS,
  and,
  type Check,
  INVALID,
  NEVER_VALID,
  type SchemaProblem,
  UNKNOWN_VERDICT,
  VALID,
  type ValidationRun,
  type ValidationVerdict,
} from '../run.ts'
import type { SchemaCompiler } from '../schema-compiler.ts'

const REFERENCES = ['$ref', '$dynamicRef', '$recursiveRef']

/** `$dynamicRef` is read as `$ref` when both resolve to the same schema, else it is not followed. */
export function references(compiler: SchemaCompiler): void {
  for (const keyword of REFERENCES) {
    const reference = compiler.text(keyword)
    if (reference === undefined) continue
    const check = compiler.compilation.follow(reference, compiler.resource, keyword === '$dynamicRef')
    if (check) {
      compiler.onAny(check)
      continue
    }
    const target = literal(reference)
    compiler.compilation.note(
      compiler.pathTo(keyword),
      `the reference ${target} is not followed: it leads out of the schema, or to more than one place`,
    )
    compiler.onAny((_value, run) => {
      if (run.evaluated) run.evaluated.incomplete = true
      return run.undecided(`the schema refers to ${target}, which is not followed`)
    })
  }
}

export function allOf(compiler: SchemaCompiler): void {
  for (const check of compiler.checks('allOf') ?? []) if (check !== ALWAYS) compiler.onAny(check)
}

export function anyOf(compiler: SchemaCompiler): void {
  const checks = alternatives(compiler, 'anyOf')
  if (!checks) return
  compiler.onAny((value, run) => {
    const branches: SchemaProblem[][] = []
    let best: ValidationVerdict = INVALID
    for (const check of checks) {
      const verdict = branch(check, value, { run, branches })
      if (verdict === VALID && !run.evaluated) return VALID
      if (verdict === VALID || best === INVALID) best = verdict
    }
    if (best === INVALID && run.problems) reportAlternatives(branches, run)
    return best
  })
}

export function oneOf(compiler: SchemaCompiler): void {
  const checks = alternatives(compiler, 'oneOf')
  if (!checks) return
  compiler.onAny((value, run) => {
    const branches: SchemaProblem[][] = []
    const matching: number[] = []
    let unknown = false
    for (const [i, check] of checks.entries()) {
      const verdict = branch(check, value, { run, branches })
      if (verdict === UNKNOWN_VERDICT) unknown = true
      if (verdict === VALID && matching.push(i + 1) > 1) {
        const forms = matching.join(' and ')
        return run.fail(
          () => `must match exactly one of its ${checks.length} allowed forms, but matches number ${forms}`,
        )
      }
    }
    if (unknown) return UNKNOWN_VERDICT
    if (matching.length === 0 && run.problems) reportAlternatives(branches, run)
    return matching.length === 1 ? VALID : INVALID
  })
}

function alternatives(compiler: SchemaCompiler, keyword: string): Check[] | undefined {
  const checks = compiler.checks(keyword)
  return checks?.length === 0 ? compiler.wrong(keyword, 'must not be empty: nothing would match') : checks
}

/** Checks one alternative and collects its problems separately until it is known whether they matter. */
function branch(
  check: Check,
  value: unknown,
  { run, branches }: { run: ValidationRun; branches: SchemaProblem[][] },
): ValidationVerdict {
  if (!run.problems) return attempt(check, value, run)
  const problems: SchemaProblem[] = []
  const verdict = run.reporting(problems, () => attempt(check, value, run))
  if (verdict === INVALID) branches.push(problems)
  return verdict
}

/** Tries a schema whose failure is not a failure of the value. Its evaluated properties count only if it matches. */
function attempt(check: Check, value: unknown, run: ValidationRun): ValidationVerdict {
  const outer = run.evaluated
  if (!outer) return check(value, run)
  const inner = new Evaluated()
  run.evaluated = inner
  const verdict = check(value, run)
  run.evaluated = outer
  if (verdict === UNKNOWN_VERDICT) outer.incomplete = true
  else if (verdict !== INVALID) outer.add(inner, run)
  return verdict
}

export function not(compiler: SchemaCompiler): void {
  const schema = compiler.get('not')
  const check = compiler.check('not')
  if (!check) return
  const unwanted = once(() => expectation(schema))
  compiler.onAny((value, run) => {
    const verdict = silently(check, value, run)
    if (verdict === VALID)
      return run.fail(() => (unwanted() ? `must not be ${unwanted()}` : 'must not match the schema under "not"'))
    return verdict === INVALID ? VALID : UNKNOWN_VERDICT
  })
}

/** Verdict only, without problems and evaluated properties. */
function silently(check: Check, value: unknown, run: ValidationRun): ValidationVerdict {
  const { evaluated } = run
  run.evaluated = undefined
  const verdict = run.reporting(undefined, () => check(value, run))
  run.evaluated = evaluated
  return verdict
}

export function conditional(compiler: SchemaCompiler): void {
  const test = compiler.check('if')
  const whenTrue = compiler.check('then') ?? ALWAYS
  const whenFalse = compiler.check('else') ?? ALWAYS
  if (!test) return
  compiler.onAny((value, run) => {
    const verdict = run.reporting(undefined, () => attempt(test, value, run))
    if (verdict === VALID) return whenTrue(value, run)
    if (verdict === INVALID) return whenFalse(value, run)
    const yes = silently(whenTrue, value, run)
    const no = silently(whenFalse, value, run)
    if (yes === INVALID && no === INVALID) return run.fail(() => 'matches neither "then" nor "else" of its condition')
    return yes === VALID && no === VALID ? VALID : UNKNOWN_VERDICT
  })
}

export function unevaluated(compiler: SchemaCompiler): void {
  const properties = compiler.check('unevaluatedProperties')
  if (properties) compiler.last.push((value, run) => restOfObject(properties, value, run))
  const items = compiler.check('unevaluatedItems')
  if (items) compiler.last.push((value, run) => restOfArray(items, value, run))
}

function restOfObject(check: Check, value: unknown, run: ValidationRun): ValidationVerdict {
  const { evaluated } = run
  if (!evaluated || typeof value !== 'object' || value === null || Array.isArray(value)) return VALID
  let verdict: ValidationVerdict = VALID
  for (const key of keysOf(value, run)) {
    if (evaluated.hasProperty(key) || (value as JsonObject)[key] === undefined) continue
    run.spend(STEP)
    verdict = and(
      verdict,
      unless(evaluated.incomplete, () => restOf(check, { part: (value as JsonObject)[key], key }, run), run),
    )
    if (verdict === INVALID && !run.wantsMore) return INVALID
  }
  evaluated.allProperties = true
  return verdict
}

function restOfArray(check: Check, value: unknown, run: ValidationRun): ValidationVerdict {
  const { evaluated } = run
  if (!evaluated || !Array.isArray(value)) return VALID
  let verdict: ValidationVerdict = VALID
  for (let i = 0; i < value.length; i++) {
    run.spend(1)
    if (evaluated.hasItem(i)) continue
    verdict = and(
      verdict,
      unless(evaluated.incomplete, () => restOf(check, { part: value[i], key: i }, run), run),
    )
    if (verdict === INVALID && !run.wantsMore) return INVALID
  }
  evaluated.allItems = true
  return verdict
}

function restOf(
  check: Check,
  { part, key }: { part: unknown; key: string | number },
  run: ValidationRun,
): ValidationVerdict {
  if (check !== NEVER_VALID) return run.descend(check, part, key)
  return run.fail(() => (typeof key === 'string' ? 'is not a known property here' : 'is an item too many'), key)
}

function unless(isUndecided: boolean, check: () => ValidationVerdict, run: ValidationRun): ValidationVerdict {
  if (!isUndecided) return check()
  return run.reporting(undefined, check) === VALID ? VALID : run.undecided('a part of the schema cannot be checked')
}

/** Schema with unevaluated* keywords: runs the other keywords first and records what they evaluated. */
export function withEvaluated(others: Check, last: readonly Check[]): Check {
  return (value, run) => {
    const outer = run.evaluated
    const own = new Evaluated()
    run.evaluated = own
    let verdict = others(value, run)
    for (const check of last) if (verdict !== INVALID) verdict = and(verdict, check(value, run))
    run.evaluated = outer
    if (outer && verdict !== INVALID) outer.add(own, run)
    return verdict
  }
}
