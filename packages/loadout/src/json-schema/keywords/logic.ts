/** allOf, anyOf, oneOf, not, if/then/else, references, and the unevaluated* keywords: schemas about the same value. */
import { STEP } from '../budget.ts'
import { Seen } from '../evaluated.ts'
import { type JsonObject, keysOf } from '../json-value.ts'
import { expectation, literal, once, tellAlternatives } from '../messages.ts'
import {
  ALWAYS,
  and,
  type Check,
  INVALID,
  NEVER,
  type Problem,
  type Run,
  UNKNOWN,
  VALID,
  type Verdict,
} from '../run.ts'
import type { SchemaCompiler } from '../schema-compiler.ts'

const REFERENCES = ['$ref', '$dynamicRef', '$recursiveRef']

/** `$dynamicRef` is read as `$ref` where both lead to the same schema, and is not followed where they may not. */
export function references(spot: SchemaCompiler): void {
  for (const keyword of REFERENCES) {
    const reference = spot.text(keyword)
    if (reference === undefined) continue
    const check = spot.compilation.follow(reference, spot.resource, keyword === '$dynamicRef')
    if (check) {
      spot.onAny(check)
      continue
    }
    const place = literal(reference)
    spot.compilation.note(
      spot.place(keyword),
      `the reference ${place} is not followed: it leads out of the schema, or to more than one place`,
    )
    spot.onAny((_value, run) => {
      if (run.seen) run.seen.unsure = true
      return run.unsure(`the schema refers to ${place}, which is not followed`)
    })
  }
}

export function allOf(spot: SchemaCompiler): void {
  for (const check of spot.checks('allOf') ?? []) if (check !== ALWAYS) spot.onAny(check)
}

export function anyOf(spot: SchemaCompiler): void {
  const checks = alternatives(spot, 'anyOf')
  if (!checks) return
  spot.onAny((value, run) => {
    const branches: Problem[][] = []
    let best: Verdict = INVALID
    for (const check of checks) {
      const verdict = branch(check, value, { run, branches })
      if (verdict === VALID && !run.seen) return VALID
      if (verdict === VALID || best === INVALID) best = verdict
    }
    if (best === INVALID && run.problems) tellAlternatives(branches, run)
    return best
  })
}

export function oneOf(spot: SchemaCompiler): void {
  const checks = alternatives(spot, 'oneOf')
  if (!checks) return
  spot.onAny((value, run) => {
    const branches: Problem[][] = []
    const matching: number[] = []
    let unknown = false
    for (const [i, check] of checks.entries()) {
      const verdict = branch(check, value, { run, branches })
      if (verdict === UNKNOWN) unknown = true
      if (verdict === VALID && matching.push(i + 1) > 1) {
        const forms = matching.join(' and ')
        return run.fail(
          () => `must match exactly one of its ${checks.length} allowed forms, but matches number ${forms}`,
        )
      }
    }
    if (unknown) return UNKNOWN
    if (matching.length === 0 && run.problems) tellAlternatives(branches, run)
    return matching.length === 1 ? VALID : INVALID
  })
}

function alternatives(spot: SchemaCompiler, keyword: string): Check[] | undefined {
  const checks = spot.checks(keyword)
  return checks?.length === 0 ? spot.wrong(keyword, 'must not be empty: nothing would match') : checks
}

/** One alternative, its problems kept apart until it is known whether they matter. */
function branch(check: Check, value: unknown, { run, branches }: { run: Run; branches: Problem[][] }): Verdict {
  if (!run.problems) return attempt(check, value, run)
  const problems: Problem[] = []
  const verdict = run.reporting(problems, () => attempt(check, value, run))
  if (verdict === INVALID) branches.push(problems)
  return verdict
}

/** Try a schema at the present place whose failure is no failure of ours: what it saw counts only if it holds. */
function attempt(check: Check, value: unknown, run: Run): Verdict {
  const outer = run.seen
  if (!outer) return check(value, run)
  const inner = new Seen()
  run.seen = inner
  const verdict = check(value, run)
  run.seen = outer
  if (verdict === UNKNOWN) outer.unsure = true
  else if (verdict !== INVALID) outer.add(inner, run)
  return verdict
}

export function not(spot: SchemaCompiler): void {
  const schema = spot.get('not')
  const check = spot.check('not')
  if (!check) return
  const unwanted = once(() => expectation(schema))
  spot.onAny((value, run) => {
    const verdict = silently(check, value, run)
    if (verdict === VALID)
      return run.fail(() => (unwanted() ? `must not be ${unwanted()}` : 'must not match the schema under "not"'))
    return verdict === INVALID ? VALID : UNKNOWN
  })
}

/** Only the verdict: neither problems nor what was evaluated. */
function silently(check: Check, value: unknown, run: Run): Verdict {
  const { seen } = run
  run.seen = undefined
  const verdict = run.reporting(undefined, () => check(value, run))
  run.seen = seen
  return verdict
}

export function conditional(spot: SchemaCompiler): void {
  const test = spot.check('if')
  const whenTrue = spot.check('then') ?? ALWAYS
  const whenFalse = spot.check('else') ?? ALWAYS
  if (!test) return
  spot.onAny((value, run) => {
    const verdict = run.reporting(undefined, () => attempt(test, value, run))
    if (verdict === VALID) return whenTrue(value, run)
    if (verdict === INVALID) return whenFalse(value, run)
    const [yes, no] = [silently(whenTrue, value, run), silently(whenFalse, value, run)]
    if (yes === INVALID && no === INVALID) return run.fail(() => 'matches neither "then" nor "else" of its condition')
    return yes === VALID && no === VALID ? VALID : UNKNOWN
  })
}

export function unevaluated(spot: SchemaCompiler): void {
  const properties = spot.check('unevaluatedProperties')
  if (properties) spot.last.push((value, run) => restOfObject(properties, value, run))
  const items = spot.check('unevaluatedItems')
  if (items) spot.last.push((value, run) => restOfArray(items, value, run))
}

function restOfObject(check: Check, value: unknown, run: Run): Verdict {
  const { seen } = run
  if (!seen || typeof value !== 'object' || value === null || Array.isArray(value)) return VALID
  let verdict: Verdict = VALID
  for (const key of keysOf(value, run)) {
    if (seen.hasProperty(key) || (value as JsonObject)[key] === undefined) continue
    run.spend(STEP)
    verdict = and(
      verdict,
      unless(seen.unsure, () => restOf(check, { part: (value as JsonObject)[key], key }, run), run),
    )
    if (verdict === INVALID && !run.wantsMore) return INVALID
  }
  seen.allProperties = true
  return verdict
}

function restOfArray(check: Check, value: unknown, run: Run): Verdict {
  const { seen } = run
  if (!seen || !Array.isArray(value)) return VALID
  let verdict: Verdict = VALID
  for (let i = 0; i < value.length; i++) {
    run.spend(1)
    if (seen.hasItem(i)) continue
    verdict = and(
      verdict,
      unless(seen.unsure, () => restOf(check, { part: value[i], key: i }, run), run),
    )
    if (verdict === INVALID && !run.wantsMore) return INVALID
  }
  seen.allItems = true
  return verdict
}

function restOf(check: Check, { part, key }: { part: unknown; key: string | number }, run: Run): Verdict {
  if (check !== NEVER) return run.descend(check, part, key)
  return run.fail(() => (typeof key === 'string' ? 'is not a known property here' : 'is an item too many'), key)
}

function unless(unsure: boolean, check: () => Verdict, run: Run): Verdict {
  if (!unsure) return check()
  return run.reporting(undefined, check) === VALID ? VALID : run.unsure('a part of the schema cannot be checked')
}

/** A schema with unevaluated* keywords: the others first, with a record of what they evaluated. */
export function withEvaluated(others: Check, last: readonly Check[]): Check {
  return (value, run) => {
    const outer = run.seen
    const mine = new Seen()
    run.seen = mine
    let verdict = others(value, run)
    for (const check of last) if (verdict !== INVALID) verdict = and(verdict, check(value, run))
    run.seen = outer
    if (outer && verdict !== INVALID) outer.add(mine, run)
    return verdict
  }
}
